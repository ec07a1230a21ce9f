"""What Batch and Auto Scaling say is lacking. It is 21 November 2026, 10:03 UTC."""

from dataclasses import replace
from datetime import timedelta

import pytest

from fleet.fleet_spec import MarketKind
from fleet.reserved.assessment import nodes_to_keep
from fleet.reserved.observed import Activity, Seen
from fleet.reserved.shortage import batch_shortage, group_shortage
from tests.support.watched_capacity import (
    LONG_AGO,
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

NO_CAPACITY = (
    "CAPACITY:INSUFFICIENT_INSTANCE_CAPACITY - Service cannot fulfill the capacity requested for instance type "
    "[trn1.32xlarge]"
)
ICE = "We currently do not have sufficient inf2.48xlarge capacity in the Availability Zone you requested."
MINUTE = timedelta(minutes=1)
FAILED = Activity(NOW - 2 * MINUTE, is_over=True, has_failed=True, words=ICE)
LAUNCHING = Activity(NOW - MINUTE, is_over=False)
LAUNCHED = Activity(LONG_AGO, is_over=True)


def test_a_fleet_at_zero_misses_nothing_while_no_job_waits() -> None:
    assert batch_shortage(on_demand(), Seen(batch=batch()), NOW).nodes == 0


def test_a_job_that_has_just_come_waits_for_its_nodes_to_boot_and_nothing_is_missing() -> None:
    assert batch_shortage(on_demand(), Seen(batch=batch(job())), NOW).nodes == 0


@pytest.mark.parametrize(
    ("wanted", "running", "missing"),
    # The job wants 16 of which 12 run; another job runs on 8, this one wants 8 and gets the 8 that are left.
    [(16, 0, 16), (16, 12, 4), (8, 8, 8), (4, 14, 2), (8, 16, 0)],
)
def test_a_blocked_job_misses_what_it_wants_and_the_fleet_does_not_have(
    wanted: int, running: int, missing: int
) -> None:
    seen = Seen(nodes=nodes(running), batch=batch(job(NO_CAPACITY, count=wanted)))

    lacks = batch_shortage(on_demand(), seen, NOW)

    assert lacks.nodes == missing
    assert lacks.reason == f"Batch says of job job-1: {NO_CAPACITY}"


def test_a_job_that_is_tried_again_carries_old_words_that_say_nothing_of_capacity() -> None:
    seen = Seen(batch=batch(job("Host EC2 (instance i-1) terminated.")))

    assert batch_shortage(on_demand(), seen, NOW).nodes == 0


def test_a_job_that_no_node_could_run_is_the_jobs_fault() -> None:
    words = "MISCONFIGURATION:JOB_RESOURCE_REQUIREMENT - The job resource requirement (vCPU/memory/GPU) is higher"

    lacks = batch_shortage(on_demand(), Seen(batch=batch(job(words))), NOW)

    assert lacks.nodes == 0
    assert words in str(lacks.reason)


def test_an_invalid_compute_environment_launches_nothing_whether_jobs_wait_or_not() -> None:
    words = "CLIENT_ERROR - Launch template lt-1 does not exist"

    lacks = batch_shortage(on_demand(), Seen(nodes=nodes(3), batch=batch(status="INVALID", words=words)), NOW)

    # 16 - 3
    assert (lacks.nodes, lacks.reason) == (13, f"Batch says that the compute environment is INVALID: {words}")


def test_a_fleet_that_somebody_closed_misses_nothing_and_its_waiting_jobs_are_mentioned() -> None:
    closed = batch(job(NO_CAPACITY), state="DISABLED")

    assert batch_shortage(on_demand(), Seen(batch=closed), NOW).nodes == 0
    assert batch_shortage(on_demand(), Seen(batch=closed), NOW).reason == (
        "1 jobs wait and the compute environment is DISABLED"
    )
    assert batch_shortage(on_demand(), Seen(batch=batch(state="DISABLED")), NOW).reason is None
    assert batch_shortage(block_place(), Seen(batch=closed), NOW).action is None


@pytest.mark.parametrize(
    ("waits", "desired", "running", "missing"),
    [(29, 16, 0, 0), (30, 16, 0, 16), (30, 16, 10, 6), (30, 16, 16, 0), (30, 0, 0, 0)],
)
def test_silence_is_an_excuse_for_half_an_hour_while_batch_wants_more_than_runs(
    waits: int, desired: int, running: int, missing: int
) -> None:
    waiting = batch(job(waits=waits * MINUTE), desired_vcpus=desired * 128)

    assert batch_shortage(on_demand(), Seen(nodes=nodes(running), batch=waiting), NOW).nodes == missing


def test_a_node_that_has_just_been_launched_shows_that_capacity_comes() -> None:
    waiting = batch(job(waits=40 * MINUTE), desired_vcpus=2048)
    seen = Seen(nodes=nodes(1, launched_at=NOW - 14 * MINUTE), batch=waiting)

    assert batch_shortage(on_demand(), seen, NOW).nodes == 0


def test_a_group_with_all_its_nodes_misses_nothing() -> None:
    assert group_shortage(endpoint(), Seen(group=group(4, LAUNCHED)), NOW).nodes == 0


def test_a_group_without_capacity_quotes_auto_scaling() -> None:
    lacks = group_shortage(endpoint(), Seen(group=group(1, FAILED, LAUNCHED)), NOW)

    assert (lacks.nodes, lacks.reason) == (3, f"Auto Scaling says: {ICE}")


def test_the_next_attempt_after_a_failure_is_no_reason_to_hope() -> None:
    lacks = group_shortage(endpoint(), Seen(group=group(1, LAUNCHING, FAILED)), NOW)

    assert lacks.nodes == 3


def test_of_several_launches_the_one_that_failed_gives_the_reason_for_an_hour() -> None:
    launched = Activity(NOW - MINUTE, is_over=True)

    def reason(minutes: int) -> str:
        failed = Activity(NOW - minutes * MINUTE, is_over=True, has_failed=True, words=ICE)
        return str(group_shortage(endpoint(), Seen(group=group(3, launched, failed)), NOW).reason)

    assert reason(59) == f"Auto Scaling says: {ICE}"
    assert "gives no reason" in reason(60)


@pytest.mark.parametrize(("minutes", "missing"), [(0, 0), (14, 0), (15, 1)])
def test_a_launch_has_a_quarter_of_an_hour(minutes: int, missing: int) -> None:
    begun = Activity(NOW - minutes * MINUTE, is_over=False)

    assert group_shortage(endpoint(), Seen(group=group(3, begun, LAUNCHED)), NOW).nodes == missing


@pytest.mark.parametrize(("minutes", "missing"), [(0, 0), (14, 0), (15, 1)])
def test_a_node_that_boots_is_not_missing_for_a_quarter_of_an_hour_even_after_a_failure(
    minutes: int, missing: int
) -> None:
    booting = Seen(nodes=nodes(4, launched_at=NOW - minutes * MINUTE), group=group(3, FAILED, pending=1))

    assert group_shortage(endpoint(), booting, NOW).nodes == missing


def test_a_pending_member_and_its_launch_are_one_node() -> None:
    # 4 - 2 in service - 1 that boots.
    seen = Seen(nodes=nodes(3, launched_at=NOW), group=group(2, LAUNCHING, LAUNCHED, pending=1))

    assert group_shortage(endpoint(), seen, NOW).nodes == 1


def test_what_is_missing_without_words_says_that_there_are_none() -> None:
    lacks = group_shortage(endpoint(), Seen(group=group(2, LAUNCHED)), NOW)

    assert (lacks.nodes, lacks.reason) == (2, "2 of 4 nodes are in service, Auto Scaling wants 4 and gives no reason")


@pytest.mark.parametrize(("minutes", "missing"), [(1, 0), (14, 0), (15, 4)])
def test_a_group_that_is_never_asked_for_its_nodes_misses_them_a_quarter_of_an_hour_after_the_deployment(
    minutes: int, missing: int
) -> None:
    fleet = endpoint(deployed_at=NOW - minutes * MINUTE)

    assert group_shortage(fleet, Seen(group=group(0, desired=0)), NOW).nodes == missing


def test_a_group_that_cannot_have_what_it_was_just_asked_for_misses_it_at_once() -> None:
    assert group_shortage(endpoint(deployed_at=NOW - MINUTE), Seen(group=group(0, FAILED)), NOW).nodes == 4


def test_spot_and_on_demand_are_advised_differently() -> None:
    seen = Seen(group=group(0, FAILED))

    assert "buy on demand" in str(group_shortage(endpoint(market=MarketKind.SPOT), seen, NOW).action)
    assert "reserve" in str(group_shortage(endpoint(), seen, NOW).action)


@pytest.mark.parametrize("words", [NO_CAPACITY, "UNDETERMINED", ""])
def test_a_job_that_waits_for_a_block_to_start_misses_nothing_until_its_nodes_had_time_to_be_launched(
    words: str,
) -> None:
    waits = batch(job(words, count=8, waits=timedelta(hours=3)), desired_vcpus=8 * 192)

    def missing(starts_in: timedelta, state: str) -> int:
        delivered = block(state=state, starts_at=NOW + starts_in, available=8)
        return batch_shortage(block_place(), Seen((delivered,), batch=waits), NOW).nodes

    assert missing(timedelta(days=2), "scheduled") == 0
    assert missing(-14 * MINUTE, "active") == 0
    assert missing(-15 * MINUTE, "active") == 8


def test_what_is_wrong_with_a_fleet_is_told_before_its_block_starts() -> None:
    words = "MISCONFIGURATION:SERVICE_ROLE_PERMISSIONS - The service role may not launch"
    later = block(state="scheduled", starts_at=NOW + timedelta(hours=3))

    lacks = batch_shortage(block_place(), Seen((later,), batch=batch(job(words, count=8))), NOW)

    assert (lacks.nodes, lacks.reason) == (8, f"Batch says of job job-1: {words}")


def test_a_second_reservation_on_its_way_does_not_excuse_a_first_that_is_whole() -> None:
    both = (reservation(), reservation(reservation_id="cr-2", state="pending", created_at=NOW))

    assert batch_shortage(named(), Seen(both, batch=batch(job(NO_CAPACITY))), NOW).nodes == 16


def test_a_pool_lacks_only_what_its_jobs_have_asked_for() -> None:
    pool = endpoint(is_pool=True, market=MarketKind.SPOT, auto_scaling_group="pool")
    asleep = Seen(group=group(0, desired=0))
    assert group_shortage(pool, asleep, NOW).nodes == 0
    assert group_shortage(endpoint(), asleep, NOW).nodes == 4
    failed = Activity(NOW - timedelta(minutes=5), is_over=True, has_failed=True, words="no Spot capacity")
    lacking = group_shortage(pool, Seen(group=group(1, failed, desired=3)), NOW)
    assert (lacking.nodes, lacking.reason) == (2, "Auto Scaling says: no Spot capacity")
    assert "alternative_types" in str(lacking.action)


@pytest.mark.parametrize(
    ("held", "desired", "keeps"),
    [(16, 0, 16), (16, 16, None), (12, 0, 12), (20, 0, 16), (12, 16, None), (0, 0, None)],
)
def test_a_reserved_pool_is_kept_as_large_as_its_reservation_and_never_made_smaller(
    held: int, desired: int, keeps: int | None
) -> None:
    pool = place(compute_environment=None, queue=None, auto_scaling_group="pool", is_pool=True)
    reserved = (reservation(total=held, available=held),) if held else ()
    seen = Seen(reservations=reserved, group=group(desired, desired=desired))
    assert nodes_to_keep(pool, seen, NOW) == keeps
    assert nodes_to_keep(replace(pool, is_pool=False), seen, NOW) is None
    assert nodes_to_keep(replace(pool, market=MarketKind.SPOT), seen, NOW) is None


def test_an_endpoint_that_scales_lacks_nothing_of_what_its_load_does_not_want() -> None:
    few = Seen(group=replace(group(2, LAUNCHED), desired=2))

    assert group_shortage(endpoint(), few, NOW).nodes == 2
    assert group_shortage(replace(endpoint(), scales=True), few, NOW).nodes == 0
