"""What the driver's error counters rose by, and which hardware errors that makes.

Status counters of drivers up to 2.30.1 rise when a process ends, by all that happened in its life: the errors are real
and count when they show, however late. ECC counters are the firmware's; whether they outlive a reboot is not known, so
what they show when first read is where counting starts. Without that, a node that was rebooted for a repairable error,
as documented, would be faulty again. What happened while the agent was away in the same boot is counted from what it
remembered; what happened in this boot before it ever ran is in the kernel log.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from agents.collectors.reading.cumulative import CumulativeCounters
from agents.collectors.seen_error import SeenError, Source
from agents.collectors.sysfs.tree import Leaf, Measure
from fleet.hardware_errors import BY_ECC_COUNTER, BY_STATUS_NAME

_ECC: Final = "ecc/"
_STATUS: Final = "status/"


@dataclass(frozen=True, slots=True)
class Rises:
    """Since the last reading: ``status`` by device and name, ``errors`` among them and among ECC counters.

    ``earlier`` tells of errors that were counted before anybody looked.
    """

    status: Mapping[int, Mapping[str, int]] = field(default_factory=dict)
    errors: tuple[SeenError, ...] = ()
    earlier: tuple[str, ...] = ()


class ErrorCounters:
    """Remembers the counters; ``remembered`` are readings of an earlier life of the agent in this boot."""

    def __init__(self, remembered: Mapping[str, int] | None) -> None:
        kept = remembered or {}
        self._ecc = CumulativeCounters({k: v for k, v in kept.items() if k.startswith(_ECC)}, blinks=True)
        self._status = CumulativeCounters({k: v for k, v in kept.items() if k.startswith(_STATUS)})

    @property
    def readings(self) -> dict[str, int]:
        """What is to be remembered: the counters that make hardware errors."""
        wanted = {name: value for name, value in self._status.readings.items() if _last(name) in BY_STATUS_NAME}
        return {**self._ecc.readings, **wanted}

    def rises(self, numbers: Mapping[Leaf, int]) -> Rises:
        """Compare with the last reading."""
        status: dict[int, dict[str, int]] = {}
        for (device, core, name), value in _highest(numbers, Measure.STATUS).items():
            rise = self._status.rise(f"{_STATUS}{device}/{core}/{name}", value)
            if rise:
                of_device = status.setdefault(device, {})
                of_device[name] = of_device.get(name, 0) + rise
        errors = [*_status_errors(status)]
        earlier = []
        for (device, name), value in ecc(numbers).items():
            error = BY_ECC_COUNTER.get(name)
            if error is None:
                continue
            rise = self._ecc.rise(f"{_ECC}{device}/{name}", value)
            if rise is None and value:
                earlier.append(f"device {device} had {value} {name} before the agent first looked; they do not count")
            elif rise:
                errors.append(SeenError(error, device, rise, (Source.SYSFS_ECC,)))
        return Rises(status, tuple(errors), tuple(earlier))


def ecc(numbers: Mapping[Leaf, int]) -> dict[tuple[int, str], int]:
    """ECC counters by device and name.

    Where a driver shows one twice, or by memory stack, the highest counts: too small a count is still an error, too
    large a one would be invented.
    """
    highest: dict[tuple[int, str], int] = {}
    for (device, _, name), value in _highest(numbers, Measure.ECC).items():
        highest[device, name] = max(value, highest.get((device, name), 0))
    return highest


def _highest(numbers: Mapping[Leaf, int], measure: Measure) -> dict[tuple[int, int | None, str], int]:
    highest: dict[tuple[int, int | None, str], int] = {}
    for leaf, value in numbers.items():
        if leaf.measure is measure:
            key = (leaf.device, leaf.core, leaf.name)
            highest[key] = max(value, highest.get(key, 0))
    return highest


def _status_errors(status: Mapping[int, Mapping[str, int]]) -> Iterator[SeenError]:
    for device, names in status.items():
        for name, rise in names.items():
            if name in BY_STATUS_NAME:
                yield SeenError(BY_STATUS_NAME[name], device, rise, (Source.RUNTIME_STATUS,))


def _last(name: str) -> str:
    return name.rpartition("/")[2]
