"""What a fleet of sixteen lacks of its reservation, and why. It is 21 November 2026, 10:03 UTC."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from fleet.reserved.observed import FleetDeployment, Seen, Stack
from fleet.reserved.reservation_shortage import reservation_shortage
from tests.support.watched_capacity import (
    NOW,
    batch,
    block,
    block_place,
    job,
    named,
    nodes,
    on_demand,
    place,
    reservation,
)

ICE = (
    'Resource handler returned message: "We currently do not have sufficient trn1.32xlarge capacity in the '
    'Availability Zone you requested (us-east-2c)." (Service: Ec2, Status Code: 500)'
)
MINUTE = timedelta(minutes=1)
GROUP_ARN = "arn:aws:resource-groups:us-east-2:111122223333:group/ultra"


def test_a_reservation_of_the_fleets_size_lacks_nothing() -> None:
    assert reservation_shortage(place(), Seen((reservation(),)), NOW).nodes == 0
    assert reservation_shortage(place(), Seen((reservation(),)), NOW).reason is None


def test_a_fleet_that_reserved_nothing_lacks_nothing_here() -> None:
    assert reservation_shortage(on_demand(), Seen(), NOW).nodes == 0


def test_a_reservation_that_could_not_be_made_is_missing_whole_and_quotes_cloudformation() -> None:
    lacks = reservation_shortage(place(), Seen(stack=Stack(exists=True, failure=ICE)), NOW)

    assert lacks.nodes == 16
    assert lacks.reason == f"the reservation could not be made: {ICE}"
    assert lacks.action == (
        "deploy stack neuron-fleet-prod-reservation-pretrain again; if EC2 has no capacity in us-east-2c, "
        "try fewer nodes, another zone or a Capacity Block"
    )


def test_nodes_that_run_on_demand_meanwhile_are_not_missing() -> None:
    # 16 wanted, 5 run without a reservation: 11.
    seen = Seen(nodes=nodes(5), stack=Stack(exists=True, failure=ICE))

    assert reservation_shortage(place(), seen, NOW).nodes == 11


@pytest.mark.parametrize(("minutes", "missing"), [(1, 0), (14, 0), (15, 16), (40, 16)])
def test_a_stack_that_is_being_deployed_has_a_quarter_of_an_hour(minutes: int, missing: int) -> None:
    seen = Seen(stack=Stack(exists=True, is_busy_since=NOW - minutes * MINUTE))

    assert reservation_shortage(place(), seen, NOW).nodes == missing


def test_a_stack_that_was_never_deployed_is_named() -> None:
    lacks = reservation_shortage(place(), Seen(stack=Stack(exists=False)), NOW)

    assert (lacks.nodes, lacks.reason) == (16, "stack neuron-fleet-prod-reservation-pretrain is not deployed")


def test_a_smaller_reservation_lacks_the_rest_and_says_why_it_could_not_grow() -> None:
    seen = Seen((reservation(total=12),), stack=Stack(exists=True, failure=ICE))

    lacks = reservation_shortage(place(), seen, NOW)

    assert (lacks.nodes, lacks.reason) == (4, f"the reservation holds 12 of the fleet's 16 nodes: {ICE}")


@pytest.mark.parametrize(("minutes", "missing"), [(1, 0), (14, 0), (15, 4)])
def test_a_fleet_that_has_just_grown_waits_for_its_reservations_stack(minutes: int, missing: int) -> None:
    grown = place(deployed_at=NOW - minutes * MINUTE)

    assert reservation_shortage(grown, Seen((reservation(total=12),)), NOW).nodes == missing


@pytest.mark.parametrize(("minutes", "missing"), [(1, 0), (14, 0), (15, 16)])
def test_a_fleet_that_is_deployed_for_the_first_time_waits_for_its_reservations_stack(
    minutes: int, missing: int
) -> None:
    new = place(deployed_at=NOW - minutes * MINUTE)

    assert reservation_shortage(new, Seen(stack=Stack(exists=False)), NOW).nodes == missing


def test_a_failure_is_no_matter_of_patience() -> None:
    new = place(deployed_at=NOW - MINUTE)
    failed = Stack(exists=True, failure=ICE)

    assert reservation_shortage(new, Seen(stack=failed), NOW).nodes == 16
    assert reservation_shortage(new, Seen((reservation(total=12),), stack=failed), NOW).nodes == 4


def test_two_reservations_of_a_group_add_up() -> None:
    both = (reservation(total=10), reservation(reservation_id="cr-2", total=6))
    fleet = named(reservation_id=None, resource_group=GROUP_ARN)

    assert reservation_shortage(fleet, Seen(both), NOW).nodes == 0


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"zone": "us-east-2a"}, "is for trn1.32xlarge in us-east-2a, and the fleet needs trn1.32xlarge in us-east-2c"),
        ({"instance_type": "trn1n.32xlarge"}, "is for trn1n.32xlarge in us-east-2c, and the fleet needs trn1.32xlarge"),
    ],
)
def test_a_reservation_that_no_node_fits_into_is_as_good_as_none(changed: dict[str, str], reason: str) -> None:
    lacks = reservation_shortage(named(), Seen((reservation(**changed),)), NOW)

    assert lacks.nodes == 16
    assert reason in str(lacks.reason)


@pytest.mark.parametrize(
    ("state", "missing"),
    [
        ("active", 0),
        ("assessing", 0),
        ("scheduled", 0),
        ("payment-pending", 0),
        ("delayed", 16),
        ("cancelled", 16),
        ("cancelling", 16),
        ("failed", 16),
        ("payment-failed", 16),
        ("unsupported", 16),
        ("unavailable", 16),
        ("a-state-of-next-year", 16),
        # It ended as planned, and no job waits.
        ("expired", 0),
    ],
)
def test_every_state_of_ec2_before_its_start(state: str, missing: int) -> None:
    seen = Seen((reservation(state=state, starts_at=NOW + timedelta(hours=3)),))

    lacks = reservation_shortage(named(), seen, NOW)

    assert lacks.nodes == missing
    assert state == "active" or lacks.reason


def test_a_block_that_starts_later_is_not_missing_and_says_when_it_starts() -> None:
    later = block(state="scheduled", starts_at=NOW + timedelta(hours=1, minutes=27, seconds=-20))

    lacks = reservation_shortage(block_place(), Seen((later,)), NOW)

    assert (lacks.nodes, lacks.reason) == (0, "Capacity Block cr-1 is scheduled and starts at 2026-11-21 11:30 UTC")


@pytest.mark.parametrize(("minutes", "missing"), [(0, 0), (14, 0), (15, 8)])
def test_a_block_that_should_have_started_is_missing_after_a_quarter_of_an_hour(minutes: int, missing: int) -> None:
    late = block(state="scheduled", starts_at=NOW - minutes * MINUTE)

    assert reservation_shortage(block_place(), Seen((late,)), NOW).nodes == missing


@pytest.mark.parametrize(("minutes", "missing"), [(1, 0), (14, 0), (15, 16)])
def test_a_pending_reservation_has_a_quarter_of_an_hour_from_its_creation(minutes: int, missing: int) -> None:
    pending = reservation(state="pending", created_at=NOW - minutes * MINUTE)

    assert reservation_shortage(place(), Seen((pending,)), NOW).nodes == missing


def test_part_on_its_way_is_subtracted_from_what_is_missing() -> None:
    # 16 - 8 active - 4 pending = 4.
    seen = Seen((reservation(total=8), reservation(reservation_id="cr-2", total=4, state="pending", created_at=NOW)))

    assert reservation_shortage(named(), seen, NOW).nodes == 4


@pytest.mark.parametrize("state", ["active", "expired"])
def test_a_block_that_is_over_is_missing_only_by_what_waits(state: str) -> None:
    over = block(state=state, ends_at=NOW - MINUTE)

    nothing_waits = reservation_shortage(block_place(), Seen((over,), batch=batch()), NOW)
    six_wait = reservation_shortage(block_place(), Seen((over,), batch=batch(job(count=6))), NOW)

    assert (nothing_waits.nodes, six_wait.nodes) == (0, 6)
    assert nothing_waits.reason == "Capacity Block cr-1 ended at 2026-11-21 10:02 UTC"


def test_a_block_that_ec2_forgot_after_its_end_is_over_all_the_same() -> None:
    fleet = block_place(ends_at=datetime(2026, 11, 20, 11, 30, tzinfo=UTC))

    lacks = reservation_shortage(fleet, Seen(batch=batch()), NOW)

    assert (lacks.nodes, lacks.reason) == (0, "the Capacity Block ended at 2026-11-20 11:30 UTC")


@pytest.mark.parametrize(
    ("fleet", "reason"),
    [
        (named(), "EC2 does not show cr-1 in this account and region"),
        (block_place(), "EC2 does not show cr-1 in this account and region"),
        (named(reservation_id=None, resource_group=GROUP_ARN), "resource group ultra holds no reservation"),
    ],
)
def test_a_reservation_that_is_not_there_is_named(fleet: FleetDeployment, reason: str) -> None:
    lacks = reservation_shortage(fleet, Seen(), NOW)

    assert (lacks.nodes, lacks.reason) == (fleet.nodes, reason)


def test_nodes_beside_an_idle_reservation_are_paid_for_twice_and_that_is_said() -> None:
    seen = Seen((reservation(available=4),), nodes=(*nodes(12, "cr-1"), *nodes(4)))

    lacks = reservation_shortage(place(), seen, NOW)

    assert lacks.nodes == 0
    assert lacks.reason == (
        "4 nodes run outside the reservation while 4 reserved instances are idle: both are paid for"
    )


def test_a_failure_of_long_ago_does_not_explain_a_reservation_that_is_whole() -> None:
    seen = Seen((reservation(),), stack=Stack(exists=True, failure=ICE))

    assert reservation_shortage(place(), seen, NOW).reason is None


def test_words_of_aws_are_one_line_and_not_a_page() -> None:
    failure = "no\ncapacity\t" + "x" * 1000

    reason = str(reservation_shortage(place(), Seen(stack=Stack(exists=True, failure=failure)), NOW).reason)

    assert reason.startswith("the reservation could not be made: no capacity xxx")
    assert "\n" not in reason
    assert len(reason) < 450


def test_the_newest_of_several_ended_reservations_gives_the_reason() -> None:
    old = reservation(reservation_id="cr-old", state="failed")
    new = replace(reservation(reservation_id="cr-new", state="cancelled"), created_at=NOW - MINUTE)

    assert reservation_shortage(place(), Seen((old, new)), NOW).reason == "reservation cr-new is cancelled"


def test_a_reservation_made_here_that_ec2_forgot_after_its_end_is_over_all_the_same() -> None:
    fleet = place(ends_at=NOW - timedelta(days=1))
    seen = Seen(batch=batch(), stack=Stack(exists=True))

    lacks = reservation_shortage(fleet, seen, NOW)

    assert (lacks.nodes, lacks.reason) == (0, "the reservation ended at 2026-11-20 10:03 UTC")
    assert lacks.action == (
        "delete stack neuron-fleet-prod-reservation-pretrain, then deploy it with another end_date, or take the fleet "
        "out of the file"
    )


def test_a_reservation_that_ended_before_the_file_prolonged_it_is_missing() -> None:
    ended = Seen((reservation(state="expired", ends_at=NOW - timedelta(hours=1)),), stack=Stack(exists=True))
    refused = replace(ended, stack=Stack(exists=True, failure="it has expired"))
    longer = place(ends_at=NOW + timedelta(days=1))
    new = replace(longer, deployed_at=NOW - MINUTE)

    assert [reservation_shortage(fleet, ended, NOW).nodes for fleet in (longer, new)] == [16, 0]
    lacks = reservation_shortage(new, refused, NOW)
    assert (lacks.nodes, lacks.reason) == (
        16,
        "reservation cr-1 ended at 2026-11-21 09:03 UTC, and the fleet's file wants it for longer: it has expired",
    )


def test_a_fleet_of_another_type_hears_why_its_new_reservation_could_not_be_made_while_the_old_one_stays() -> None:
    changed = place(instance_type="trn2.48xlarge")
    seen = Seen((reservation(available=16),), stack=Stack(exists=True, failure=ICE))

    lacks = reservation_shortage(changed, seen, NOW)

    assert (lacks.nodes, lacks.reason) == (16, f"the reservation could not be made: {ICE}")
