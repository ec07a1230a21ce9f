"""An estimate of how busy the tensor engines are, from the driver's hardware counters. Off unless configured.

``pe_cntrs`` is not documented: a header and four rows ``group,mm_active,wl_active,idle`` of cycles, one for each row
group of the PE array. The share of matmul cycles among matmul and idle cycles is taken for utilization, which nobody
has confirmed on hardware: what is published says that it is an estimate, and by which method.
"""

import re
from dataclasses import dataclass
from typing import Final

METHOD: Final = "pe_cntrs"
_GROUPS: Final = 4
_ROW: Final = re.compile(rb"(\d),(\d{1,20}),(\d{1,20}),(\d{1,20})")
# The driver formats into a buffer of 256 bytes: a text that fills it may have lost the end of its last number.
_FULL_BUFFER: Final = 255
# No engine has such a clock. Two 32-bit halves are read one after the other, so a carry between them shows as a jump.
_MOST_CYCLES_PER_SECOND: Final = 10e9

Rows = tuple[tuple[int, int], ...]


def rows(text: bytes) -> Rows | None:
    """Matmul and idle cycles of the four row groups; None for a table that is cut or not understood."""
    if len(text) >= _FULL_BUFFER:
        return None
    found: dict[int, tuple[int, int]] = {}
    for line in text.split():
        match = _ROW.fullmatch(line)
        if match is not None:
            found[int(match[1])] = (int(match[2]), int(match[4]))
    return tuple(found[group] for group in range(_GROUPS)) if set(found) == set(range(_GROUPS)) else None


@dataclass(frozen=True, slots=True)
class _Reading:
    at: float
    rows: Rows


class TensorEngineEstimate:
    """Remembers each core's last reading."""

    def __init__(self) -> None:
        self._last: dict[tuple[int, int], _Reading] = {}

    def percent(self, core: tuple[int, int], now: Rows | None, at: float) -> float | None:
        """Utilization of ``core`` since its last reading, the mean of the row groups; None where it is not known."""
        last = self._last.pop(core, None)
        if now is None:
            return None
        self._last[core] = _Reading(at, now)
        if last is None or at <= last.at:
            return None
        most = _MOST_CYCLES_PER_SECOND * (at - last.at)
        shares = []
        for (busy, idle), (busy_before, idle_before) in zip(now, last.rows, strict=True):
            worked, waited = busy - busy_before, idle - idle_before
            if min(worked, waited) < 0 or max(worked, waited) > most or worked + waited == 0:
                return None
            shares.append(worked / (worked + waited))
        return 100 * sum(shares) / len(shares)
