"""What is tried next, what the account must be allowed, and what peers need."""

from dataclasses import replace

import pytest

from fleet.capacity import FleetRefusedError, compile_fleet, ladder, other_types, quotas_needed
from fleet.capacity.network_interfaces import Direction, GroupRule, diagnose_peers
from fleet.fleet_spec import MarketKind, Reserved
from tests.support.capacity import BLOCK, INF2, TRN1


def test_a_training_fleet_tries_its_other_zones_and_then_its_other_types() -> None:
    spec = replace(
        TRN1,
        instance_type="trn2.48xlarge",
        zone_ids=("use2-az1",),
        fallback_zone_ids=("use2-az2", "use2-az3"),
        alternative_types=("trn1n.32xlarge", "trn1.32xlarge"),
    )
    # trn1 and trn1n are offered in use2-az3 only.
    assert [(plan.instance_type.name, plan.zone_ids, len(plan.network_interfaces)) for plan in ladder(spec)] == [
        ("trn2.48xlarge", ("use2-az1",), 16),
        ("trn2.48xlarge", ("use2-az2",), 16),
        ("trn2.48xlarge", ("use2-az3",), 16),
        ("trn1n.32xlarge", ("use2-az3",), 16),
        ("trn1.32xlarge", ("use2-az3",), 8),
    ]


def test_an_inference_fleet_tries_type_by_type_in_all_its_zones() -> None:
    spec = replace(INF2, alternative_types=("inf2.24xlarge", "trn1.32xlarge"), devices_per_task=6)
    assert [(plan.instance_type.name, plan.zone_ids) for plan in ladder(spec)] == [
        ("inf2.48xlarge", INF2.zone_ids),
        ("inf2.24xlarge", INF2.zone_ids),
        ("trn1.32xlarge", ("use2-az3",)),
    ]
    # 12 devices are more than an inf2.24xlarge has: that rung cannot be built.
    assert len(ladder(replace(spec, devices_per_task=12))) == 2


def test_reserved_capacity_has_one_rung_and_a_refused_fleet_none() -> None:
    assert len(ladder(replace(TRN1, market=MarketKind.RESERVATION, fallback_zone_ids=("use2-az3",)))) == 1
    with pytest.raises(FleetRefusedError):
        ladder(replace(TRN1, nodes=2, efa=True, instance_type="inf2.48xlarge"))


def test_quotas_count_reservations_and_leave_blocks_out() -> None:
    specs = [
        TRN1,  # 16 x 128 vCPUs
        replace(TRN1, market=MarketKind.RESERVATION, nodes=2, reserved=Reserved(instances=4)),  # 4 x 128
        replace(TRN1, **BLOCK),
        replace(INF2, market=MarketKind.SPOT),  # 16 x 192
        replace(INF2, instance_type="inf2.xlarge", nodes=3),  # 3 x 4
        replace(INF2, instance_type="inf3.xlarge"),
    ]
    assert [(need.code, need.name, need.vcpus) for need in quotas_needed(specs)] == [
        ("L-1945791B", "Running On-Demand Inf instances", 12),
        ("L-2C3B7624", "Running On-Demand Trn instances", 2560),
        ("L-B5D1601B", "All Inf Spot Instance Requests", 3072),
    ]


def test_a_group_of_peers_allows_itself_in_both_directions() -> None:
    inward, outward = (GroupRule(direction, "-1", "sg-1") for direction in Direction)
    anywhere = GroupRule(Direction.OUT, "-1", "0.0.0.0/0")
    tcp = GroupRule(Direction.OUT, "tcp", "sg-1")
    assert list(diagnose_peers("sg-1", [inward, outward, anywhere])) == []
    assert [found.code for found in diagnose_peers("sg-1", [inward, anywhere, tcp])] == ["efa-no-egress-of-peers"]
    assert [found.code for found in diagnose_peers("sg-1", [outward])] == ["efa-no-ingress-of-peers"]
    assert all(found.fix for found in diagnose_peers("sg-1", []))


def test_the_other_types_of_a_plan_are_those_that_its_own_zones_offer() -> None:
    types = ("trn1n.32xlarge", "trn2.48xlarge")
    spec = replace(TRN1, zone_ids=("use2-az3",), fallback_zone_ids=("use2-az1",), alternative_types=types)

    assert [(plan.instance_type.name, plan.zone_ids) for plan in other_types(compile_fleet(spec))] == [
        (name, ("use2-az3",)) for name in types
    ]
    assert other_types(compile_fleet(replace(TRN1, market=MarketKind.RESERVATION))) == ()
