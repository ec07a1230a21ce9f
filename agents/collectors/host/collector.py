"""The host's minute, for the log event; and a burst of writing as evidence of a checkpoint.

psutil's root directory is one setting for the whole process, also for what the agent reads of itself, and much of
psutil asks the kernel and not ``/proc``. So psutil is not pointed elsewhere: where the agent's ``proc`` is not this
machine's own, there is no ``machine`` to read, and the host is quiet.
"""

import statistics
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from agents.collectors.collector import Contribution, Request
from agents.collectors.host.machine import Disk, Interface, Reading
from agents.collectors.host.mounts import Counters, Mount, difference, entry, parse
from agents.collectors.host.probe import Answer, MountProbes

_MINUTE: Final = 60.0
# Seconds between two calls within which a difference means something.
_SHORTEST: Final = 1.0
_LONGEST: Final = 600.0
_MOST_INTERFACES: Final = 8
# A checkpoint holds weights and optimizer state: 12 to 16 bytes for each parameter of mixed-precision training, so
# 512 MiB is a node's share of a model with 40 million parameters. Logs and traces write megabytes a minute.
SMALLEST: Final = 512 * 1024 * 1024
# Data loaders that cache on disk write steadily; a checkpoint is several times that.
FACTOR: Final = 4.0
_MINUTES: Final = 30
_FEWEST: Final = 5


class WriteBurst:
    """Remembers the last half hour. The median is the baseline: bursts below half of the time do not move it.

    So a node that is busy with checkpoints for more than half of the time shows none here, and what it always writes
    is never taken for one. Both need a hint of the workload.
    """

    def __init__(self) -> None:
        self._history: deque[float] = deque(maxlen=_MINUTES)

    def is_burst(self, written: float) -> bool:
        """Whether ``written`` (bytes a minute) stands out. The first minutes only teach what is usual."""
        is_known = len(self._history) >= _FEWEST
        usual = statistics.median(self._history) if is_known else 0.0
        self._history.append(written)
        return is_known and written >= max(SMALLEST, FACTOR * usual)


@dataclass(frozen=True, slots=True)
class _Look:
    at: float
    reading: Reading | None
    mounts: Mapping[str, Counters]


class HostCollector:
    """``machine`` reads this machine, None where it is not the one to look at; mounts are those of ``proc``."""

    name = "host"

    def __init__(self, proc: Path, machine: Callable[[], Reading] | None, probes: MountProbes | None = None) -> None:
        self._proc, self._machine = proc, machine
        self._probes = probes or MountProbes()
        self._burst = WriteBurst()
        self._last: _Look | None = None

    def collect(self, request: Request) -> Contribution:
        """Figures since the last call; the first call has only those of the moment."""
        mounts = self._mounts()
        reading = self._machine() if self._machine else None
        look = _Look(request.now, reading, {each.device: each.counters for each in mounts if each.counters})
        last, self._last = self._last, look
        if last is not None and not _SHORTEST <= look.at - last.at <= _LONGEST:
            last = None
        changes = _changes(last, look)
        answers = self._probes.look([mount.point for mount in mounts], request.now)
        event: dict[str, Any] = {} if reading is None else _figures(reading, last.reading if last else None)
        if mounts:
            event["mounts"] = [_mount(each, changes.get(each.device), answers.get(each.point)) for each in mounts]
        return Contribution(
            event={"host": event} if event else {},
            checkpoint=self._is_burst(last, look, changes),
            problems=tuple(problem for each in mounts if (problem := _problem(each, answers.get(each.point)))),
        )

    def _mounts(self) -> tuple[Mount, ...]:
        try:
            text = (self._proc / "self/mountstats").read_text(encoding="utf-8", errors="surrogateescape")
        except FileNotFoundError:
            return ()
        return parse(text)

    def _is_burst(self, last: _Look | None, look: _Look, changes: Mapping[str, Counters]) -> bool:
        if last is None:
            return False
        on_disk = _rise(last.reading.written if last.reading else None, look.reading.written if look.reading else None)
        if on_disk is None and not changes:
            return False
        written = (on_disk or 0) + sum(change.written for change in changes.values())
        return self._burst.is_burst(written * _MINUTE / (look.at - last.at))


def _changes(last: _Look | None, look: _Look) -> dict[str, Counters]:
    found = {}
    for device, counters in look.mounts.items():
        before = last.mounts.get(device) if last else None
        change = difference(before, counters) if before else None
        if change is not None:
            found[device] = change
    return found


def _mount(mount: Mount, change: Counters | None, answer: Answer | None) -> dict[str, Any]:
    found: dict[str, Any] = {"kind": mount.kind, "mount_hash": mount.short_hash}
    if change is not None:
        found.update(entry(change))
    if answer is not None and answer.seconds is not None:
        found["answer_ms"] = round(1000 * answer.seconds, 1)
    if answer is not None and answer.silent_seconds is not None:
        found["silent_seconds"] = round(answer.silent_seconds)
    return found


def _problem(mount: Mount, answer: Answer | None) -> str | None:
    what = f"{mount.kind} mount {mount.short_hash}"
    if answer is not None and answer.silent_seconds is not None:
        return f"{what} does not answer for {answer.silent_seconds:.0f} s"
    return f"{what}: {answer.error}" if answer is not None and answer.error else None


def _figures(now: Reading, last: Reading | None) -> dict[str, Any]:
    found: dict[str, Any] = {
        "cpus": now.cpus,
        "load": [round(each, 2) for each in now.load],
        "memory_used_bytes": now.memory_total - now.memory_available,
        "memory_available_bytes": now.memory_available,
        "swap_used_bytes": now.swap_used,
    }
    total = now.cpu_total - last.cpu_total if last else 0.0
    if last and total > 0:
        waited = now.cpu_iowait - last.cpu_iowait
        busy = total - (now.cpu_idle - last.cpu_idle) - waited
        # The kernel's idle and iowait times may step back a little between two readings: proc(5).
        found["cpu_busy_percent"] = round(min(100.0, max(0.0, 100 * busy / total)), 1)
        found["cpu_iowait_percent"] = round(min(100.0, max(0.0, 100 * waited / total)), 1)
    disks = {each.device: each for each in last.disks} if last else {}
    found["disks"] = [_disk(each, disks.get(each.device)) for each in now.disks]
    interfaces = {each.name: each for each in last.interfaces} if last else {}
    traffic = [_interface(each, interfaces[each.name]) for each in now.interfaces if each.name in interfaces]
    busiest = sorted((each for each in traffic if each), key=lambda each: -each["received_bytes"] - each["sent_bytes"])
    if busiest:
        found["network"] = busiest[:_MOST_INTERFACES]
    return found


def _disk(now: Disk, last: Disk | None) -> dict[str, Any]:
    found: dict[str, Any] = {
        "device": now.device,
        "is_root": now.is_root,
        "size_bytes": now.size,
        "used_percent": now.used_percent,
    }
    for name, after, before in (
        ("read_bytes", now.read, last.read if last else None),
        ("written_bytes", now.written, last.written if last else None),
    ):
        rise = _rise(before, after)
        if rise is not None:
            found[name] = rise
    return found


def _interface(now: Interface, last: Interface) -> dict[str, Any] | None:
    rises = {
        "received_bytes": _rise(last.received, now.received),
        "sent_bytes": _rise(last.sent, now.sent),
        "errors": _rise(last.errors, now.errors),
        "drops": _rise(last.drops, now.drops),
    }
    known = {name: rise for name, rise in rises.items() if rise is not None}
    # An interface that was made anew counts from zero again; a silent one says nothing.
    return {"interface": now.name, **known} if len(known) == len(rises) and any(known.values()) else None


def _rise(before: int | None, after: int | None) -> int | None:
    return None if before is None or after is None or after < before else after - before
