"""What is said each minute, in figures and dollars. It is 21 November 2026, 10:03:20 UTC."""

from datetime import UTC, datetime, timedelta

import pytest

from fleet.fleet_spec import MarketKind
from fleet.reserved.assessment import assess, vcpus_to_keep
from fleet.reserved.observed import Activity, Seen, Stack
from tests.support.watched_capacity import (
    NOW,
    batch,
    block,
    block_place,
    endpoint,
    group,
    job,
    named,
    nodes,
    on_demand,
    place,
    reservation,
)

MINUTE = timedelta(minutes=1)


def test_unused_instances_of_a_reservation_are_priced_on_demand() -> None:
    said = assess(place(), Seen((reservation(available=3),), nodes=nodes(13, "cr-1")), NOW)

    assert (said.reserved, said.used, said.unused, said.missing) == (16, 13, 3, 0)
    # trn1.32xlarge is 21.50 $/h: 3 x 21.50.
    assert said.unused_usd_per_hour == pytest.approx(64.50)
    assert said.price is not None
    assert (said.price.kind, said.price.as_of) == ("on-demand", "2026-10-03")


def test_unused_instances_of_a_block_are_priced_as_a_block() -> None:
    said = assess(block_place(), Seen((block(available=2),)), NOW)

    # trn2.48xlarge in a block is 35.7608 $/h: 2 x 35.7608.
    assert said.unused == 2
    assert said.unused_usd_per_hour == pytest.approx(71.5216)
    assert said.price is not None
    assert (said.price.kind, said.price.as_of) == ("capacity-block", "2026-10-09")


def test_without_a_price_the_unused_are_counted_and_dollars_are_absent() -> None:
    fleet = named(instance_type="trn2.48xlarge")

    said = assess(fleet, Seen((reservation(instance_type="trn2.48xlarge", available=5),)), NOW)

    assert (said.unused, said.price, said.unused_usd_per_hour) == (5, None, None)


def test_a_reservation_in_another_zone_is_paid_for_and_of_no_use() -> None:
    said = assess(named(), Seen((reservation(zone="us-east-2a", available=16),)), NOW)

    assert (said.reserved, said.unused, said.missing) == (16, 16, 16)


def test_what_lies_idle_of_another_type_is_counted_at_the_price_of_that_type() -> None:
    wrong = reservation(instance_type="trn1.2xlarge", available=16)

    said = assess(named(), Seen((wrong,)), NOW)

    # trn1.2xlarge is 1.34375 $/h: 16 x 1.34375.
    assert said.unused_usd_per_hour == pytest.approx(21.50)
    assert said.price is not None
    assert said.price.usd_per_hour == pytest.approx(1.34375)


def test_idle_instances_of_two_types_have_dollars_and_no_one_price() -> None:
    idle = (reservation(available=2), reservation(reservation_id="cr-2", instance_type="trn1.2xlarge", available=4))

    said = assess(place(), Seen(idle), NOW)

    # 2 x 21.50 + 4 x 1.34375 = 43 + 5.375
    assert (said.unused, said.price) == (6, None)
    assert said.unused_usd_per_hour == pytest.approx(48.375)


def test_idle_instances_of_a_type_that_nobody_knows_are_counted_and_their_dollars_are_absent() -> None:
    idle = (reservation(available=2), reservation(reservation_id="cr-2", instance_type="m7i.large", available=4))

    said = assess(place(), Seen(idle), NOW)

    assert (said.unused, said.price, said.unused_usd_per_hour) == (6, None, None)


def test_of_a_group_that_fleets_share_only_what_the_fleet_can_use_is_its_own() -> None:
    fleet = named(reservation_id=None, resource_group="arn:aws:resource-groups:us-east-2:111122223333:group/all")
    others = (
        reservation(reservation_id="cr-2", instance_type="inf2.xlarge", total=10, available=10),
        reservation(reservation_id="cr-3", zone="us-east-2a", total=4, available=4),
    )

    said = assess(fleet, Seen((reservation(available=3), *others)), NOW)

    assert (said.reserved, said.used, said.unused) == (16, 13, 3)
    # 3 x 21.50
    assert said.unused_usd_per_hour == pytest.approx(64.50)


def test_a_fleet_that_reserved_nothing_has_no_figures_of_reservations() -> None:
    said = assess(on_demand(), Seen(batch=batch()), NOW)

    assert (said.reserved, said.used, said.unused, said.unused_usd_per_hour, said.block_minutes_left) == (None,) * 5
    assert (said.missing, said.reason, said.action) == (0, None, None)


def test_what_is_pending_or_over_is_not_reserved() -> None:
    both = (reservation(state="pending", created_at=NOW), reservation(reservation_id="cr-0", state="expired"))

    assert assess(place(), Seen(both), NOW).reserved == 0


def test_a_blocks_last_35_minutes_are_for_letting_go_and_count_as_no_waste() -> None:
    end = datetime(2026, 11, 23, 11, 30, tzinfo=UTC)
    idle = Seen((block(available=8),))

    assert assess(block_place(), idle, end - 36 * MINUTE).unused == 8
    assert assess(block_place(), idle, end - 35 * MINUTE).unused == 0
    assert assess(block_place(), idle, end - 35 * MINUTE).unused_usd_per_hour == 0.0
    assert assess(block_place(), idle, end - 35 * MINUTE).reserved == 8


def test_a_reservation_that_ends_is_unused_until_its_last_minute() -> None:
    # Nothing is drained there: its nodes run on.
    seen = Seen((reservation(available=2, ends_at=NOW + 5 * MINUTE),))

    assert assess(place(), seen, NOW).unused == 2


def test_the_minutes_that_a_block_has_left_are_whole_ones() -> None:
    # From 21 November 10:03:20 to 23 November 11:30: 49 h 26 min 40 s.
    assert assess(block_place(), Seen((block(),)), NOW).block_minutes_left == 49 * 60 + 26


def test_of_two_blocks_the_one_that_ends_first_counts() -> None:
    both = (block(total=4), block(reservation_id="cr-2", total=4, ends_at=NOW + 90 * MINUTE))

    assert assess(block_place(), Seen(both), NOW).block_minutes_left == 90
    assert assess(block_place(), Seen(both), NOW).ends_at == NOW + 90 * MINUTE


def test_a_reservation_with_an_end_has_no_block_minutes() -> None:
    said = assess(place(), Seen((reservation(ends_at=NOW + 90 * MINUTE),)), NOW)

    assert (said.block_minutes_left, said.ends_at) == (None, NOW + 90 * MINUTE)


def test_every_minute_of_a_blocks_life_is_counted_down_and_an_extension_counts_up_again() -> None:
    start = datetime(2026, 11, 22, 9, 0, tzinfo=UTC)
    end, extended = start + timedelta(hours=26), start + timedelta(hours=50)
    extended_at = start + timedelta(hours=20)

    counted = []
    for minute in range(51 * 60):
        now = start + minute * MINUTE
        ends = end if now < extended_at else extended
        state = "active" if now < ends else "expired"
        seen = Seen((block(state=state, starts_at=start, ends_at=ends),))
        counted.append(assess(block_place(), seen, now).block_minutes_left)

    # 20 h down from 26 h, then 30 h down from 30 h, then nothing.
    assert counted[: 20 * 60] == list(range(26 * 60, 6 * 60, -1))
    assert counted[20 * 60 : 50 * 60] == list(range(30 * 60, 0, -1))
    assert counted[50 * 60 :] == [None] * 60


def test_the_root_cause_goes_before_its_consequence() -> None:
    seen = Seen(
        batch=batch(job("CAPACITY:INSUFFICIENT_INSTANCE_CAPACITY - no")),
        stack=Stack(exists=True, failure="no capacity"),
    )

    said = assess(place(), seen, NOW)

    assert (said.missing, said.reason) == (16, "the reservation could not be made: no capacity")


def test_a_whole_reservation_does_not_hide_that_nodes_cannot_be_launched() -> None:
    words = "CLIENT_ERROR - Not authorized"
    seen = Seen((reservation(available=16),), batch=batch(status="INVALID", words=words))

    said = assess(place(), seen, NOW)

    assert said.missing == 16
    assert words in str(said.reason)


def test_an_endpoint_on_a_reservation_that_failed_runs_on_demand_and_misses_nothing() -> None:
    fleet = endpoint(market=MarketKind.RESERVATION, own_group="g", reservation_stack="s")
    seen = Seen(nodes=nodes(4), group=group(4), stack=Stack(exists=True, failure="no capacity"))

    assert assess(fleet, seen, NOW).missing == 0


def test_an_endpoint_without_capacity_misses_its_nodes() -> None:
    failed = Activity(NOW, is_over=True, has_failed=True, words="no capacity")

    assert assess(endpoint(market=MarketKind.SPOT), Seen(group=group(1, failed)), NOW).missing == 3


@pytest.mark.parametrize(
    ("total", "minimum", "keep"),
    [
        # 16 x 128 vCPUs, and 12 x 128.
        (16, 0, 2048),
        (12, 0, 1536),
        (12, 2048, 1536),
        # More than the fleet has nodes.
        (20, 0, 2048),
        # As it should be.
        (16, 2048, None),
    ],
)
def test_a_fleet_keeps_the_nodes_that_are_reserved_for_it(total: int, minimum: int, keep: int | None) -> None:
    seen = Seen((reservation(total=total, available=total),), batch=batch(minimum_vcpus=minimum))

    assert vcpus_to_keep(place(), seen, NOW) == keep


def test_no_more_is_kept_than_the_environment_may_have() -> None:
    assert vcpus_to_keep(place(), Seen((reservation(),), batch=batch(maximum_vcpus=1024)), NOW) == 1024


@pytest.mark.parametrize("state", ["expired", "cancelled", "failed"])
def test_a_reservation_that_is_gone_keeps_nothing(state: str) -> None:
    seen = Seen((reservation(state=state),), batch=batch(minimum_vcpus=2048))

    assert vcpus_to_keep(place(), seen, NOW) == 0


def test_a_reservation_in_another_zone_keeps_nothing() -> None:
    assert vcpus_to_keep(named(), Seen((reservation(zone="us-east-2a"),), batch=batch()), NOW) is None


def test_blocks_on_demand_fleets_and_endpoints_are_left_to_others() -> None:
    assert vcpus_to_keep(block_place(), Seen((block(),), batch=batch()), NOW) is None
    assert vcpus_to_keep(on_demand(), Seen(batch=batch(minimum_vcpus=128)), NOW) is None
    assert vcpus_to_keep(endpoint(market=MarketKind.RESERVATION), Seen(group=group(4)), NOW) is None


def test_an_environment_that_somebody_closed_or_that_batch_changes_is_left_alone() -> None:
    whole = (reservation(),)

    assert vcpus_to_keep(place(), Seen(whole, batch=batch(state="DISABLED")), NOW) is None
    assert vcpus_to_keep(place(), Seen(whole, batch=batch(status="UPDATING")), NOW) is None
    # To let go of what is not reserved any more asks nothing of a closed environment.
    assert vcpus_to_keep(place(), Seen(batch=batch(state="DISABLED", minimum_vcpus=128)), NOW) == 0
