"""Jobs on a pool from their submission to their end, over the losses on the way."""

from dataclasses import replace

import pytest

from fleet.pool.actions import Start
from fleet.pool.job import Phase
from tests.support.pool_world import NOW, PLACE, PoolWorld, node


def running(world: PoolWorld, **changes: object) -> str:
    job = world.submit(**changes)
    world.run_until(job, Phase.RUNNING)
    return job


def test_a_pool_grows_for_a_job_runs_it_on_all_nodes_at_once_and_goes_back_to_nothing() -> None:
    world = PoolWorld()
    world.turn(5)
    assert (world.desired, world.nodes) == (0, {})

    job = world.submit()
    world.turn()
    assert world.desired == 2
    world.run_until(job, Phase.RUNNING, within=4)
    assert [task.index for task in world.of(job)] == [0, 1]
    assert len({task.container_instance for task in world.of(job)}) == 2

    world.exit(job, 0, 0)
    ended = world.run_until(job, Phase.SUCCEEDED, within=1)
    assert [rank.exit_code for rank in ended.attempts[0].ranks] == [0, 0]
    world.turn(5)
    assert world.desired == 2, "kept for the next job, for a while"
    world.turn(8)
    assert (world.desired, world.nodes) == (0, {})


def test_nothing_starts_before_all_nodes_are_there() -> None:
    world = PoolWorld(has_capacity=False)
    job = world.submit()
    world.turn(3)
    world.nodes["i-9"] = node(9)
    world.turn(30)
    assert (world.jobs[job].phase, world.desired, world.tasks) == (Phase.WAITING, 2, {})

    world.has_capacity = True
    assert world.run_until(job, Phase.RUNNING).last is not None


def test_an_interruption_ends_the_others_and_the_job_starts_again_when_its_nodes_are_there() -> None:
    world = PoolWorld()
    job = running(world)
    lost = world.of(job)[1]
    instance = next(each for each in world.nodes.values() if each.container_instance == lost.container_instance)

    world.interrupt(instance.instance_id)
    world.turn()
    assert world.jobs[job].phase is Phase.STOPPING
    again = world.run_until(job, Phase.RUNNING)

    assert [attempt.number for attempt in again.attempts] == [1, 2]
    first, second = again.attempts
    assert (first.ranks[1].reason, first.ranks[0].stop_code) == ("Host EC2 (instance terminated)", "UserInitiated")
    assert instance.instance_id not in {rank.instance_id for rank in second.ranks}
    world.exit(job, 0, 0)
    assert world.run_until(job, Phase.SUCCEEDED, within=1).reason == ""


def test_a_host_that_fails_counts_for_more_than_the_error_of_its_peer() -> None:
    world = PoolWorld()
    job = running(world)
    world.exit(job, 1)
    world.turn()
    # ECS finds out only now that the other host is gone.
    world.tasks[world.of(job)[1].arn] = replace(world.of(job)[1], stopped_at=None, stop_code="", exit_code=None)
    world._dying.clear()
    world.interrupt(next(n.instance_id for n in world.nodes.values() if n.container_instance.endswith("2")))

    assert len(world.run_until(job, Phase.RUNNING).attempts) == 2


def test_exit_code_75_of_any_node_starts_the_job_again() -> None:
    world = PoolWorld()
    job = running(world)
    world.end(world.of(job)[1], 75)
    world.turn()
    assert world.jobs[job].reason == "node 1 asked to be started again"
    assert world.run_until_attempt(job, 2).attempts[0].ranks[0].stop_code == "UserInitiated"


def test_a_programs_own_error_ends_the_job_with_its_reason() -> None:
    world = PoolWorld()
    job = running(world)
    world.end(world.of(job)[1], 3)
    failed = world.run_until(job, Phase.FAILED, within=3)
    assert failed.reason == "node 1 ended with exit code 3"
    assert len(failed.attempts) == 1


def test_a_node_that_is_done_early_does_not_end_the_job_and_the_main_node_does() -> None:
    world = PoolWorld()
    job = running(world)
    world.end(world.of(job)[1], 0)
    world.turn(3)
    assert world.jobs[job].phase is Phase.RUNNING
    world.end(world.of(job)[0], 0)
    world.run_until(job, Phase.SUCCEEDED, within=1)


def test_attempts_come_to_an_end() -> None:
    world = PoolWorld()
    job = running(world)
    for _ in range(2):
        world.exit(job, 75, 75)
        world.run_until_attempt(job, len(world.jobs[job].attempts) + 1)
    world.exit(job, 75, 75)
    failed = world.run_until(job, Phase.FAILED, within=2)
    assert failed.reason == "node 0 asked to be started again; that was attempt 3 of 3"


def test_a_start_of_which_a_part_fails_is_undone_and_tried_again() -> None:
    world = PoolWorld()
    job = world.submit()
    world.run_until(job, Phase.STARTING)
    del world.tasks[world.of(job)[1].arn]
    world.run_until(job, Phase.STOPPING, within=5)
    again = world.run_until_attempt(job, 2)
    assert again.attempts[0].ranks[1].reason == "ECS started no task on the node"
    assert all(rank.is_over for rank in again.attempts[0].ranks)


def test_a_start_that_does_not_come_about_is_given_up_in_time() -> None:
    world = PoolWorld()
    job = world.submit()
    world.turn(2)
    world._pass = lambda: None  # type: ignore[method-assign]  # images are pulled for ever
    world.turn(31)
    assert world.jobs[job].phase is Phase.STOPPING
    assert world.jobs[job].reason == "not all of its containers ran within 30 minutes"


def test_a_job_that_runs_too_long_fails_and_is_not_started_again() -> None:
    world = PoolWorld()
    job = running(world, timeout_seconds=3600)
    failed = world.run_until(job, Phase.FAILED, within=70)
    assert failed.reason == "it ran longer than 1 h"


def test_a_host_that_does_not_answer_holds_nobody_up() -> None:
    world = PoolWorld(saves=False)
    job = running(world)
    deaf = world.of(job)[1]
    world.end(world.of(job)[0], 1)
    world.turn()
    world._dying.clear()
    world._dying[deaf.arn] = NOW.replace(year=2099)
    again = world.run_until(job, Phase.WAITING, within=20)
    assert again.attempts[0].ranks[1].stop_code == "Lost"
    # Its container may still run there: the node takes no job any more, and is replaced in the end.
    used = world.run_until(job, Phase.RUNNING, within=60).attempts[1]
    assert deaf.container_instance not in {rank.container_instance for rank in used.ranks}


@pytest.mark.parametrize("when", [Phase.WAITING, Phase.RUNNING])
def test_whoever_stops_a_job_ends_it(when: Phase) -> None:
    world = PoolWorld(has_capacity=when is Phase.RUNNING)
    job = world.submit()
    world.run_until(job, when)
    world.stops[job] = "fleet jobs stop"
    failed = world.run_until(job, Phase.FAILED, within=3)
    assert failed.reason == "stopped by fleet jobs stop"


def test_jobs_start_by_priority_and_age_and_none_overtakes() -> None:
    world = PoolWorld()
    first = running(world, nodes=3)
    large, small, urgent = world.submit(nodes=4), world.submit(nodes=1), world.submit(nodes=1, priority=9)
    world.run_until(urgent, Phase.RUNNING)
    world.turn(5)
    assert (world.jobs[large].phase, world.jobs[small].phase) == (Phase.WAITING, Phase.WAITING)
    assert world.desired == 4

    world.exit(first, 0, 0, 0)
    world.exit(urgent, 0)
    world.run_until(large, Phase.RUNNING)
    assert world.jobs[small].phase is Phase.WAITING


def test_a_job_that_the_pool_has_become_too_small_for_fails() -> None:
    world = PoolWorld(place=replace(PLACE, nodes=1))
    job = world.submit()
    world.turn()
    assert world.jobs[job].reason == "it wants 2 nodes, and the pool has 1"


def test_a_pool_whose_capacity_is_paid_for_changes_no_size() -> None:
    world = PoolWorld(place=replace(PLACE, keeps_nodes=True), desired=4)
    world.turn(3)
    job = running(world)
    world.exit(job, 0, 0)
    world.turn(60)
    assert (world.desired, len(world.nodes)) == (4, 4)


def test_the_same_look_decides_the_same_and_an_attempt_once() -> None:
    world = PoolWorld()
    job = world.submit()
    world.turn(2)
    assert [type(each) for each in world.look().actions].count(Start) == 0
    assert world.look() == world.look()
    assert len(world.jobs[job].attempts) == 1


def test_all_nodes_of_a_job_are_of_one_type() -> None:
    world = PoolWorld(has_capacity=False)
    job = world.submit()
    world.turn()
    world.nodes = {"i-1": node(1), "i-2": node(2, instance_type="trn1n.32xlarge")}
    world.turn(3)
    assert world.jobs[job].phase is Phase.WAITING
    world.has_capacity = True
    assert (
        len(
            {
                world.nodes[rank.instance_id].instance_type
                for rank in world.run_until(job, Phase.RUNNING).attempts[0].ranks
            }
        )
        == 1
    )


def test_a_closed_pool_starts_nothing_lets_idle_nodes_go_and_goes_on_when_it_is_opened() -> None:
    world = PoolWorld()
    runs = world.submit(nodes=2)
    world.run_until(runs, Phase.RUNNING)
    world.is_closed = True
    waits = world.submit(nodes=2)

    world.turn(15)

    assert world.jobs[runs].phase is Phase.RUNNING
    assert (world.jobs[waits].phase, world.jobs[waits].reason) == (Phase.WAITING, "the environment's budget is used up")
    assert world.desired == 2

    world.is_closed = False
    world.turn()
    assert (world.jobs[waits].phase, world.jobs[waits].reason) == (Phase.WAITING, "")
    world.run_until(waits, Phase.RUNNING)


def test_a_job_that_is_interrupted_in_a_closed_pool_waits_until_it_is_opened() -> None:
    world = PoolWorld()
    job = world.submit(nodes=2)
    first = world.run_until(job, Phase.RUNNING).attempts[0].ranks[0].instance_id
    world.is_closed = True
    world.interrupt(first)

    world.turn(40)

    assert (world.jobs[job].phase, len(world.jobs[job].attempts), world.desired) == (Phase.WAITING, 1, 0)
    world.is_closed = False
    world.run_until_attempt(job, 2)


def test_a_job_that_cannot_start_yet_asks_for_no_node() -> None:
    world = PoolWorld()
    first = running(world, nodes=3)
    world.submit(nodes=4)
    world.submit(nodes=1)
    world.turn(20)
    assert (world.desired, len(world.nodes)) == (3, 3)
    world.exit(first, 0, 0, 0)
    world.turn()
    assert world.desired == 4
