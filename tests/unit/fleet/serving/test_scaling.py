"""When nodes come and leave, as data: what cannot work is refused, and one node never leaves for a low load."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet.alarms.specs import AlarmSpec, Area, Severity, TreatMissingData
from fleet.serving.scaling import ROOM, Targets, may_leave, mistakes, nodes_for
from fleet.serving.scaling_policies import Move, Rule, rules, tracked
from local.alarm_evaluation import State
from tests.support.alarm_minutes import Minute, last_state
from tests.support.scaled_endpoint import NAMES, scaling

QUIET: Minute = {"RequestsInFlightPerCore": 0.4, "NeuronCoreUtilization": 6.0, "GroupInServiceInstances": 4.0}


def rule(move: Move, **changes: Any) -> AlarmSpec:
    """As an alarm, which is how it is deployed."""
    found: dict[Move, Rule] = {each.move: each for each in rules(scaling(**changes), "prod", "chat", NAMES)}
    chosen = found[move]
    return AlarmSpec(
        environment="prod", subject="chat", area=Area.ENDPOINT, key=move.name, title="", severity=Severity.TICKET,
        summary="", action="",
        metric=chosen.metric, comparison=chosen.comparison, threshold=chosen.threshold,
        datapoints=(chosen.minutes, chosen.minutes), silence=TreatMissingData.NOT_BREACHING,
    )  # fmt: skip


def test_each_target_is_tracked_by_the_average_over_nodes() -> None:
    found = tracked(scaling(), "prod", "chat")

    assert {name: (each.metric.name, each.metric.statistic, each.target) for name, each in found.items()} == {
        "requests_in_flight_per_core": ("RequestsInFlightPerCore", "Average", 4),
        "queue_seconds": ("QueueSeconds", "Average", 0.5),
        "core_utilization_percent": ("NeuronCoreUtilization", "Average", 60),
    }
    assert list(tracked(scaling(targets=Targets(core_utilization_percent=60)), "prod", "chat")) == [
        "core_utilization_percent"
    ]


@pytest.mark.parametrize(
    ("changes", "codes"),
    [
        ({}, []),
        ({"least": 0, "zero_after_minutes": 60}, []),
        ({"targets": Targets()}, ["scaling-without-target"]),
        ({"targets": Targets(queue_seconds=1)}, ["queue-time-alone"]),
        ({"targets": Targets(queue_seconds=1, core_utilization_percent=50)}, []),
        ({"least": 4}, ["scaling-of-nothing"]),
        ({"least": 5}, ["scaling-of-nothing"]),
        ({"least": 0}, ["zero-half-said"]),
        ({"zero_after_minutes": 60}, ["zero-half-said"]),
        ({"kept_stopped": 3}, []),
        ({"kept_stopped": 4}, ["warm-pool-beyond-nodes"]),
        ({"least": 0, "zero_after_minutes": 60, "kept_stopped": 4}, []),
        # Said once: where nothing scales, no node can come.
        ({"least": 4, "kept_stopped": 1}, ["scaling-of-nothing"]),
    ],
)
def test_what_cannot_work_is_named(changes: dict[str, Any], codes: list[str]) -> None:
    assert [code for code, *_ in mistakes(scaling(**changes))] == codes


def test_nodes_are_asked_for_in_proportion_and_rounded_up() -> None:
    assert (nodes_for(6, 2, 4), nodes_for(4, 2, 4), nodes_for(4.1, 2, 4), nodes_for(0.1 * 3, 1, 0.1)) == (3, 2, 3, 3)


@given(st.floats(0, 1e6), st.integers(1, 2000))
def test_a_node_that_leaves_is_not_asked_for_again(load: float, nodes: int) -> None:
    if may_leave(((load, 4.0),), nodes):
        assert nodes > 1
        assert nodes_for(load * nodes / (nodes - 1), nodes - 1, 4.0) <= nodes - 1


@given(st.floats(0, 100), st.floats(0, 100), st.integers(1, 64))
def test_the_alarm_says_what_the_domain_says(in_flight: float, busy: float, nodes: int) -> None:
    minute = {"RequestsInFlightPerCore": in_flight, "NeuronCoreUtilization": busy, "GroupInServiceInstances": nodes}
    share = max(in_flight / 4, busy / 60) * nodes - ROOM * (nodes - 1)
    if abs(share) < 1e-9:
        return

    expected = State.ALARM if may_leave(((in_flight, 4), (busy, 60)), nodes) else State.OK
    assert last_state(rule(Move.LEAVE), (15, minute)) is expected


def test_a_node_leaves_after_a_quarter_of_an_hour_and_not_while_one_figure_is_missing() -> None:
    assert last_state(rule(Move.LEAVE), (14, {}), (14, QUIET)) is not State.ALARM
    assert last_state(rule(Move.LEAVE), (15, QUIET)) is State.ALARM
    for missing in QUIET:
        known = {name: value for name, value in QUIET.items() if name != missing}
        assert last_state(rule(Move.LEAVE), (20, known)) is not State.ALARM, missing


def test_an_endpoint_that_always_has_a_node_neither_sleeps_nor_wakes() -> None:
    assert [each.move for each in rules(scaling(), "prod", "chat", NAMES)] == [Move.LEAVE]


ASLEEP: Minute = {"GroupDesiredCapacity": 0.0}
IDLE: Minute = {"GroupDesiredCapacity": 1.0}


@pytest.mark.parametrize(
    ("spells", "state"),
    [
        # Nobody asks for an hour: the load balancer reports nothing at all.
        ([(60, IDLE)], State.ALARM),
        ([(59, IDLE)], State.OK),
        # One request in the hour is somebody.
        ([(30, IDLE), (1, {**IDLE, "RequestCount": 1.0}), (59, IDLE)], State.OK),
        # Somebody who was refused waits for the node that has been asked for.
        ([(1, {**IDLE, "HTTPCode_ELB_503_Count": 3.0}), (59, IDLE)], State.OK),
        # What is asleep is not put to sleep again: it could not wake up.
        ([(60, IDLE), (1, ASLEEP)], State.OK),
        ([(90, ASLEEP)], State.OK),
        # What the group has is not known: nothing is taken away.
        ([(90, {})], State.OK),
    ],
)
def test_it_sleeps_after_an_hour_without_requests(spells: list[tuple[int, Minute]], state: State) -> None:
    changes: dict[str, Any] = {"least": 0, "zero_after_minutes": 60}
    assert last_state(rule(Move.TO_ZERO, **changes), (60, {**IDLE, "RequestCount": 5.0}), *spells) is state


@pytest.mark.parametrize(
    ("minute", "state"),
    [
        ({**ASLEEP, "HTTPCode_ELB_503_Count": 1.0}, State.ALARM),
        (ASLEEP, State.OK),
        # A node was asked for: whoever asked for more keeps them.
        ({"GroupDesiredCapacity": 1.0, "HTTPCode_ELB_503_Count": 9.0}, State.OK),
    ],
)
def test_a_refused_request_wakes_it_once(minute: Minute, state: State) -> None:
    assert last_state(rule(Move.WAKE, least=0, zero_after_minutes=60), (3, ASLEEP), (1, minute)) is state
