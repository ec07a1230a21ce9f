"""Every instance type in every market: the fleets that the golden files are made from."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Final

from fleet.fleet_spec import EfaLayout, FleetSpec, MarketKind, Purpose, Reserved
from fleet.instances import InstanceType, catalogue
from fleet.regions import zone_id_prefix

ENDS_AT: Final = datetime(2026, 12, 18, 11, 30, tzinfo=UTC)
RESERVATION: Final = "cr-0a1b2c3d4e5f60718"
TYPES: Final = tuple(sorted(name for name, known in catalogue().items() if known.is_neuron))
MARKETS: Final[dict[str, dict[str, Any]]] = {
    "on-demand": {"market": MarketKind.ON_DEMAND},
    "on-demand-ungrouped": {"market": MarketKind.ON_DEMAND, "placement_group": False},
    "spot": {"market": MarketKind.SPOT},
    "reservation-created": {"market": MarketKind.RESERVATION, "reserved": Reserved(ends_at=ENDS_AT)},
    "reservation-created-ungrouped": {"market": MarketKind.RESERVATION, "placement_group": False},
    "reservation-existing": {"market": MarketKind.RESERVATION, "reserved": Reserved(RESERVATION)},
    "reservation-existing-grouped": {
        "market": MarketKind.RESERVATION,
        "reserved": Reserved(RESERVATION, placement_group="reserved-together"),
    },
    "reservation-resource-group": {
        "market": MarketKind.RESERVATION,
        "reserved": Reserved(resource_group="arn:aws:resource-groups:REGION:111122223333:group/reserved"),
    },
    "capacity-block": {"market": MarketKind.CAPACITY_BLOCK, "reserved": Reserved(RESERVATION, ends_at=ENDS_AT)},
}
NODES: Final = 8


@dataclass(frozen=True)
class Golden:
    """One fleet, and where it is found: ``file`` is type and market, ``part`` purpose and layout."""

    instance_type: str
    market: str
    part: str
    spec: FleetSpec

    @property
    def construct_id(self) -> str:
        """Its launch template's id, which is no other's."""
        return f"{self.instance_type}-{self.market}-{self.part}".replace(".", "-").replace(" ", "-")


def golden_cases() -> Iterator[Golden]:
    """Training and inference of each type in each market, and both layouts where there is EFA."""
    for name in TYPES:
        known = catalogue()[name]
        for market, changes in MARKETS.items():
            base = _placed(known, changes)
            yield Golden(name, market, "training", base)
            if known.efa_interfaces:
                yield Golden(name, market, "training efa-only", replace(base, efa_layout=EfaLayout.EFA_ONLY))
            yield Golden(name, market, "inference", replace(base, purpose=Purpose.INFERENCE))


def _placed(known: InstanceType, changes: dict[str, Any]) -> FleetSpec:
    """In us-east-2, or else in the first region that has it, of those that sell the market; in one zone there."""
    sold = known.capacity_block_regions if changes["market"] is MarketKind.CAPACITY_BLOCK else known.regions
    regions = (sold & known.regions) or known.regions
    region = "us-east-2" if "us-east-2" in regions else min(regions)
    zone = min(zone for zone in known.availability_zone_ids if zone.startswith(zone_id_prefix(region)))
    spec = FleetSpec(
        name="golden",
        purpose=Purpose.TRAINING,
        instance_type=known.name,
        nodes=NODES,
        region=region,
        zone_ids=(zone,),
        **changes,
    )
    group = spec.reserved.resource_group
    if group is None:
        return spec
    return replace(spec, reserved=replace(spec.reserved, resource_group=group.replace("REGION", region)))
