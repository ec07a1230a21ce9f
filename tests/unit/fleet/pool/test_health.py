"""Unhealthy nodes are replaced: not too many, not too often, and none from under a job that has not saved."""

from dataclasses import replace
from datetime import timedelta

from fleet.pool.actions import Replace
from fleet.pool.job import Phase
from fleet.pool.observed import Fault
from tests.support.pool_world import PLACE, PoolWorld

GATE = "health gate: 15 of 16 Neuron devices"
KEPT = replace(PLACE, keeps_nodes=True)


def replacements(world: PoolWorld) -> list[str]:
    return [each.instance_id for made in world.decisions for each in made.actions if isinstance(each, Replace)]


def four() -> PoolWorld:
    world = PoolWorld(place=KEPT, desired=4)
    world.turn(3)
    return world


def test_a_node_with_a_fault_is_replaced_and_the_reason_told() -> None:
    world = four()
    world.faults.append(Fault("i-2", GATE, world.now))
    world.turn(3)
    assert replacements(world) == ["i-2"]
    assert "i-2" not in world.nodes
    assert len(world.nodes) == 4
    assert [each.reason for each in world.memory.replaced] == [GATE]


def test_a_job_saves_before_its_node_is_replaced_and_starts_again_elsewhere() -> None:
    world = four()
    world.saves = False
    job = world.submit()
    world.run_until(job, Phase.RUNNING)
    sick = world.jobs[job].attempts[0].ranks[1].instance_id
    for _ in range(9):
        world.faults.append(Fault(sick, GATE, world.now))
        world.turn()
        assert world.jobs[job].phase is Phase.STOPPING
        assert replacements(world) == []
    world.faults.append(Fault(sick, GATE, world.now))
    again = world.run_until(job, Phase.RUNNING)
    assert again.attempts[0].ranks[0].stop_code == "UserInitiated"
    assert sick not in {rank.instance_id for rank in again.attempts[1].ranks}
    world.turn(2)
    assert replacements(world) == [sick]


def test_one_node_at_a_time_where_a_share_is_no_more() -> None:
    world = four()
    world.faults += [Fault(each, GATE, world.now) for each in ("i-1", "i-2", "i-3")]
    world.turn()
    assert len(replacements(world)) == 1
    world.turn()
    assert len(replacements(world)) == 1, "the first is still on its way out"


def test_a_pool_whose_every_node_fails_is_left_standing_and_told() -> None:
    world = four()
    for _ in range(30):
        world.faults += [Fault(each, GATE, world.now) for each in world.nodes]
        world.turn()
    # Three rounds of one in an hour.
    assert len(replacements(world)) == 3
    assert GATE in world.decisions[-1].problems[0]
    world.turn(60)
    assert world.decisions[-1].problems == ()


def test_a_sick_node_gets_no_job_even_where_it_may_not_be_replaced() -> None:
    world = four()
    world.memory = replace(world.memory, replaced=tuple(Fault(f"i-{n}0", GATE, world.now) for n in range(3)))
    job = world.submit(nodes=4)
    world.faults.append(Fault("i-1", GATE, world.now + timedelta(minutes=5)))
    world.turn(4)
    assert (world.jobs[job].phase, replacements(world)) == (Phase.WAITING, [])


def test_a_node_that_never_joins_is_replaced_after_the_gates_time() -> None:
    world = four()
    world.nodes["i-3"] = replace(world.nodes["i-3"], takes_tasks=False, container_instance="")
    world.turn(26)
    assert replacements(world) == []
    world.turn(3)
    assert replacements(world) == ["i-3"]


def test_an_ecs_agent_that_comes_back_is_forgiven() -> None:
    world = four()
    for takes_tasks in (False, True, False):
        world.nodes["i-3"] = replace(world.nodes["i-3"], takes_tasks=takes_tasks)
        world.turn(14)
    assert replacements(world) == []
    world.turn(2)
    assert replacements(world) == ["i-3"]


def test_a_node_that_auto_scaling_ends_waits_for_its_job_and_no_longer() -> None:
    world = four()
    job = world.submit()
    world.run_until(job, Phase.RUNNING)
    taken = world.jobs[job].attempts[0].ranks[0].instance_id
    world.nodes[taken] = replace(world.nodes[taken], state="Terminating:Wait")
    world.turn()
    assert taken in world.nodes
    world.turn(2)
    assert taken not in world.nodes
    assert world.run_until(job, Phase.RUNNING).attempts[1].number == 2
