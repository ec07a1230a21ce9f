"""Nodes that go through the same live once for all of them, and keep names and unsent minutes of their own."""

from local.replay.generator.corpus import generate
from local.replay.life import life
from local.replay.node import Printer, ReplayedNode

START = 1_790_000_040 // 60 * 60
SCENARIO = generate("waste-02")


def nodes(*indexes: int) -> list[ReplayedNode]:
    printer = Printer(20)
    (name,) = SCENARIO.fleets
    return [ReplayedNode(name, life(SCENARIO, name, index, START), START, printer, 20) for index in indexes]


def test_a_node_that_is_like_another_has_its_own_name_and_the_same_figures() -> None:
    first, other = nodes(0, 2)
    (one, of_one), (two, of_two) = first.minute(0, reachable=True), other.minute(0, reachable=True)

    assert one is not None
    assert two is not None
    assert (one.node.name, two.node.name) == ("fleet-0", "fleet-2")
    assert (one.figures is two.figures, of_one == of_two) == (True, True)


def test_what_one_cannot_send_waits_with_it_alone() -> None:
    first, other = nodes(0, 2)
    first.minute(0, reachable=True)
    other.minute(0, reachable=False)
    (one, of_one), (two, of_two) = first.minute(1, reachable=True), other.minute(1, reachable=True)

    assert one is not None
    assert two is not None
    assert one.own.spool_bytes == 0
    assert (two.own.spool_bytes or 0) > 0
    assert len(of_two) > len(of_one)


def test_a_node_with_an_event_of_its_own_is_like_no_other() -> None:
    (name,) = SCENARIO.fleets
    fleet = SCENARIO.fleets[name]
    event = {"nodes": (2,), "at": 0, "kind": "monitor-death"}
    changed = fleet.model_validate({**fleet.model_dump(), "events": (event,)})
    scenario = SCENARIO.model_copy(update={"fleets": {name: changed}})
    printer = Printer(20)
    first, other = (ReplayedNode(name, life(scenario, name, at, START), START, printer, 20) for at in (0, 2))

    assert first.minute(0, reachable=True)[0] != other.minute(0, reachable=True)[0]
