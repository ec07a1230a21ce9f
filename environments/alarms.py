"""From an environment file to its alarms: the settings of each fleet, every spec that is deployed, and its faults."""

from collections.abc import Iterator, Mapping
from typing import Final

from environments.alarm_linter import Around, lint, of_specs
from environments.alarm_rules import diagnose_alarm_changes
from environments.documents import RUNBOOKS
from environments.fleet_specs import can_be_planned, fleet_spec
from environments.fleets import Fleet, InferenceFleet, without_job_minutes
from environments.model import Environment
from fleet import naming
from fleet.alarms import (
    Adjustment,
    Adjustments,
    AlarmSettings,
    AnySpec,
    ContributorSpec,
    Severity,
    Spec,
    Thresholds,
    change_in_progress,
    endpoint_alarms,
    fleet_alarms,
    followed_alarms,
    hosted_alarms,
    metrics_budget,
    platform_alarms,
    precompile_alarms,
)
from fleet.capacity.network_interfaces import uses_efa
from fleet.diagnostics import Diagnostic
from fleet.fleet_spec import Purpose
from fleet.hosting.variants import VariantNames
from fleet.instances import instance_type
from fleet.load_balancer import EndpointNames
from planning.month.cloudwatch import jobs_at_once


def alarm_settings(environment: Environment, fleet: Fleet) -> AlarmSettings:
    """What the alarms of ``fleet`` need to know about it.

    Raises:
        UnknownInstanceTypeError: EC2 has no such type; ``loader.load_file`` refuses a file that names it.
    """
    said = fleet.alarms.thresholds
    if isinstance(fleet, InferenceFleet):
        said["latency_p99_seconds"] = fleet.endpoint.latency_p99_seconds
    else:
        said["without_job_minutes"] = without_job_minutes(fleet)
    return AlarmSettings(
        environment=environment.name,
        fleet=fleet.name,
        purpose=fleet.purpose,
        market=fleet.market_kind,
        nodes=fleet.nodes,
        reports_flops=fleet.reports_flops,
        has_efa=uses_efa(fleet_spec(environment, fleet), instance_type(fleet.instance_type)),
        scaling=fleet.scaling if isinstance(fleet, InferenceFleet) else None,
        thresholds=Thresholds(**said),
    )


def environment_alarms(environment: Environment, endpoints: Mapping[str, EndpointNames]) -> dict[str, tuple[Spec, ...]]:
    """Every classic alarm of an environment by fleet, as its owner wants it; ``endpoints`` holds the load balancers."""
    return {
        fleet.name: adjustments(fleet).applied(_of_fleet(environment, fleet, endpoints.get(fleet.name)))
        for fleet in environment.fleets
    }


def adjustments(fleet: Fleet) -> Adjustments:
    """What the fleet's owner changes about its alarms."""
    by_key = {
        key: Adjustment(
            severity=None if each.severity in {None, "none"} else Severity(each.severity),
            minutes=each.minutes,
            is_off=each.is_off,
        )
        for key, each in fleet.alarms.each.items()
    }
    return Adjustments(wakes=fleet.alarms.wakes, by_key=by_key)


def _of_fleet(environment: Environment, fleet: Fleet, endpoint: EndpointNames | None) -> tuple[Spec, ...]:
    settings = alarm_settings(environment, fleet)
    if isinstance(fleet, InferenceFleet) and fleet.is_hosted:
        return hosted_alarms(settings, VariantNames(naming.hosted_endpoint(environment.name, fleet.name)))
    return fleet_alarms(settings) + (() if endpoint is None else endpoint_alarms(settings, endpoint))


def deployed_alarms(
    environment: Environment, classic: Mapping[str, tuple[Spec, ...]]
) -> Mapping[str, tuple[AnySpec, ...]]:
    """What is deployed by fleet: ``classic``, or with the file's ``promql`` what follows jobs and nodes instead.

    An endpoint that SageMaker serves has no nodes of ours, and no series of them.
    """
    if environment.monitoring.alarms == "classic":
        return classic
    with_nodes = {fleet.name: fleet for fleet in environment.node_fleets}
    return {
        name: followed_alarms(alarm_settings(environment, fleet), specs, adjustments(fleet))
        if (fleet := with_nodes.get(name)) is not None
        else specs
        for name, specs in classic.items()
    }


def platform_health_alarms(environment: Environment, precompilation: str) -> tuple[Spec, ...]:
    """The alarms of the platform itself; ``precompilation`` is the ARN of the precompile pipeline."""
    return (
        *platform_alarms(
            environment.name,
            has_block_engine=bool(environment.block_fleets or environment.approvers),
            has_pools=bool(environment.pool_fleets),
            has_endpoints=bool(environment.inference_fleets or environment.hosted_fleets),
            forecast_percent=environment.forecast_percent,
        ),
        *precompile_alarms(environment.name, precompilation),
        metrics_budget(environment.name, jobs_planned=jobs_planned(environment)),
        change_in_progress(environment.name),
    )


def jobs_planned(environment: Environment) -> int:
    """Jobs at once in all fleets, at the most that ``fleet plan cost`` prices."""
    return sum(int(jobs_at_once(Purpose(fleet.purpose), fleet.nodes).high) for fleet in environment.node_fleets)


# Nothing that is judged depends on what they are called.
_ANY_BALANCER: Final = EndpointNames("app/any/0", "targetgroup/any/0")
_ANY_PIPELINE: Final = "arn"


def around(environment: Environment) -> Around:
    """What the linter needs to know of an environment. Reads which runbooks there are."""
    return Around(
        environment=environment.name,
        fleets=tuple(fleet.name for fleet in environment.fleets),
        runbooks=frozenset(path.stem for path in RUNBOOKS.glob("*.md") if path.stem != "README"),
        cloudwatch_usd_per_month=environment.monitoring.cloudwatch_usd_per_month,
    )


def lint_alarms(environment: Environment) -> Iterator[Diagnostic]:
    """Findings about the alarms that the file will have; dashboards are judged at synthesis."""
    # A fleet of a type that there is not, or in no zone of the network, has a diagnostic of its own.
    if not can_be_planned(environment):
        return
    endpoints = {fleet.name: _ANY_BALANCER for fleet in environment.inference_fleets}
    for index, fleet in enumerate(environment.fleets):
        by_themselves = _of_fleet(environment, fleet, endpoints.get(fleet.name))
        yield from (each.under(f"fleets[{index}]") for each in diagnose_alarm_changes(fleet, by_themselves))
    deployed = deployed_alarms(environment, environment_alarms(environment, endpoints))
    specs = [spec for of_fleet in deployed.values() for spec in of_fleet if not isinstance(spec, ContributorSpec)]
    yield from lint(of_specs([*specs, *platform_health_alarms(environment, _ANY_PIPELINE)]), around(environment))
