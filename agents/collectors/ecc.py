"""Uncorrected memory errors, whichever way the tool counts them.

Whether the counters are per period or since boot is not documented. Alarming on the first nonzero value and on each
rise is right for both: a cumulative counter that stays where it is says nothing new, and a per-period one falls back
to zero before it rises again.
"""

from collections.abc import Iterable, Mapping
from typing import Final

from agents.collectors.seen_error import SeenError
from agents.monitor.report import Ecc
from fleet.hardware_errors import by_kind

_KINDS: Final[Mapping[str, str]] = {
    "mem_ecc_uncorrected": "hbm-uncorrectable",
    "sram_ecc_uncorrected": "sram-uncorrectable",
}


class EccWatch:
    """Remembers each device's counters between reports."""

    def __init__(self) -> None:
        self._last: dict[tuple[int, str], int] = {}

    def new_errors(self, devices: Iterable[Ecc]) -> tuple[SeenError, ...]:
        """What rose since the last report, or was nonzero when first seen."""
        found: list[SeenError] = []
        for device in devices:
            for counter, kind in _KINDS.items():
                value = device.counters.get(counter)
                if value is None:
                    continue
                rise = value - self._last.get((device.device, counter), 0)
                self._last[device.device, counter] = value
                if rise > 0:
                    found.append(SeenError(by_kind(kind), device.device, rise))
        return tuple(found)


def from_executions(errors: Mapping[str, int]) -> tuple[SeenError, ...]:
    """Executions that failed for the hardware: the tool gives neither code nor device."""
    count = errors.get("hardware", 0)
    return (SeenError(by_kind("execution-hardware"), None, count),) if count > 0 else ()
