"""File systems on the network as ``/proc/self/mountstats`` counts them: EFS and other NFS; Lustre is only listed there.

Per operation the kernel counts, since the mount: operations, transmissions, major timeouts, bytes sent, bytes
received, and milliseconds queued, from transmission to reply (rtt) and in all (execute); newer kernels add a ninth
column, errors. A major timeout is what prints "server not responding". Source: the kernel's net/sunrpc/stats.c.
"""

import hashlib
import re
from dataclasses import dataclass
from typing import Any, Final

_DEVICE: Final = re.compile(r"device (?P<device>\S+) mounted on (?P<point>\S+) with fstype (?P<kind>\S+)")
_REMOTE: Final = frozenset({"nfs", "nfs4", "lustre"})
_COLUMNS: Final = 8
# The kernel's counters have 64 bits.
_NUMBER: Final = re.compile(r"[0-9]{1,20}")
_ESCAPE: Final = re.compile(r"\\([0-7]{3})")
MOST_MOUNTS: Final = 8


@dataclass(frozen=True, slots=True)
class Counters:
    """Since the mount; milliseconds, bytes. ``errors`` is None on kernels that do not count them."""

    operations: int = 0
    transmissions: int = 0
    timeouts: int = 0
    rtt: int = 0
    execute: int = 0
    errors: int | None = None
    read: int = 0
    written: int = 0


@dataclass(frozen=True, slots=True)
class Mount:
    """One mount; ``counters`` is None where the file system has none (Lustre)."""

    device: str
    point: str
    kind: str
    counters: Counters | None

    @property
    def short_hash(self) -> str:
        """Stands for the mount point where paths are not told: ``printf %s POINT | sha256sum | cut -c1-12``."""
        return hashlib.sha256(self.point.encode("utf-8", "surrogateescape")).hexdigest()[:12]


def parse(text: str) -> tuple[Mount, ...]:
    """The network mounts in ``text``, one for each file system; a section that makes no sense has no counters."""
    found: dict[str, Mount] = {}
    for section in re.split(r"^(?=device )", text, flags=re.MULTILINE):
        match = _DEVICE.match(section)
        # One file system that is mounted in several places is counted once by the kernel.
        if match and match["kind"] in _REMOTE and match["device"] not in found and len(found) < MOST_MOUNTS:
            found[match["device"]] = Mount(
                match["device"], _unescaped(match["point"]), match["kind"], _counters(section.splitlines()[1:])
            )
    return tuple(found.values())


def difference(before: Counters, after: Counters) -> Counters | None:
    """What happened in between; None when the file system was mounted anew."""
    errors = None if before.errors is None or after.errors is None else after.errors - before.errors
    change = Counters(
        after.operations - before.operations,
        after.transmissions - before.transmissions,
        after.timeouts - before.timeouts,
        after.rtt - before.rtt,
        after.execute - before.execute,
        errors,
        after.read - before.read,
        after.written - before.written,
    )
    numbers = (change.operations, change.transmissions, change.rtt, change.execute, change.read, change.written)
    return None if min(numbers) < 0 else change


def entry(change: Counters) -> dict[str, Any]:
    """``change`` for the log event; latencies are means in milliseconds, absent when nothing was asked."""
    found: dict[str, Any] = {
        "operations": change.operations,
        "read_bytes": change.read,
        "written_bytes": change.written,
        "retransmits": max(0, change.transmissions - change.operations),
        "timeouts": change.timeouts,
    }
    if change.errors is not None:
        found["errors"] = change.errors
    if change.operations:
        found["rtt_ms"] = round(change.rtt / change.operations, 2)
        found["execute_ms"] = round(change.execute / change.operations, 2)
    return found


def _counters(lines: list[str]) -> Counters | None:
    amounts = next((_numbers(line) for line in lines if line.strip().startswith("bytes:")), [])
    # Events, bytes and transports are lines of numbers too, but before the operations.
    start = next((index for index, line in enumerate(lines) if line.strip() == "per-op statistics"), None)
    if start is None or len(amounts) < _COLUMNS:
        return None
    operations = [numbers for line in lines[start + 1 :] if len(numbers := _numbers(line)) >= _COLUMNS]
    errors = [numbers[_COLUMNS] for numbers in operations if len(numbers) > _COLUMNS]
    return Counters(
        operations=sum(numbers[0] for numbers in operations),
        transmissions=sum(numbers[1] for numbers in operations),
        timeouts=sum(numbers[2] for numbers in operations),
        rtt=sum(numbers[6] for numbers in operations),
        execute=sum(numbers[7] for numbers in operations),
        errors=sum(errors) if errors else None,
        # What the server gave and took; the first four are what programs asked for, cache included.
        read=amounts[4],
        written=amounts[5],
    )


def _numbers(line: str) -> list[int]:
    fields = line.partition(":")[2].split()
    return [int(field) for field in fields] if fields and all(map(_NUMBER.fullmatch, fields)) else []


def _unescaped(point: str) -> str:
    return _ESCAPE.sub(lambda match: chr(int(match[1], 8)), point)
