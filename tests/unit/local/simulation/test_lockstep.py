"""Virtual time waits for what is on its way, however slowly the machine delivers it."""

import queue
import threading
from typing import cast

import pytest

from agents.monitor.process import MonitorEvent, MonitorExited, MonitorLine, MonitorStarted
from local.simulation import virtual_clock
from local.simulation.monitor_link import Command, Hello, MonitorDoor, SimulationStuckError
from local.simulation.virtual_clock import VirtualClock
from tests.unit.local.simulation.scripts import START

SLOWLY = 0.05


class Monitor:
    """A door and its one stand-in, whose lines and end reach the agent's queue late."""

    def __init__(self, events: "queue.Queue[MonitorEvent]") -> None:
        self.hello = Hello(1, 20.0)
        self.killed = False
        self.delivers = True
        self._events = events

    def admit(self) -> "Monitor":
        return self

    def ask(self, command: Command) -> int | None:
        if self.killed:
            self._deliver(MonitorExited(-15))
            return None
        if command.emit:
            self._deliver(MonitorLine(b"{}\n"))
        return int(command.emit)

    def close(self) -> None:
        pass

    def _deliver(self, event: MonitorEvent) -> None:
        if self.delivers:
            threading.Timer(SLOWLY, self._events.put, [event]).start()


@pytest.fixture
def events() -> "queue.Queue[MonitorEvent]":
    return queue.Queue()


@pytest.fixture
def monitor(events: "queue.Queue[MonitorEvent]") -> Monitor:
    return Monitor(events)


@pytest.fixture
def clock(events: "queue.Queue[MonitorEvent]", monitor: Monitor) -> VirtualClock:
    """A clock whose monitor has started and printed its first line."""
    horizons = iter([START + 60.0, START + 120.0])
    clock = VirtualClock(START, cast("MonitorDoor", monitor), lambda _: next(horizons, None), lambda _: None)
    events.put(MonitorStarted(1))
    assert isinstance(clock.get(events, 100), MonitorStarted)
    assert isinstance(clock.get(events, 100), MonitorLine)
    return clock


def test_a_line_arrives_at_the_moment_it_was_printed(clock: VirtualClock, events: "queue.Queue[MonitorEvent]") -> None:
    moments = []
    for _ in range(3):
        assert isinstance(clock.get(events, 100), MonitorLine)
        moments.append(clock.now() - START)

    assert moments == [20, 40, 60]


def test_a_wait_ends_at_its_own_time_when_nothing_is_due(
    clock: VirtualClock, events: "queue.Queue[MonitorEvent]"
) -> None:
    with pytest.raises(queue.Empty):
        clock.get(events, 7)

    assert clock.now() == START + 7


def test_the_end_of_a_killed_monitor_is_seen_before_time_moves(
    clock: VirtualClock, events: "queue.Queue[MonitorEvent]", monitor: Monitor
) -> None:
    monitor.killed = True

    assert isinstance(clock.get(events, 7), MonitorExited)
    assert clock.now() == START


def test_waits_end_at_once_when_the_simulation_is_over(
    clock: VirtualClock, events: "queue.Queue[MonitorEvent]", monitor: Monitor
) -> None:
    monitor.killed = True
    clock.get(events, 1)

    with pytest.raises(queue.Empty):
        clock.get(events, 10_000)
    assert clock.now() == START + 120


def test_a_line_that_never_comes_is_an_error_and_no_deadlock(
    clock: VirtualClock,
    events: "queue.Queue[MonitorEvent]",
    monitor: Monitor,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(virtual_clock, "REAL_LIMIT_SECONDS", 0.1)
    monitor.delivers = False

    with pytest.raises(SimulationStuckError, match="did not see a line that the monitor printed"):
        clock.get(events, 100)
