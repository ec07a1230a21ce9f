"""Fleets that tests of the capacity compiler start from, each right as it is."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from fleet.capacity import diagnose_fleet
from fleet.fleet_spec import FleetSpec, MarketKind, Purpose, Reserved

TRN1 = FleetSpec(
    name="pretrain",
    purpose=Purpose.TRAINING,
    instance_type="trn1.32xlarge",
    nodes=16,
    region="us-east-2",
    zone_ids=("use2-az3",),
    market=MarketKind.ON_DEMAND,
    availability_zone="us-east-2c",
)
BLOCK: dict[str, Any] = {
    "market": MarketKind.CAPACITY_BLOCK,
    "reserved": Reserved(reservation_id="cr-0a1b2c3d4e5f60718", ends_at=datetime(2026, 12, 18, 11, 30, tzinfo=UTC)),
}
INF2 = replace(
    TRN1,
    purpose=Purpose.INFERENCE,
    instance_type="inf2.48xlarge",
    zone_ids=("use2-az1", "use2-az2", "use2-az3"),
    availability_zone=None,
    devices_per_task=12,
)


def errors(spec: FleetSpec) -> dict[str, str]:
    return {diagnostic.code: diagnostic.path for diagnostic in diagnose_fleet(spec) if diagnostic.is_error}
