"""neuron-monitor's configuration, and its supervisor on given times."""

import json

import pytest

from agents.errors import MonitorMissingError
from agents.monitor import settings
from agents.monitor.decode.report import Hardware
from agents.monitor.process import MonitorExited, MonitorLine, MonitorStarted
from agents.monitor.supervisor import Supervisor, backoff


def test_every_group_is_named_and_the_period_is_whole_seconds() -> None:
    made = json.loads(settings.render(5))

    groups = made["neuron_runtimes"][0]["metrics"] + made["system_metrics"]
    assert made["period"] == "5s"
    assert {group["type"] for group in groups} == {
        "neuroncore_counters",
        "memory_used",
        "neuron_runtime_vcpu_usage",
        "execution_stats",
        "vcpu_usage",
        "memory_info",
        "neuron_hw_counters",
    }


@pytest.mark.parametrize("period", [0, -5, 0.5, 5.0])
def test_a_period_that_the_tool_would_misread_is_refused(period: float) -> None:
    with pytest.raises(ValueError, match="whole seconds"):
        settings.render(period)  # type: ignore[arg-type]  # the refusal is for callers without types


class FakeProcess:
    """Counts what the supervisor asks of it."""

    def __init__(self) -> None:
        self.starts = 0
        self.stops = 0
        self.missing = False

    def start(self) -> None:
        self.starts += 1
        if self.missing:
            raise MonitorMissingError("/opt/neuron-monitor: No such file or directory")

    def stop(self) -> None:
        self.stops += 1


def test_a_dead_monitor_is_started_again_later_and_later() -> None:
    process = FakeProcess()
    supervisor = Supervisor(process, 5, "i-1")
    now, waits = 1000.0, []
    for _ in range(8):
        supervisor.act(now)
        supervisor.heard(MonitorExited(1), now)
        waits.append(supervisor.deadline() - now)
        now = supervisor.deadline()

    assert process.starts == 8
    assert all(min(60, 2**index) / 2 <= wait <= min(60, 2**index) for index, wait in enumerate(waits))
    assert supervisor.problem == "neuron-monitor ended with code 1"


def test_a_readable_line_ends_the_problem_and_the_back_off() -> None:
    supervisor = Supervisor(FakeProcess(), 5, "i-1")
    for _ in range(6):
        supervisor.heard(MonitorExited(1), 0.0)
    supervisor.heard(MonitorStarted(1), 30.0)
    supervisor.works(30.1, Hardware())
    supervisor.works(90.0, Hardware())

    assert supervisor.problem is None
    supervisor.heard(MonitorExited(1), 0.0)
    assert supervisor.deadline() <= 1.0


def test_nodes_whose_monitors_die_together_do_not_start_them_together() -> None:
    assert len({backoff(f"i-{index}", 5) for index in range(50)}) == 50


def test_a_missing_program_is_a_problem_of_its_own_and_is_tried_again() -> None:
    process = FakeProcess()
    process.missing = True
    supervisor = Supervisor(process, 5, "i-1")

    supervisor.act(0.0)

    assert supervisor.problem is not None
    assert supervisor.problem.startswith("neuron-monitor is missing: /opt/neuron-monitor")
    assert 0 < supervisor.deadline() <= 1.0


def test_three_silent_periods_are_a_stall_and_the_first_line_has_longer() -> None:
    process = FakeProcess()
    supervisor = Supervisor(process, 5, "i-1")
    supervisor.act(0.0)
    supervisor.heard(MonitorStarted(1), 0.0)
    assert supervisor.deadline() == 25.0

    supervisor.heard(MonitorLine(b"{}"), 10.0)
    supervisor.act(24.9)
    assert process.stops == 0
    supervisor.act(25.0)

    assert process.stops == 1
    assert "printed nothing for 3 periods" in (supervisor.problem or "")


@pytest.mark.parametrize(
    ("hardware", "status"),
    [
        (Hardware(devices=16), "working"),
        (Hardware(), "working"),
        (Hardware(error="driver not loaded", devices=0), "driver-missing"),
        (Hardware(devices=0), "no-devices"),
    ],
)
def test_what_a_report_says_of_the_hardware_is_the_monitors_status(hardware: Hardware, status: str) -> None:
    supervisor = Supervisor(FakeProcess(), 5, "i-1")
    supervisor.heard(MonitorStarted(1), 0.0)

    supervisor.works(0.1, hardware)

    assert supervisor.status == status
    # A later line without the hardware section says nothing new about it.
    supervisor.works(5.1, Hardware())
    assert supervisor.status == status


def test_each_way_of_being_without_a_monitor_has_its_own_word(caplog: pytest.LogCaptureFixture) -> None:
    process = FakeProcess()
    supervisor = Supervisor(process, 5, "i-1")
    seen = [supervisor.status.value]
    process.missing = True
    supervisor.act(0.0)
    seen.append(supervisor.status.value)
    process.missing = False
    supervisor.act(supervisor.deadline())
    supervisor.heard(MonitorStarted(1), 2.0)
    supervisor.heard(MonitorExited(2), 3.0)
    seen.append(supervisor.status.value)
    supervisor.act(10.0)
    supervisor.heard(MonitorStarted(1), 10.0)
    for _ in range(3):
        supervisor.heard_unreadable()
    seen.append(supervisor.status.value)
    supervisor.act(supervisor.deadline())
    seen.append(supervisor.status.value)

    assert seen == ["starting", "binary-missing", "ended", "unreadable", "stalled"]
    for word in seen[1:]:
        assert f"neuron-monitor is now {word}" in caplog.text
    assert supervisor.starts == 2


def test_a_clock_that_is_moved_moves_what_is_due(caplog: pytest.LogCaptureFixture) -> None:
    process = FakeProcess()
    supervisor = Supervisor(process, 5, "i-1")
    supervisor.heard(MonitorStarted(1), 0.0)
    supervisor.heard(MonitorLine(b"{}"), 10.0)

    supervisor.clock_moved(300.0)
    supervisor.act(311.0)

    assert process.stops == 0
    assert supervisor.deadline() == 325.0
