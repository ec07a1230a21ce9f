"""From an environment file to the values that ``planning.month`` prices, and whether CloudWatch keeps its budget."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from environments.alarms import deployed_alarms, environment_alarms, platform_health_alarms
from environments.fleet_specs import can_be_planned, fleet_spec, negotiated_price
from environments.fleets import Fleet, InferenceFleet
from environments.markets import CapacityBlock, Reservation
from environments.model import Environment
from fleet.alarms import AlarmSpec, CompositeSpec, ContributorSpec, MathRef
from fleet.capacity.network_interfaces import uses_efa
from fleet.diagnostics import Diagnostic, warn
from fleet.fleet_spec import Purpose
from fleet.hosting.surcharge import surcharge
from fleet.instances import Price, instance_type
from fleet.load_balancer import EndpointNames
from fleet.prices import price_of
from fleet.prices.wording import amount
from fleet.serving.scaling_policies import rules, tracked
from planning.month.bill import month_of
from planning.month.line import Group
from planning.month.prices import service_price
from planning.month.shape import EnvironmentShape, FleetShape, Function, HostedShape

# The network stack's interface endpoints, each in every zone.
INTERFACE_ENDPOINTS: Final = 11
# Operator, capacity and cost, agent health; one more where there is training, one where there is inference, and
# where the file wants it one of each endpoint.
DASHBOARDS: Final = 3
ALWAYS: Final = (
    Function.PAGER,
    Function.CAPACITY_WATCH,
    Function.PRECOMPILE,
    Function.PRICES,
    Function.LEDGER,
    Function.ROLLOUT,
    Function.BUDGETS,
)
_ANY_BALANCER: Final = EndpointNames("app/any/0", "targetgroup/any/0")


def month_shape(environment: Environment, refreshed: Mapping[str, Iterable[Price]] | None = None) -> EnvironmentShape:
    """What of ``environment`` costs money; ``refreshed`` are prices by instance type that AWS was asked for.

    Raises:
        UnknownInstanceTypeError: EC2 has no such type; ``loader.load_file`` refuses a file that names it.
    """
    has_block_engine = bool(environment.block_fleets or environment.approvers)
    engine = (Function.CAPACITY_BLOCKS,) if has_block_engine else ()
    pools = (Function.POOLS,) if environment.pool_fleets else ()
    metric_alarms, composites = _alarms(environment)
    return EnvironmentShape(
        name=environment.name,
        region=environment.region,
        zones=len(environment.network.availability_zones),
        nat_gateways=environment.network.nat_gateways,
        interface_endpoints=INTERFACE_ENDPOINTS,
        fleets=tuple(_fleet(environment, fleet, refreshed) for fleet in environment.node_fleets),
        functions=(*ALWAYS, *engine, *pools),
        # Of pages, leases, precompilations, prices and rollouts; the engine's, the pools', and that of a budget's stop.
        tables=5 + len(engine) + len(pools) + bool(environment.stoppable_fleets),
        log_retention_days=environment.monitoring.log_retention_days,
        otlp=environment.monitoring.otlp_level,
        alarm_metrics=metric_alarms,
        composite_alarms=composites,
        dashboards=DASHBOARDS
        + bool(environment.training_fleets)
        + bool(environment.inference_fleets or environment.hosted_fleets)
        + len(environment.fleets_with_dashboards),
        cloudwatch_budget_usd=environment.monitoring.cloudwatch_usd_per_month,
        hosted=tuple(_hosted(environment, fleet, refreshed) for fleet in environment.hosted_fleets),
        public_balancers=sum(fleet.endpoint.clients.public for fleet in environment.inference_fleets),
    )


def _fleet(environment: Environment, fleet: Fleet, refreshed: Mapping[str, Iterable[Price]] | None) -> FleetShape:
    known, spec = instance_type(fleet.instance_type), fleet_spec(environment, fleet)
    return FleetShape(
        name=fleet.name,
        purpose=Purpose(fleet.purpose),
        instance_type=fleet.instance_type,
        nodes=fleet.nodes,
        market=spec.market,
        price=price_of(spec, refreshed),
        logical_cores=known.logical_cores(fleet.lnc),
        has_efa=uses_efa(spec, known),
        reserved_instances=_reserved_instances(fleet),
        stopped_nodes=_stopped_nodes(fleet),
        block_hours=_block_hours(fleet.market) if isinstance(fleet.market, CapacityBlock) else None,
    )


def _hosted(
    environment: Environment, fleet: InferenceFleet, refreshed: Mapping[str, Iterable[Price]] | None
) -> HostedShape:
    scaling, own = fleet.endpoint.sagemaker, negotiated_price(environment.region, fleet)
    known, newer = instance_type(fleet.instance_type), (refreshed or {}).get(fleet.instance_type, ())
    return HostedShape(
        name=fleet.name,
        nodes=fleet.nodes,
        low=scaling.min if scaling else fleet.nodes,
        high=scaling.max if scaling else fleet.nodes,
        prices=surcharge(known, environment.region, agreed=own, refreshed=newer),
    )


def _reserved_instances(fleet: Fleet) -> int:
    if not isinstance(fleet.market, Reservation | CapacityBlock):
        return 0
    return fleet.market.instances or fleet.nodes


def _stopped_nodes(fleet: Fleet) -> int:
    return fleet.scaling.kept_stopped if isinstance(fleet, InferenceFleet) and fleet.scaling else 0


def _block_hours(block: CapacityBlock) -> float | None:
    return None if block.starts_at is None else (block.ends_at - block.starts_at).total_seconds() / 3600


def _alarms(environment: Environment) -> tuple[int, int]:
    """Metrics that metric alarms look at, and composite alarms."""
    # How many metrics an alarm looks at does not depend on the names of balancers and pipelines.
    endpoints = {fleet.name: _ANY_BALANCER for fleet in environment.inference_fleets}
    deployed = deployed_alarms(environment, environment_alarms(environment, endpoints))
    specs = [spec for of_fleet in deployed.values() for spec in of_fleet]
    specs += platform_health_alarms(environment, "any")
    looked_at = [_metrics(spec) for spec in specs if not isinstance(spec, CompositeSpec)]
    moving = sum(_moving(environment.name, fleet) for fleet in environment.inference_fleets)
    return sum(looked_at) + moving, len(specs) - len(looked_at)


def _moving(environment: str, fleet: InferenceFleet) -> int:
    """Metrics of the alarms that move an endpoint's nodes: one for each target that is tracked, and of each rule."""
    if fleet.scaling is None:
        return 0
    found = rules(fleet.scaling, environment, fleet.name, _ANY_BALANCER)
    targets = tracked(fleet.scaling, environment, fleet.name)
    return len(targets) + sum(len(rule.metric.queries) for rule in found)


def _metrics(spec: AlarmSpec | ContributorSpec) -> int:
    # What an alarm on a query costs is on no page of AWS's that is known here: it counts as one on a metric does.
    if isinstance(spec, ContributorSpec):
        return 1
    return len(spec.metric.queries) if isinstance(spec.metric, MathRef) else 1


def over_cloudwatch_budget(environment: Environment) -> Iterator[Diagnostic]:
    """A warning where more is expected than ``monitoring.cloudwatch_usd_per_month``; nothing where none is set."""
    budget = environment.monitoring.cloudwatch_usd_per_month
    # A fleet of a type that there is not, or in no zone of the network, has a diagnostic of its own.
    if budget is None or not can_be_planned(environment):
        return
    month = month_of(month_shape(environment))
    if month.is_over_cloudwatch_budget:
        expected, day = month.usd(Group.CLOUDWATCH), service_price("logs-ingest-gb").as_of
        yield warn(
            "cloudwatch-over-budget",
            "monitoring.cloudwatch_usd_per_month",
            f"{budget:g}",
            f"CloudWatch is expected to cost ${amount(expected.expected)} a month (${amount(expected.low)} to "
            f"${amount(expected.high)}, list prices of {day}), and ${amount(budget)} is allowed",
            "see its lines with `fleet plan cost`; raise the budget, or keep logs for fewer days",
        )
