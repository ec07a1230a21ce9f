"""For the people who serve: every endpoint, as a section of its own, or in a line where it has its own dashboard."""

from collections.abc import Mapping, Sequence

from dashboards import endpoint_section, hosted, links, money, platform_health
from dashboards.widgets import GRAPH_HEIGHT, Row, Shape, row, text
from environments.model import Environment
from fleet import naming
from fleet.alarms import Spec
from fleet.capacity.plan import LaunchPlan
from fleet.load_balancer import EndpointNames

# Of the 24 columns: what an endpoint is, beside four graphs.
_NAME_WIDTH = 4
_GRAPH_WIDTH = 5


def rows(
    environment: Environment,
    plans: Mapping[str, LaunchPlan],
    specs: Mapping[str, tuple[Spec, ...]],
    endpoints: Mapping[str, EndpointNames],
) -> list[Row]:
    """One section per endpoint, or one row where each has a dashboard of its own."""
    if environment.monitoring.endpoint_dashboards:
        found = _overview(environment, specs, endpoints)
        return [*found, row(platform_health.changes(environment.name))] if found else []
    found = _sections(environment, specs, endpoints)
    top = [row(money.price_text(plans.values())), row(platform_health.changes(environment.name))]
    return [*top, *found] if found else []


def _sections(
    environment: Environment, specs: Mapping[str, tuple[Spec, ...]], endpoints: Mapping[str, EndpointNames]
) -> list[Row]:
    sections: list[Row] = []
    for fleet in environment.inference_fleets:
        if fleet.name in endpoints:
            names, own = endpoints[fleet.name], specs[fleet.name]
            sections += [
                row(text(endpoint_section.heading(fleet))),
                row(*endpoint_section.answers(names, own)),
                *endpoint_section.load_and_cores(environment.name, fleet, own, names),
            ]
    for fleet in environment.hosted_fleets:
        sections += [
            row(text(hosted.heading(environment.region, fleet))),
            row(*hosted.answers(environment.name, fleet, specs[fleet.name])),
        ]
    return sections


def _overview(
    environment: Environment, specs: Mapping[str, tuple[Spec, ...]], endpoints: Mapping[str, EndpointNames]
) -> list[Row]:
    name = environment.name
    lines = [
        _line(name, fleet.name, endpoint_section.heading(fleet), endpoint_section.answers(endpoints[fleet.name], own))
        for fleet in environment.inference_fleets
        if fleet.name in endpoints and (own := specs[fleet.name])
    ]
    lines += [
        _line(name, fleet.name, hosted.size(fleet), hosted.at_a_glance(name, fleet, specs[fleet.name]))
        for fleet in environment.hosted_fleets
    ]
    return lines


def _line(environment: str, fleet: str, said: str, graphs: Sequence[Shape]) -> Row:
    link = links.to_dashboard("Its own dashboard", environment, naming.endpoint_audience(fleet))
    name = text(f"{said}\n\n{link}", height=GRAPH_HEIGHT)
    return [name(_NAME_WIDTH), *(graph(_GRAPH_WIDTH) for graph in graphs)]
