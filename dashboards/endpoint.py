"""For whoever is on call for one endpoint: its alarms and what to do, its answers, what is being changed, its nodes."""

from collections.abc import Mapping, Sequence

from aws_cdk import aws_cloudwatch as cw

from dashboards import colors, endpoint_section, hosted, links, money, platform_health
from dashboards.alarms import AlarmGroup
from dashboards.widgets import (
    MINUTE,
    Row,
    Shape,
    alarm_status,
    balancer_series,
    graph,
    row,
    rows_of,
    text,
    watched,
)
from environments.fleets import InferenceFleet
from environments.model import Environment
from fleet import load_balancer
from fleet.alarms import AlarmSpec, Severity, Spec
from fleet.capacity.plan import LaunchPlan
from fleet.load_balancer import EndpointNames
from fleet.metrics import Unit


def dashboards(
    environment: Environment,
    plans: Mapping[str, LaunchPlan],
    specs: Mapping[str, tuple[Spec, ...]],
    endpoints: Mapping[str, EndpointNames],
    alarms: Mapping[str, AlarmGroup],
) -> dict[str, list[Row]]:
    """The rows of each endpoint's own dashboard, by fleet; none where ``monitoring`` does not ask for them."""
    if not environment.monitoring.endpoint_dashboards:
        return {}
    found = {
        fleet.name: [
            *_head(environment, fleet, endpoint_section.heading(fleet), alarms[fleet.name]),
            *_on_nodes(environment.name, fleet, plans[fleet.name], specs[fleet.name], endpoints[fleet.name]),
        ]
        for fleet in environment.inference_fleets
        if fleet.name in endpoints
    }
    return found | {
        fleet.name: [
            *_head(environment, fleet, hosted.heading(environment.region, fleet), alarms[fleet.name]),
            *_hosted(environment.name, fleet, specs[fleet.name]),
        ]
        for fleet in environment.hosted_fleets
    }


def _on_nodes(
    environment: str, fleet: InferenceFleet, plan: LaunchPlan, specs: Sequence[Spec], names: EndpointNames
) -> list[Row]:
    return [
        row(*endpoint_section.answers(names, specs)),
        row(_candidates_share(fleet, names), platform_health.changes(environment)),
        row(money.price_text([plan])),
        *endpoint_section.load_and_cores(environment, fleet, specs, names),
        *_what_alarms_see(specs),
    ]


def _hosted(environment: str, fleet: InferenceFleet, specs: Sequence[Spec]) -> list[Row]:
    return [
        row(*hosted.answers(environment, fleet, specs)),
        row(platform_health.changes(environment)),
        *_what_alarms_see(specs),
    ]


def _head(environment: Environment, fleet: InferenceFleet, heading: str, alarms: AlarmGroup) -> list[Row]:
    titles = {Severity.PAGE: "Alarms that page", Severity.TICKET: "Alarms that open a ticket"}
    return [
        *(row(alarm_status(titles[severity], of)) for severity in titles if (of := alarms.notifying(severity))),
        row(links.runbooks(environment.paging.runbooks_url, [alarms], height=2)),
        _about(environment.name, fleet.name, heading),
    ]


def _about(environment: str, fleet: str, heading: str) -> Row:
    ways = (
        links.to_dashboard("every endpoint", environment, "inference"),
        links.to_dashboard("the whole environment", environment, "operator"),
        f"which version serves: `fleet rollout status {environment} {fleet}`",
    )
    return row(text(f"{heading}\n\n{' · '.join(ways)}", height=3))


def _candidates_share(fleet: InferenceFleet, names: EndpointNames) -> Shape:
    """A rollout as requests see it: what the stable side does not answer, the candidate does."""
    both = cw.Metric(
        namespace=load_balancer.NAMESPACE,
        metric_name=load_balancer.REQUEST_COUNT,
        statistic="Sum",
        dimensions_map=dict(names.every_target),
        period=MINUTE,
    )
    share = cw.MathExpression(
        expression="100 * (both - FILL(stable, 0)) / both",
        using_metrics={
            "both": both,
            "stable": balancer_series(names, load_balancer.REQUEST_COUNT, "Sum", label="stable"),
        },
        label="the candidate",
        period=MINUTE,
    )
    steps = [
        cw.HorizontalAnnotation(value=percent, label=f"step {percent} %", color=colors.TARGET, fill=cw.Shading.NONE)
        for percent in fleet.endpoint.rollout.steps
    ]
    return graph("Requests that a rollout's candidate answers", Unit.PERCENT, [share], marks=steps)


def _what_alarms_see(specs: Sequence[Spec]) -> list[Row]:
    """Each alarm's own series or expression against its threshold, those that page first: none is left to guess."""
    alarms = sorted((spec for spec in specs if isinstance(spec, AlarmSpec)), key=lambda spec: spec.severity)
    shapes = [graph(spec.key, Unit.NONE, [watched(spec, label="seen")], alarms=[spec]) for spec in alarms]
    return [row(text("### What each alarm sees, and where it goes off", height=1)), *rows_of(4, shapes)]
