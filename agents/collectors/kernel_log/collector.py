"""Hardware errors that the Neuron runtime writes to the kernel log, with the device and the action it asks for.

``NEURON_HW_ERR=<kind> instance-id=… hostname=… nd-id=0 nc-id=0 serial-num=… action=TERMINATE_INSTANCE``
(``nrt-troubleshoot.rst`` of the Neuron documentation; the five kinds are those of its node problem detector). Names and
serial numbers are not kept.

An error counts also when it was logged in this boot before the agent ran, because the node is damaged all the same,
and it does not count again after a restart of the agent: the number of the last record counted is kept on disk. It is
written a minute after, when the count is in the spool, so that a crash between may repeat a count and never loses one.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from agents.collectors.collector import Contribution, Request
from agents.collectors.kernel_log.records import KernelRecords
from agents.collectors.reading.boot_memory import BootMemory
from agents.collectors.seen_error import SeenError, Source
from agents.errors import NotAKernelLogError
from fleet.hardware_errors import BY_KERNEL_NAME, UNLISTED, Action, kernel_action

_SEQUENCE: Final = "sequence"
_KIND: Final = re.compile(r"NEURON_HW_ERR=([A-Za-z0-9_]{1,64})")
_DEVICE: Final = re.compile(r"\bnd-id=(\d{1,4})\b", re.ASCII)
_ACTION: Final = re.compile(r"\baction=([A-Za-z0-9_]{1,64})")
_NAMES_SHOWN: Final = 5


@dataclass(frozen=True, slots=True)
class Entry:
    """One line about a hardware error, as it was written; ``device`` and ``action`` only where it names them."""

    kind: str
    device: int | None
    action: str | None


def entry(text: str) -> Entry | None:
    """What a line of the kernel log says of a hardware error; None for every other line."""
    kind = _KIND.search(text)
    if kind is None:
        return None
    device, action = _DEVICE.search(text), _ACTION.search(text)
    return Entry(kind[1], int(device[1]) if device else None, action[1] if action else None)


class KernelLogCollector:
    """Follows the log at ``path`` and remembers in ``memory`` what was counted."""

    name = "kernel log"

    def __init__(self, path: Path, memory: BootMemory) -> None:
        self._records = KernelRecords(path)
        self._memory = memory
        self._kept = self._counted = (memory.load() or {}).get(_SEQUENCE, -1)

    def collect(self, request: Request) -> Contribution:
        """Errors logged since the last call, or since the last one that was counted before a restart."""
        if self._counted != self._kept:
            self._kept = self._counted
            self._memory.save({_SEQUENCE: self._counted})
        before = self._records.lost
        try:
            records = self._records.new()
        except (OSError, NotAKernelLogError) as error:
            return Contribution(problems=(f"the kernel log cannot be read: {_reason(error)}",))
        entries: Counter[Entry] = Counter()
        for record in records:
            found = entry(record.text) if record.sequence > self._counted else None
            if found is not None:
                entries[found] += 1
                self._counted = record.sequence
        lost = self._records.lost - before
        problems = list(_problems(entries))
        if lost:
            problems.append(f"the kernel log was overwritten: {lost} records were never read")
        return Contribution(hardware_errors=tuple(errors_of(entries)), problems=tuple(problems))


def errors_of(entries: Counter[Entry]) -> Iterator[SeenError]:
    """Each kind that is known, or that asks for an action, with how often it was logged."""
    for found, count in entries.items():
        asked = kernel_action(found.action or "") or Action.NONE
        error = BY_KERNEL_NAME.get(found.kind, UNLISTED)
        if error is not UNLISTED or asked is not Action.NONE:
            yield SeenError(error, found.device, count, (Source.KERNEL_LOG,), asked)


def _problems(entries: Counter[Entry]) -> Iterator[str]:
    yield from _shown(
        "hardware error", _totals((e.kind, n) for e, n in entries.items() if e.kind not in BY_KERNEL_NAME)
    )
    actions = ((e.action, n) for e, n in entries.items() if e.action and kernel_action(e.action) is None)
    yield from _shown("action", _totals(actions))


def _totals(counts: Iterable[tuple[str, int]]) -> Counter[str]:
    totals: Counter[str] = Counter()
    for name, count in counts:
        totals[name] += count
    return totals


def _shown(what: str, totals: Counter[str]) -> Iterator[str]:
    for name, count in totals.most_common(_NAMES_SHOWN):
        yield f"the kernel log names the {what} {name}, which is not known here ({count} times)"
    others = len(totals) - _NAMES_SHOWN
    if others > 0:
        yield f"the kernel log names {others} more that are not known here"


def _reason(error: Exception) -> str:
    return error.strerror or str(error) if isinstance(error, OSError) else str(error)
