"""Reservations, groups, quotas and addresses, judged against what a fleet needs of them."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from fleet.capacity import QuotaNeed, compile_fleet
from fleet.fleet_spec import MarketKind, Reserved
from planning.preflight.quotas import InstanceSeen, diagnose_quotas, vcpus_of_others
from planning.preflight.reservation_groups import POOL, ReservationGroupSeen, diagnose_group
from planning.preflight.reservations import ReservationSeen, diagnose_reservation
from planning.preflight.zones import NodesToCome, addresses_needed, diagnose_addresses
from tests.support.capacity import BLOCK, INF2, TRN1

TRN = "L-2C3B7624"
INF = "L-1945791B"
HELD = ReservationSeen("cr-1", "active", False, "trn1.32xlarge", "use2-az3", total=16, available=16)
NAMED = replace(TRN1, market=MarketKind.RESERVATION, reserved=Reserved(reservation_id="cr-1"))
IN_BLOCK = replace(TRN1, **BLOCK)
BOUGHT = replace(HELD, is_block=True, ends_at=BLOCK["reserved"].ends_at)


def codes(found: Any) -> dict[str, str]:
    return {each.code: each.severity.value for each in found}


def test_a_reservation_and_a_block_that_fit_are_silent() -> None:
    assert codes(diagnose_reservation(NAMED, HELD, "p")) == {}
    assert codes(diagnose_reservation(IN_BLOCK, BOUGHT, "p")) == {}


@pytest.mark.parametrize(
    ("spec", "changed", "code", "severity"),
    [
        (NAMED, {"state": "cancelled", "total": 0}, "reservation-over", "error"),
        (IN_BLOCK, {"state": "expired", "is_block": True, "total": 0}, "block-over", "error"),
        (NAMED, {"state": "pending"}, "reservation-not-ready", "warning"),
        (NAMED, {"state": "scheduled", "available": 0}, "reservation-not-started", "note"),
        (IN_BLOCK, {}, "not-a-capacity-block", "error"),
        (NAMED, {"is_block": True}, "is-a-capacity-block", "error"),
        (NAMED, {"is_targeted": False}, "reservation-open", "warning"),
        (NAMED, {"instance_type": "trn1n.32xlarge"}, "reservation-of-other-type", "error"),
        (NAMED, {"zone_id": "use2-az1"}, "reservation-in-other-zone", "error"),
        (NAMED, {"platform": "Windows"}, "reservation-of-other-platform", "error"),
        (NAMED, {"tenancy": "dedicated"}, "reservation-of-other-tenancy", "error"),
        (NAMED, {"placement_group": "near"}, "reservation-in-placement-group", "error"),
        (NAMED, {"total": 15, "available": 15}, "reservation-holds-too-few", "error"),
        (NAMED, {"available": 11}, "reservation-used-by-others", "warning"),
    ],
)
def test_each_thing_that_does_not_fit_is_said_alone(
    spec: Any, changed: dict[str, Any], code: str, severity: str
) -> None:
    # Four of the fleet's nodes run in it: with 11 free ones that makes 15 of 16, with 12 or more all.
    assert codes(diagnose_reservation(spec, replace(HELD, **changed), "p", running=4)) == {code: severity}


def test_what_is_free_and_what_the_fleet_runs_there_make_up_its_nodes() -> None:
    assert codes(diagnose_reservation(NAMED, replace(HELD, available=12), "p", running=4)) == {}


def test_the_size_of_a_block_that_has_not_started_counts_already() -> None:
    seen = replace(BOUGHT, state="scheduled", total=15, available=0)
    found = codes(diagnose_reservation(IN_BLOCK, seen, "p"))
    assert found == {"reservation-not-started": "note", "reservation-holds-too-few": "error"}


def test_a_placement_group_in_the_file_alone_is_wrong_too() -> None:
    spec = replace(NAMED, reserved=Reserved(reservation_id="cr-1", placement_group="near"))
    assert codes(diagnose_reservation(spec, HELD, "p")) == {"reservation-not-in-placement-group": "error"}
    assert codes(diagnose_reservation(spec, replace(HELD, placement_group="near"), "p")) == {}


def test_the_end_of_a_block_is_compared_to_the_minute() -> None:
    ends = BLOCK["reserved"].ends_at
    for off, expected in ((timedelta(seconds=59), {}), (timedelta(hours=1), {"reservation-end-differs": "warning"})):
        assert codes(diagnose_reservation(IN_BLOCK, replace(BOUGHT, ends_at=ends + off), "p")) == expected


@pytest.mark.parametrize(
    ("group", "members", "expected"),
    [
        (None, (), {"group-not-found": "error"}),
        (ReservationGroupSeen(("AWS::ResourceGroups::Generic",), ("cr-1",)), (), {"group-not-a-pool": "error"}),
        (ReservationGroupSeen((POOL,), ()), (), {"group-empty": "warning"}),
        (ReservationGroupSeen((POOL,), ("cr-1",)), (HELD,), {}),
        # 8 + 8 = 16 nodes.
        (ReservationGroupSeen((POOL,), ("a", "b")), (replace(HELD, total=8), replace(HELD, total=8)), {}),
        (ReservationGroupSeen((POOL,), ("a",)), (replace(HELD, total=8),), {"group-holds-too-few": "error"}),
        (ReservationGroupSeen((POOL,), ("a",)), (replace(HELD, state="expired"),), {"reservation-over": "error"}),
    ],
)
def test_a_group_is_judged_by_what_is_in_it(group: Any, members: Any, expected: dict[str, str]) -> None:
    spec = replace(NAMED, reserved=Reserved(resource_group="arn:…:group/pool"))
    assert codes(diagnose_group(spec, group, members)) == expected


def test_others_use_is_counted_once_and_blocks_not_at_all() -> None:
    instances = [
        InstanceSeen("trn1.32xlarge", "", "", None, None, None),  # 128 of others
        InstanceSeen("trn1.32xlarge", "", "", "cr-other", None, None),  # counted with its reservation
        InstanceSeen("trn2.48xlarge", "", "capacity-block", "cr-block", None, None),  # against no quota
        InstanceSeen("trn1.32xlarge", "", "", None, "prod", "pretrain"),  # ours
        InstanceSeen("trn1.32xlarge", "", "", "cr-1", None, None),  # in a reservation that the file names
        InstanceSeen("inf2.xlarge", "", "", None, "dev", "chat"),  # 4 of another environment
        InstanceSeen("inf2.xlarge", "", "spot", None, None, None),  # 4 of another quota
        InstanceSeen("m7i.large", "", "", None, None, None),  # of no quota that is known here
    ]
    reservations = [
        replace(HELD, reservation_id="cr-other", total=2),  # 2 x 128, used or not
        HELD,
        replace(HELD, reservation_id="cr-ours", environment="prod"),
        replace(HELD, reservation_id="cr-old", state="expired"),
        replace(HELD, reservation_id="cr-block", is_block=True),
    ]
    counted = vcpus_of_others(instances, reservations, "prod", ["cr-1"])
    assert counted == {TRN: 128 + 256, INF: 4, "L-B5D1601B": 4}


@pytest.mark.parametrize(
    ("value", "others", "expected"),
    [
        (2048.0, 0, {}),
        (2047.0, 0, {"quota-too-low": "error"}),
        (2048.0, 1, {"quota-used-by-others": "warning"}),
        (None, 0, {"quota-unknown": "warning"}),
    ],
)
def test_a_quota_has_to_hold_all_nodes_beside_the_others(value: Any, others: int, expected: dict[str, str]) -> None:
    need = QuotaNeed(TRN, "Running On-Demand Trn instances", 16 * 128)
    values = {} if value is None else {TRN: value}
    assert codes(diagnose_quotas([need], values, {TRN: others}, "us-east-2")) == expected


def test_addresses_are_those_of_nodes_still_to_come() -> None:
    trn1, inf2 = compile_fleet(TRN1), compile_fleet(replace(INF2, nodes=4))
    # trn1.32xlarge: 8 cards and the task, 9 a node; inf2: 1 and the task, 4 nodes over 3 zones are 2 a zone.
    fleets = [NodesToCome(trn1, 10, ("c",)), NodesToCome(inf2, 4, ("a", "b", "c"))]
    needed = addresses_needed(fleets)
    assert needed == {"a": 4, "b": 4, "c": 94}
    assert codes(diagnose_addresses(needed, {"a": 4, "c": 94})) == {}
    (found,) = diagnose_addresses(needed, {"a": 4, "b": 4, "c": 93})
    assert found.path == "network.availability_zones.c"
