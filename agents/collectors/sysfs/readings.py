"""Reads the files of the tree: numbers, and the few texts with a form of their own."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from agents.collectors.reading.read_only import contents, whole_number
from agents.collectors.sysfs.tensor_engine import Rows, rows
from agents.collectors.sysfs.tree import Leaf, Measure

# The driver prints this for a register that cannot be read, where it does not print 0 instead.
_UNREADABLE: Final = 0xDEADBEEF
# POWER_STATUS_VALID,<epoch>,<min>,<max>,<avg> (``neuron_power.c``); after a failure the buffer may hold anything.
_POWER: Final = re.compile(rb"POWER_STATUS_VALID,\d{1,20}" + 3 * rb",(\d{1,3}(?:\.\d{1,4})?)")
_NO_POWER: Final = re.compile(rb"POWER_STATUS_(?:NO_DATA|INVALID)(?:,.*)?", re.DOTALL)
_COMPONENT: Final = re.compile(r"[a-z][a-z0-9_]{1,39}", re.ASCII)
_HEALTHY: Final = frozenset({"none", "healthy", "ok"})
_MOST_COMPONENTS: Final = 16


@dataclass(frozen=True, slots=True)
class Power:
    """Percent of the device's maximum over the last whole minute, without its background power."""

    minimum: float
    maximum: float
    average: float


@dataclass(slots=True)
class Readings:
    """What was read. ``failed`` names files that exist and gave nothing; ``is_stale`` when one has vanished."""

    numbers: dict[Leaf, int] = field(default_factory=dict)
    power: dict[int, Power] = field(default_factory=dict)
    unhealthy: dict[int, set[str]] = field(default_factory=dict)
    tensor_engines: dict[tuple[int, int], Rows | None] = field(default_factory=dict)
    failed: list[str] = field(default_factory=list)
    is_stale: bool = False


def read(leaves: Iterable[Leaf]) -> Readings:
    """All of ``leaves``; none that fails takes anything from the others."""
    readings = Readings()
    for leaf in leaves:
        try:
            text = contents(leaf.path)
        except (FileNotFoundError, NotADirectoryError):
            readings.is_stale = True
            continue
        except OSError as error:
            readings.failed.append(f"{_name(leaf)}: {error.strerror}")
            continue
        if not _take(readings, leaf, text):
            readings.failed.append(f"{_name(leaf)}: not understood")
    return readings


def power(text: bytes) -> Power | None:
    """The power line; None when it has another form or contradicts itself."""
    match = _POWER.fullmatch(text.strip(b" \t\n\0"))
    if match is None:
        return None
    lowest, highest, average = (float(part) for part in match.groups())
    return Power(lowest, highest, average) if lowest <= average <= highest else None


def components(text: bytes, name: str) -> set[str]:
    """Unhealthy components: a list of names, or, for a file called like a component, whether it says so.

    The form of these files is not documented, so anything that is not a list of names is no component.
    """
    words = text.decode("ascii", "replace").replace(",", " ").split()
    if name:
        return {name} if words and words[0] not in {"0", *_HEALTHY} else set()
    named = [word for word in words if _COMPONENT.fullmatch(word) and word not in _HEALTHY]
    return set(sorted(named)[:_MOST_COMPONENTS])


def _take(readings: Readings, leaf: Leaf, text: bytes) -> bool:
    if leaf.measure is Measure.POWER:
        found = power(text)
        if found is not None:
            readings.power[leaf.device] = found
        return found is not None or _NO_POWER.fullmatch(text.strip()) is not None
    if leaf.measure is Measure.UNHEALTHY:
        readings.unhealthy.setdefault(leaf.device, set()).update(components(text, leaf.name))
        return True
    if leaf.measure is Measure.TENSOR_ENGINE:
        readings.tensor_engines[leaf.device, leaf.core or 0] = rows(text)
        return True
    number = whole_number(text)
    if number is None:
        return False
    if number != _UNREADABLE or leaf.measure is not Measure.ECC:
        readings.numbers[leaf] = number
    return True


def _name(leaf: Leaf) -> str:
    core = "" if leaf.core is None else f" core {leaf.core}"
    part = f" {leaf.name}" if leaf.name else ""
    return f"device {leaf.device}{core} {leaf.measure.value}{part}"
