"""The agent's loop on a clock that the test moves."""

import json
import queue
import threading
from pathlib import Path

import pytest

from agents import assemble
from agents.clock import SystemClock
from agents.errors import MonitorMissingError
from agents.monitor.process import MonitorEvent, MonitorExited, MonitorLine, MonitorStarted
from tests.support import agents, samples
from tests.support.agents import MINUTE, VirtualClock
from tests.support.faulty_disk import KilledError
from tests.support.sinks import RecordingSink


class Simulation:
    """An agent on virtual time whose monitor prints ``made`` every five seconds while it lives."""

    def __init__(self, folder: Path, made: samples.Json | None = None, start: float = MINUTE) -> None:
        self.clock = VirtualClock(start)
        self.events: queue.Queue[MonitorEvent] = queue.Queue()
        self.stop_event = threading.Event()
        self.sink = RecordingSink()
        self.line = samples.line(made or samples.full_node())
        self.starts: list[float] = []
        self.is_missing = False
        self.is_silent = False
        self.run_directory = folder / "run"
        self.run_directory.mkdir(exist_ok=True)
        self._life = 0
        (folder / "spool").mkdir(exist_ok=True)
        config = agents.config(
            run_directory=str(self.run_directory),
            spool_directory=str(folder / "spool"),
            proc=str(folder / "proc"),
            sysfs=str(folder / "sys"),
            kernel_log=str(folder / "kmsg"),
            compile_cache=str(folder / "cache"),
            statsd_port=0,
            instance_metadata="",
        )
        self._agent = assemble.agent(config, self.clock, self, (self.sink,), lockstep=True)

    def die_at(self, seconds: float) -> None:
        """Be killed after that many seconds: nothing is written any more."""

        def kill() -> None:
            raise KilledError

        self.clock.schedule(self.clock.now() + seconds, kill)
        with pytest.raises(KilledError):
            self._agent.run(self.clock, self.events, self.stop_event)

    def prints(self, made: samples.Json) -> None:
        """What the monitor prints from now on."""
        self.line = samples.line(made)

    def start(self) -> None:
        if self.is_missing:
            raise MonitorMissingError("/opt/neuron-monitor: No such file or directory")
        self.starts.append(self.clock.now())
        self.events.put(MonitorStarted(1))
        self._life += 1
        self._tick(self._life)

    def stop(self) -> None:
        self.die()

    def die(self) -> None:
        self._life += 1
        self.events.put(MonitorExited(-9))

    def run(self, seconds: float) -> None:
        self.clock.schedule(self.clock.now() + seconds, self._end)
        self._agent.run(self.clock, self.events, self.stop_event)

    def _end(self) -> None:
        self.stop_event.set()

    def _tick(self, life: int) -> None:
        if life != self._life:
            return
        if not self.is_silent:
            self.events.put(MonitorLine(self.line))
        self.clock.schedule(self.clock.now() + 5, lambda: self._tick(life))


def test_a_minute_holds_the_lines_that_arrived_in_it(tmp_path: Path) -> None:
    simulation = Simulation(tmp_path)

    simulation.run(150)

    assert [batch.minute for batch in simulation.sink.batches] == [MINUTE, MINUTE + 60, MINUTE + 120]
    utilization = [
        datum["Counts"]
        for batch in simulation.sink.batches
        for datum in batch.metric_data
        if datum["MetricName"] == "NeuronCoreUtilization" and len(datum["Dimensions"]) == 2
    ]
    # Twelve lines of 32 cores in a whole minute; the last minute is published short when the agent is stopped.
    assert utilization[:2] == [[12 * 32.0], [12 * 32.0]]
    assert [batch.seq for batch in simulation.sink.batches] == [1, 2, 3]


def test_a_monitor_that_dies_is_restarted_and_the_gap_is_short(tmp_path: Path) -> None:
    simulation = Simulation(tmp_path)
    simulation.clock.schedule(MINUTE + 72, simulation.die)

    simulation.run(180)

    assert len(simulation.starts) == 2
    assert 72.5 <= simulation.starts[1] - MINUTE <= 73
    assert set(simulation.sink.states()) == {"RUNNING"}


def test_a_monitor_that_goes_quiet_is_restarted(tmp_path: Path) -> None:
    simulation = Simulation(tmp_path)

    def hush() -> None:
        simulation.is_silent = True

    simulation.clock.schedule(MINUTE + 62, hush)
    simulation.run(180)

    # The last line at 60, a stall three periods later, a new process half a second to a second after that.
    assert 75 < simulation.starts[1] - MINUTE <= 76
    assert simulation.sink.states()[:2] == ["RUNNING", "BLIND"]
    assert "printed nothing for 3 periods" in simulation.sink.reasons()[1]


def test_a_missing_monitor_is_blind_with_its_reason(tmp_path: Path) -> None:
    simulation = Simulation(tmp_path)
    simulation.is_missing = True

    simulation.run(60)

    assert simulation.sink.states()[0] == "BLIND"
    assert "neuron-monitor is missing: /opt/neuron-monitor" in simulation.sink.reasons()[0]


def test_a_missing_driver_is_blind_with_its_reason(tmp_path: Path) -> None:
    simulation = Simulation(tmp_path, samples.no_driver())

    simulation.run(60)

    assert "driver is missing or not running: driver not loaded" in simulation.sink.reasons()[0]


def test_the_job_of_a_registration_file_is_named(tmp_path: Path) -> None:
    simulation = Simulation(tmp_path)
    (simulation.run_directory / "jobs").mkdir()
    (simulation.run_directory / "jobs" / "a.json").write_text(
        json.dumps({"job_id": "a", "name": "llama", "owner": "ada", "cores": None, "tokens_wanted": None})
    )
    (simulation.run_directory / "drain").write_text("spot notice\n")

    simulation.run(60)

    event = simulation.sink.batches[0].log_event
    assert (event["job"], event["job_name"], event["owner"]) == ("a", "llama", "ada")
    assert (event["state"], event["state_reason"]) == ("DRAINING", "spot notice")


def boot(folder: Path, name: str) -> None:
    path = folder / "proc/sys/kernel/random"
    path.mkdir(parents=True, exist_ok=True)
    (path / "boot_id").write_text(name)


def test_a_fault_outlives_the_agent_and_not_the_boot(tmp_path: Path) -> None:
    faulty = samples.report([samples.RuntimeSpec(1, "a", {0: 9.0}, {}, {0: 1}, 5, hardware_errors=1)])
    boot(tmp_path, "first")
    Simulation(tmp_path, faulty).run(60)

    restarted = Simulation(tmp_path, samples.full_node(), MINUTE + 120)
    restarted.run(60)
    boot(tmp_path, "second")
    rebooted = Simulation(tmp_path, samples.full_node(), MINUTE + 240)
    rebooted.run(60)

    assert restarted.sink.states()[0] == "FAULT"
    assert rebooted.sink.states()[0] == "RUNNING"


def test_a_damaged_state_file_starts_anew(tmp_path: Path) -> None:
    boot(tmp_path, "first")
    (tmp_path / "spool").mkdir()
    (tmp_path / "spool/state.json").write_text("{")
    simulation = Simulation(tmp_path)

    simulation.run(60)

    assert simulation.sink.states()[0] == "RUNNING"


def test_the_system_clock_ends_a_wait_when_told_to_stop() -> None:
    stop = threading.Event()
    stop.set()
    events: queue.Queue[int] = queue.Queue()

    with pytest.raises(queue.Empty):
        SystemClock(stop).get(events, timeout=60)
    events.put(4)
    assert SystemClock(stop).get(events, timeout=60) == 4
