"""Can capacity be bought this way, here, for this purpose, and at what price?"""

from collections.abc import Iterator
from typing import Final

from fleet.capacity.rules.case import Case, Rule
from fleet.diagnostics import Diagnostic, note, refuse, warn
from fleet.fleet_spec import MarketKind
from fleet.prices import price_of


def block_is_sold_here(case: Case) -> Iterator[Diagnostic]:
    """EC2 Capacity Blocks pricing page and user guide: which types are sold where. No inf2 size is."""
    spec, known = case.spec, case.known
    if not case.is_block or spec.region in known.capacity_block_regions:
        return
    if MarketKind.CAPACITY_BLOCK in known.usage_classes and not known.capacity_block_regions:
        # DescribeInstanceTypes names the usage class, and no page names a region: UltraServers.
        yield warn(
            "capacity-block-unlisted",
            "market.kind",
            spec.market,
            f"no list of regions that sell Capacity Blocks of {known.name} is known",
            "look for an offer first: aws ec2 describe-capacity-block-offerings",
        )
    else:
        sold = ", ".join(sorted(known.capacity_block_regions)) or "no region"
        yield refuse(
            "no-capacity-block",
            "market.kind",
            spec.market,
            f"Capacity Blocks of {known.name} are not sold in {spec.region}",
            f"they are sold in {sold}",
        )


def spot_is_sold(case: Case) -> Iterator[Diagnostic]:
    """EC2 DescribeInstanceTypes, SupportedUsageClasses."""
    spec, known = case.spec, case.known
    if spec.market is MarketKind.SPOT and MarketKind.SPOT not in known.usage_classes:
        yield refuse(
            "no-spot",
            "market.kind",
            spec.market,
            f"{known.name} is not sold as Spot",
            f"it is sold as {', '.join(sorted(known.usage_classes - {'spot'}))}",
        )


def on_demand_is_sold(case: Case) -> Iterator[Diagnostic]:
    """EC2 DescribeInstanceTypes, SupportedUsageClasses; a reservation that is created is of on-demand capacity."""
    spec, known = case.spec, case.known
    wanted = spec.market is MarketKind.ON_DEMAND or case.creates_reservation
    if wanted and MarketKind.ON_DEMAND not in known.usage_classes:
        yield refuse(
            "no-on-demand",
            "market.kind",
            spec.market,
            f"{known.name} is not sold on demand",
            f"it is sold as {', '.join(sorted(known.usage_classes))}",
        )


def batch_trains_without_spot(case: Case) -> Iterator[Diagnostic]:
    """AWS Batch user guide, multi-node parallel jobs: not supported on compute environments that use Spot.

    Such jobs stay RUNNABLE for ever.
    """
    if case.is_training and not case.is_pool and case.spec.market is MarketKind.SPOT:
        yield refuse(
            "spot-multi-node",
            "market.kind",
            case.spec.market,
            "AWS Batch runs no multi-node jobs on Spot: they would stay RUNNABLE for ever",
            "add engine: pool, or use on-demand, reservation or capacity-block",
        )


def endpoint_outlives_its_capacity(case: Case) -> Iterator[Diagnostic]:
    """EC2 user guide: a Spot instance goes with two minutes' notice, a Capacity Block's 30 minutes before its end."""
    if case.is_training:
        return
    if case.spec.market is MarketKind.SPOT:
        yield warn(
            "endpoint-on-spot",
            "market.kind",
            case.spec.market,
            "EC2 may take back every node of the endpoint with two minutes' notice",
            "use on-demand or reservation for an endpoint that people wait for",
        )
    if case.is_block:
        yield warn(
            "endpoint-on-capacity-block",
            "market.kind",
            case.spec.market,
            "the endpoint ends with its Capacity Block",
            "use on-demand or reservation for an endpoint that is to stay",
        )


def on_demand_is_obtainable(case: Case) -> Iterator[Diagnostic]:
    """AWS publishes no on-demand price for any trn2 size; 130 of 130 on-demand requests failed on 2026-10-03.

    One public account of it, not AWS's word: a warning. The data file says of which types it is so.
    """
    wanted = case.spec.market is MarketKind.ON_DEMAND or case.creates_reservation
    if wanted and not case.known.on_demand_obtainable:
        yield warn(
            "on-demand-unobtainable",
            "market.kind",
            case.spec.market,
            f"AWS publishes no on-demand price of {case.known.name}, and requests for one have been refused everywhere",
            "plan for a Capacity Block, or for a reservation that AWS has granted",
        )


def has_price(case: Case) -> Iterator[Diagnostic]:
    """An unknown price is never guessed; money figures are then absent, and nothing else changes."""
    spec, known = case.spec, case.known
    if known.is_neuron and price_of(spec) is None:
        message = f"no {spec.market} price of {known.name} is known in {spec.region}: cost metrics will be absent"
        yield note("price-unknown", "market.kind", spec.market, message)


RULES: Final[tuple[Rule, ...]] = (
    block_is_sold_here,
    spot_is_sold,
    on_demand_is_sold,
    batch_trains_without_spot,
    endpoint_outlives_its_capacity,
    on_demand_is_obtainable,
    has_price,
)
