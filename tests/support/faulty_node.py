"""A node on virtual time whose monitor, clock, disk, network and agent fail as a test says, and a ledger of what it
measured. Each readable report has a number of executions of its own, so that no two sums are equal by chance.
"""

import queue
import random
import threading
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import pytest

from agents import assemble
from agents.disk.minutes import Minutes
from agents.minute.batch import Batch
from agents.minute.window import Reading
from agents.monitor.process import MonitorEvent, MonitorExited, MonitorLine, MonitorStarted
from agents.sinks.spooled_sinks import SpooledSinks
from tests.support import agents, samples
from tests.support.faulty_cloud import FaultyCloud
from tests.support.faulty_disk import FaultyDisk, KilledError

T = TypeVar("T")
PERIOD = 5.0
GARBAGE = (b'{"neuron_runtime_data": [\n', b"\xff\xfe\x00\n", b"panic: runtime error\n", b"\n")


class SteppingClock(agents.VirtualClock):
    """Virtual time whose reading can be set while what is due comes when it would have come."""

    def __init__(self, start: float) -> None:
        super().__init__(start)
        self._offset = 0.0

    @property
    def elapsed(self) -> float:
        """The time that nobody can set."""
        return self._now

    def now(self) -> float:
        return self._now + self._offset

    def step(self, seconds: float) -> None:
        """Set the clock by ``seconds``."""
        self._offset += seconds


class Ledger:
    """Executions that the agent took in, by the number of their minute; ``in_flight`` are those that it died with.

    ``minutes`` are those that began, by number; ``stillborn`` those in whose first moment the agent died.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.taken: dict[int, list[int]] = defaultdict(list)
        self.in_flight: dict[int, list[int]] = defaultdict(list)
        self.minutes: dict[int, int] = {}
        self.stillborn: list[int] = []
        self.batches: list[Batch] = []
        begin, append, resume, keep = Minutes.begin, Minutes.append, Minutes.resume, SpooledSinks.keep
        current = 0

        def noted_begin(minutes: Minutes, minute: int, *known: object) -> object:
            nonlocal current
            try:
                begun = begin(minutes, minute, *known)  # type: ignore[arg-type]  # passed on as it came
            except KilledError:
                self.stillborn.append(minute)
                raise
            current, self.minutes[begun.seq] = begun.seq, minute
            return begun

        def noted_resume(minutes: Minutes, unfinished: object) -> object:
            nonlocal current
            begun = resume(minutes, unfinished)  # type: ignore[arg-type]  # passed on as it came
            current, self.minutes[begun.seq] = begun.seq, begun.minute
            return begun

        def noted_append(minutes: Minutes, reading: Reading) -> None:
            completed = reading.sample.completed or 0
            try:
                append(minutes, reading)
            except KilledError:
                self.in_flight[current].append(completed)
                raise
            self.taken[current].append(completed)

        def noted_keep(spooled: SpooledSinks, batch: Batch) -> None:
            self.batches.append(batch)
            keep(spooled, batch)

        monkeypatch.setattr(Minutes, "begin", noted_begin)
        monkeypatch.setattr(Minutes, "resume", noted_resume)
        monkeypatch.setattr(Minutes, "append", noted_append)
        monkeypatch.setattr(SpooledSinks, "keep", noted_keep)


class FaultyNode:
    """Runs one agent after the other until the time is up."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
        self.chance = random.Random(seed)  # noqa: S311 - the same faults each time
        self.clock = SteppingClock(agents.MINUTE)
        self.disk = FaultyDisk(monkeypatch, self.chance)
        self.cloud = FaultyCloud(self.chance)
        self.ledger = Ledger(monkeypatch)
        self.garbage_share = 0.01
        self.garbage = self.reports = self.starts = self.lives = 0
        self.pauses: Callable[[], float] = lambda: 5.0
        self._folder = folder
        self._events: queue.Queue[MonitorEvent] = queue.Queue()
        self._life = 0
        self._is_hung = self._is_up = False
        self._stop = threading.Event()
        monkeypatch.setattr(assemble, "collectors", lambda _: ())
        (folder / "run").mkdir()
        (folder / "proc/sys/kernel/random").mkdir(parents=True)
        (folder / "proc/sys/kernel/random/boot_id").write_text("boot-1\n")

    def at(self, seconds: float, action: Callable[[], None]) -> None:
        """Do ``action`` that long after the beginning, whatever the clock then says."""
        self.clock.schedule(agents.MINUTE + seconds, action)

    def run(self, seconds: float) -> None:
        """Live for that long, and end by SIGTERM."""
        self.at(seconds, self._stop.set)
        config = agents.config(
            proc=str(self._folder / "proc"),
            run_directory=str(self._folder / "run"),
            spool_directory=str(self._folder / "spool"),
        )
        while not self._stop.is_set():
            self.lives += 1
            self._events = queue.Queue()
            try:
                agent = assemble.agent(config, self.clock, self, self.cloud.sinks(), lockstep=True)
                agent.run(self.clock, self._events, self._stop)
            except KilledError:
                self._wait_for_systemd()

    def start(self) -> None:
        """Start the monitor: its first report covers half a millisecond."""
        self._life += 1
        self.starts += 1
        self._is_up, self._is_hung = True, False
        self._events.put(MonitorStarted(1))
        self._tick(self._life, 0.0005)

    def stop(self) -> None:
        """The supervisor ends it."""
        self.kill_monitor()

    def kill_monitor(self) -> None:
        """It ends, if it is there."""
        if self._is_up:
            self._is_up = False
            self._life += 1
            self._events.put(MonitorExited(-9))

    def hang_monitor(self) -> None:
        """It prints no more."""
        self._is_hung = True

    def _tick(self, life: int, seconds: float = PERIOD) -> None:
        if life != self._life:
            return
        if not self._is_hung:
            self._events.put(MonitorLine(self._line(seconds)))
        self.clock.schedule(self.clock.elapsed + PERIOD, lambda: self._tick(life))

    def _line(self, seconds: float) -> bytes:
        if self.chance.random() < self.garbage_share:
            self.garbage += 1
            return self.chance.choice(
                [b'{"neuron_runtime_data": [\n', b"\xff\xfe\x00\n", b"panic: runtime error\n", b"\n"]
            )
        self.reports += 1
        completed = 1_000_000 + self.chance.randrange(1_000_000)
        spec = samples.RuntimeSpec(7, "a", {0: 50.0}, {0: 30e12}, {0: samples.GIB}, completed)
        return samples.line(samples.report([spec], devices=1, seconds=seconds))

    def _wait_for_systemd(self) -> None:
        # Its children die with it, and it is started again a little later.
        self._life += 1
        self._is_up = False
        until = self.clock.elapsed + self.pauses()
        nobody: queue.Queue[MonitorEvent] = queue.Queue()
        while self.clock.elapsed < until:
            try:
                self.clock.get(nobody, until - self.clock.elapsed)
            except queue.Empty:
                continue
