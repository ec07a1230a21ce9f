"""Why a fleet cannot be built as asked: one rule each, in the order in which a person would fix them.

A rule is a function of the spec and its instance type that yields diagnostics; a new rule is a function more in
``RULES``. Paths are relative to the fleet's entry in the environment file.
"""

from collections.abc import Callable, Iterator
from typing import Final

from fleet.diagnostics import Diagnostic, note, refuse
from fleet.fleet_spec import FleetSpec, MarketKind, Purpose
from fleet.instances import InstanceType, UnknownInstanceTypeError, instance_type
from fleet.prices import price_for

Rule = Callable[[FleetSpec, InstanceType], Iterator[Diagnostic]]


def diagnose_fleet(spec: FleetSpec) -> tuple[Diagnostic, ...]:
    """Everything that is wrong with ``spec``, and notes; without an error it can be built."""
    try:
        known = instance_type(spec.instance_type)
    except UnknownInstanceTypeError as error:
        explained = str(error).partition(": ")[2]
        unknown = f"{spec.instance_type} is not an instance type"
        return (refuse("unknown-instance-type", "instance_type", spec.instance_type, unknown, explained),)
    return tuple(diagnostic for rule in RULES for diagnostic in rule(spec, known))


def _is_neuron(spec: FleetSpec, known: InstanceType) -> Iterator[Diagnostic]:
    # GPU types are in the catalogue to be compared with; nothing here installs their drivers.
    if not known.is_neuron:
        yield refuse(
            "not-neuron",
            "instance_type",
            known.name,
            f"{known.name} has no Neuron devices",
            "choose a trn1, trn1n, trn2, trn2u or inf2 size",
        )


def _is_offered(spec: FleetSpec, known: InstanceType) -> Iterator[Diagnostic]:
    # EC2 DescribeInstanceTypeOfferings, by region and by zone id, as of the catalogue's offerings date.
    if spec.region not in known.regions:
        yield refuse(
            "not-in-region",
            "instance_type",
            known.name,
            f"{known.name} is not offered in {spec.region} (as of {known.offerings_as_of})",
            f"it is offered in {', '.join(sorted(known.regions))}",
        )
    elif not known.availability_zone_ids & set(spec.zone_ids):
        offered = sorted(zone for zone in known.availability_zone_ids if zone.startswith(zone_id_prefix(spec.region)))
        yield refuse(
            "not-in-zone",
            "availability_zone" if spec.availability_zone else "instance_type",
            spec.availability_zone or known.name,
            f"{known.name} is not offered in {', '.join(spec.zone_ids)} (as of {known.offerings_as_of})",
            f"in {spec.region} it is offered in {', '.join(offered)}",
        )


def zone_id_prefix(region: str) -> str:
    """How the ids of a region's Availability Zones start: ``use2-az`` in us-east-2, ``apse1-az`` in ap-southeast-1.

    Source: AWS RAM user guide, "Availability Zone IDs for your AWS resources".
    """
    *area, direction, number = region.split("-")
    for word in ("north", "south", "east", "west", "central"):
        direction = direction.replace(word, word[0])
    return f"{''.join(area).replace('gov', 'g')}{direction}{number}-az"


def _has_efa(spec: FleetSpec, known: InstanceType) -> Iterator[Diagnostic]:
    # EC2 DescribeInstanceTypes, EfaInfo.MaximumEfaInterfaces: no inf2 size has one.
    if spec.efa and not known.efa_interfaces:
        yield refuse("no-efa", "efa", "true", f"{known.name} has no EFA", "remove efa, or choose a type that has it")


def _market_exists(spec: FleetSpec, known: InstanceType) -> Iterator[Diagnostic]:
    if spec.market is MarketKind.CAPACITY_BLOCK and spec.region not in known.capacity_block_regions:
        # EC2 Capacity Blocks pricing page: which types are sold where. No inf2 size is.
        sold = ", ".join(sorted(known.capacity_block_regions)) or "no region"
        yield refuse(
            "no-capacity-block",
            "market.kind",
            spec.market,
            f"Capacity Blocks of {known.name} are not sold in {spec.region}",
            f"they are sold in {sold}",
        )
    if spec.market is MarketKind.CAPACITY_BLOCK and spec.reservation_id is None:
        # The CloudFormation registry has no resource that buys a Capacity Block.
        yield refuse(
            "capacity-block-without-id",
            "market.reservation_id",
            "",
            "a Capacity Block is bought outside CloudFormation",
            "buy it and give its reservation id, cr-…",
        )
    if spec.market is MarketKind.SPOT and MarketKind.SPOT not in known.usage_classes:
        # EC2 DescribeInstanceTypes, SupportedUsageClasses.
        yield refuse("no-spot", "market.kind", spec.market, f"{known.name} is not sold as Spot")


def _batch_trains_without_spot(spec: FleetSpec, known: InstanceType) -> Iterator[Diagnostic]:
    # AWS Batch user guide, multi-node parallel jobs: not supported on compute environments that use Spot;
    # such jobs stay RUNNABLE for ever.
    if spec.purpose is Purpose.TRAINING and spec.market is MarketKind.SPOT:
        yield refuse(
            "spot-multi-node",
            "market.kind",
            spec.market,
            "AWS Batch runs no multi-node jobs on Spot: they would stay RUNNABLE for ever",
            "use on-demand, reservation or capacity-block",
        )


def _supports_lnc(spec: FleetSpec, known: InstanceType) -> Iterator[Diagnostic]:
    # Neuron documentation, Logical NeuronCore configuration: 1 and 2, on Trainium2 and later only.
    supported = known.accelerator.lnc_supported
    if spec.lnc is not None and spec.lnc not in supported:
        allowed = " or ".join(map(str, supported)) or "none"
        yield refuse("lnc-unsupported", "lnc", spec.lnc, f"{known.name} cannot group cores so", f"allowed: {allowed}")


def _tasks_fit(spec: FleetSpec, known: InstanceType) -> Iterator[Diagnostic]:
    if spec.devices_per_task is not None and spec.devices_per_task > known.devices:
        yield refuse(
            "too-many-devices",
            "endpoint.devices_per_task",
            spec.devices_per_task,
            f"{spec.devices_per_task} devices in a task, but {known.name} has {known.devices}",
            f"use {known.devices} or fewer",
        )
    elif spec.tasks is not None and spec.tasks > spec.nodes:
        # ECS knows no Neuron devices: every task is given the first ones of its node, so a node holds one task.
        room = f"{spec.nodes} x {known.devices}"
        yield refuse(
            "too-many-tasks",
            "endpoint.tasks",
            spec.tasks,
            f"{spec.tasks} tasks do not fit on nodes x devices = {room}: a node runs one task",
            f"use {spec.nodes} or fewer, or more nodes",
        )


def _has_price(spec: FleetSpec, known: InstanceType) -> Iterator[Diagnostic]:
    # AWS publishes no on-demand price for any trn2 size; money figures are then absent, and nothing else changes.
    if price_for(known, spec.region, spec.market) is None:
        message = f"no {spec.market} price of {known.name} is known in {spec.region}: cost metrics will be absent"
        yield note("price-unknown", "market.kind", spec.market, message)


RULES: Final[tuple[Rule, ...]] = (
    _is_neuron,
    _is_offered,
    _has_efa,
    _market_exists,
    _batch_trains_without_spot,
    _supports_lnc,
    _tasks_fit,
    _has_price,
)
