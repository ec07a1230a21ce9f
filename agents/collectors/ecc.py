"""Uncorrected memory errors, whichever way the tool counts them.

Whether the counters are per period or since boot is not documented. Alarming on the first nonzero value and on each
rise is right for both: a cumulative counter that stays where it is says nothing new, and a per-period one falls back
to zero before it rises again.
"""

from collections.abc import Iterable, Mapping

from agents.collectors.seen_error import SeenError, Source
from agents.monitor.report import Ecc
from fleet.hardware_errors import BY_ECC_COUNTER, EXECUTION_HARDWARE


class EccWatch:
    """Remembers each device's counters between reports."""

    def __init__(self) -> None:
        self._last: dict[tuple[int, str], int] = {}

    def new_errors(self, devices: Iterable[Ecc]) -> tuple[SeenError, ...]:
        """What rose since the last report, or was nonzero when first seen."""
        found: list[SeenError] = []
        for device in devices:
            for counter, error in BY_ECC_COUNTER.items():
                value = device.counters.get(counter)
                if value is None:
                    continue
                rise = value - self._last.get((device.device, counter), 0)
                self._last[device.device, counter] = value
                if rise > 0:
                    found.append(SeenError(error, device.device, rise, (Source.MONITOR_ECC,)))
        return tuple(found)


def from_executions(errors: Mapping[str, int]) -> tuple[SeenError, ...]:
    """Executions that failed for the hardware: the tool gives neither code nor device."""
    count = errors.get("hardware", 0)
    return (SeenError(EXECUTION_HARDWARE, None, count, (Source.EXECUTIONS,)),) if count > 0 else ()
