"""Asks the Neuron driver, by sysfs, what neuron-monitor does not tell."""

from pathlib import Path
from typing import Final

from agents.collectors.collector import Contribution, Request
from agents.collectors.reading.boot_memory import BootMemory
from agents.collectors.sysfs.readings import Readings, read
from agents.collectors.sysfs.rises import ErrorCounters
from agents.collectors.sysfs.summary import summary
from agents.collectors.sysfs.tensor_engine import TensorEngineEstimate
from agents.collectors.sysfs.tree import Tree, device_folders, walk

# A driver that was replaced without any file vanishing in a minute would otherwise stay unseen.
_WALK_SECONDS: Final = 30 * 60.0


class SysfsCollector:
    """Reads all devices below ``sysfs``; ``memory`` keeps its error counters over restarts of the agent.

    ``tensor_engine`` reads the undocumented hardware counters too.
    """

    name = "sysfs"

    def __init__(self, sysfs: Path, memory: BootMemory, *, tensor_engine: bool = False) -> None:
        self._sysfs = sysfs
        self._memory = memory
        self._with_tensor_engine = tensor_engine
        remembered = memory.load()
        self._counters = ErrorCounters(remembered)
        self._kept = remembered
        self._engines = TensorEngineEstimate()
        self._seen: set[int] = set()
        self._folders: dict[int, Path] = {}
        self._tree: Tree | None = None
        self._walked_at = 0.0

    def collect(self, request: Request) -> Contribution:
        """Figures of now, and errors since the last call."""
        # Only now, a minute later, is the last count in the spool: a crash between may repeat it and never loses it.
        self._remember()
        try:
            folders = device_folders(self._sysfs)
        except OSError as error:
            return Contribution(problems=(f"the Neuron devices in sysfs cannot be listed: {error.strerror}",))
        self._seen.update(folders)
        if not self._seen:
            return Contribution()
        readings = self._read(folders, request.now)
        rises = self._counters.rises(readings.numbers)
        problems = (*self._problems(folders, readings), *rises.earlier)
        if not folders:
            return Contribution(problems=problems)
        busy = {
            core: percent
            for core, rows in readings.tensor_engines.items()
            if (percent := self._engines.percent(core, rows, request.now)) is not None
        }
        event = {"sysfs_devices": summary(folders, readings, rises, busy)}
        return Contribution(event=event, hardware_errors=rises.errors, problems=problems)

    def _remember(self) -> None:
        readings = self._counters.readings
        if self._seen and readings != self._kept:
            self._memory.save(readings)
            self._kept = readings

    def _read(self, folders: dict[int, Path], now: float) -> Readings:
        is_old = not 0 <= now - self._walked_at < _WALK_SECONDS
        tree = self._tree
        if tree is None or is_old or folders != self._folders:
            tree = self._walk(folders, now)
        readings = read(tree.leaves)
        # A file vanishes with its device or with a reloaded driver: what there is instead is read at once.
        return read(self._walk(folders, now).leaves) if readings.is_stale else readings

    def _walk(self, folders: dict[int, Path], now: float) -> Tree:
        self._tree = walk(folders, tensor_engine=self._with_tensor_engine)
        self._folders, self._walked_at = folders, now
        return self._tree

    def _problems(self, folders: dict[int, Path], readings: Readings) -> list[str]:
        problems = []
        gone = sorted(self._seen - folders.keys())
        if gone:
            problems.append(f"Neuron devices have vanished from sysfs: {', '.join(map(str, gone))}")
        if self._tree is not None and self._tree.is_cut:
            problems.append("the Neuron tree in sysfs is larger than is looked at; figures may be missing")
        if readings.failed:
            problems.append(f"sysfs: {len(readings.failed)} files gave nothing, the first: {readings.failed[0]}")
        for device, names in sorted(readings.unhealthy.items()):
            if names:
                problems.append(f"the driver calls parts of device {device} unhealthy: {', '.join(sorted(names))}")
        return problems
