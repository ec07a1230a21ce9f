"""Which EC2 quotas an account needs for its fleets, in vCPUs."""

from collections.abc import Iterable
from dataclasses import dataclass

from fleet.fleet_spec import FleetSpec, MarketKind
from fleet.instances import InstanceType, UnknownInstanceTypeError, instance_type, quota_names


@dataclass(frozen=True, slots=True)
class QuotaNeed:
    """One quota of Service Quotas, and the least value that lets every fleet have all its nodes."""

    code: str
    name: str
    vcpus: int


def quotas_needed(specs: Iterable[FleetSpec]) -> tuple[QuotaNeed, ...]:
    """The quotas of one account and region, by code. Types that EC2 does not have need none.

    Source: Service Quotas, "Running On-Demand Trn instances" and its like. A reservation counts against the on-demand
    quota, used or not; a Capacity Block does not count (EC2 user guide, Capacity Blocks).
    """
    needs: dict[str, QuotaNeed] = {}
    for spec in specs:
        known = _known(spec)
        if known is None or spec.market is MarketKind.CAPACITY_BLOCK:
            continue
        spot = spec.market is MarketKind.SPOT
        code = known.quotas.get("spot" if spot else "on-demand")
        if code is None:
            continue
        before = needs[code].vcpus if code in needs else 0
        nodes = max(spec.nodes, spec.reserved.instances or 0)
        needs[code] = QuotaNeed(code, quota_names()[code], before + nodes * known.vcpus)
    return tuple(needs[code] for code in sorted(needs))


def _known(spec: FleetSpec) -> InstanceType | None:
    try:
        return instance_type(spec.instance_type)
    except UnknownInstanceTypeError:
        return None
