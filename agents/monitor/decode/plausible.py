"""What a figure of neuron-monitor can be at most. Beyond it is a counter that ran over or a damaged line.

Such a figure is left out, as if it had not been measured, and named once among the report's oddities: it is never
clamped in silence, and it never reaches an array or a sum that it could blow up. The limits are far above any chip.
"""

from typing import Final

# Utilization above 100 % is published as 100 and flagged; above this it is no utilization at all.
MOST_PERCENT: Final = 1_000.0
# A thousand times the peak of any chip.
MOST_FLOPS: Final = 1e18
# A thousand times the device memory of the largest node.
MOST_BYTES: Final = 2.0**50
# Executions and errors of one period; 7,000 a second were captured.
MOST_COUNT: Final = 1e12
MOST_SECONDS: Final = 86_400.0
# The largest node has 128 cores and 16 devices, an UltraServer 64 devices.
MOST_DEVICES: Final = 64
MOST_CORES_PER_DEVICE: Final = 16
MOST_GROUPING: Final = 8
MOST_CORES: Final = MOST_DEVICES * MOST_CORES_PER_DEVICE
MOST_RUNTIMES: Final = 1_024
MOST_PID: Final = 2**31 - 1
# A tag is documented to have at most 255 characters; an error text has no limit.
LONGEST_TAG: Final = 255
LONGEST_TEXT: Final = 200
_ODDITIES_KEPT: Final = 5

CORE_INDEX: Final = {str(index): index for index in range(MOST_CORES)}


class Oddities:
    """The figures of one report that cannot be, in words; the first few of them."""

    def __init__(self) -> None:
        self._texts: dict[str, None] = {}

    def note(self, what: str, value: object) -> None:
        """``what`` had ``value``, which is left out."""
        if len(self._texts) < _ODDITIES_KEPT:
            self._texts[f"{what} {_shown(value)} cannot be; left out"] = None

    def number(self, value: float | None, most: float, what: str) -> float | None:
        """``value`` when it is in 0..``most``; None, and noted, when it is not."""
        if value is None or 0 <= value <= most:
            return value
        self.note(what, value)
        return None

    def whole(self, value: float | None, most: float, what: str) -> int | None:
        """The same as a whole number."""
        kept = self.number(value, most, what)
        return None if kept is None else int(kept)

    def texts(self) -> tuple[str, ...]:
        """All that was noted."""
        return tuple(self._texts)


def clipped(text: str | None) -> str | None:
    """``text`` on one line and of bounded length; None when there is nothing in it."""
    if not text:
        return None
    return " ".join(text[: 2 * LONGEST_TEXT].split())[:LONGEST_TEXT] or None


def _shown(value: object) -> str:
    # An integer of thousands of digits refuses to be written out.
    return "of many digits" if isinstance(value, int) and value.bit_length() > 64 else str(value)[:80]
