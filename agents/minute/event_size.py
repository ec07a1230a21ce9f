"""Keeps a log event such that CloudWatch Logs takes it: valid JSON and bounded, whatever was put into it."""

import json
import math
from typing import Any, Final

from agents.minute.batch import Event

# The service takes 1 MB, took a quarter of that for most of its life, and other shippers still do. A full node of
# 128 cores needs about 6 KB, so only nonsense is ever cut, and it must not push other minutes out of the spool.
MOST_BYTES: Final = 256 * 1024
# What the rest would mean nothing without; all of it is of bounded length.
_KEPT: Final = frozenset(
    {
        *("schema", "environment", "fleet", "node", "instance_type", "availability_zone", "boot_id", "agent_version"),
        *("job", "job_name", "owner", "state", "seq", "minute", "cost_usd_per_hour", "wasted_usd_per_hour"),
        *("hardware_errors", "_aws"),
    }
)
_LONGEST_NAME: Final = 40
_NAMES_TOLD: Final = 20
_MOST_BITS: Final = 1_024


def bounded(event: Event) -> Event:
    """``event`` itself when it fits. Otherwise without its largest properties, whose sizes ``cut`` then tells.

    Numbers that JSON cannot hold (NaN, infinity, integers of thousands of digits) become null.
    """
    try:
        size = _size(event)
    except ValueError:
        event = _finite(event)
        size = _size(event)
    if size <= MOST_BYTES:
        return event
    sizes = {name: _size(value) for name, value in event.items() if name not in _KEPT}
    cut: dict[str, int] = {}
    for name in sorted(sizes, key=lambda name: -sizes[name]):
        if size <= MOST_BYTES // 2:
            break
        cut[name] = sizes[name]
        size -= sizes[name]
    left = {name: value for name, value in event.items() if name not in cut}
    return {**left, "cut": {name[:_LONGEST_NAME]: cut[name] for name in list(cut)[:_NAMES_TOLD]}}


def _size(value: Any) -> int:  # noqa: ANN401 - any JSON
    return len(json.dumps(value, separators=(",", ":"), allow_nan=False))


def _finite(value: Any) -> Any:  # noqa: ANN401 - any JSON
    if isinstance(value, dict):
        return {name: _finite(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    if isinstance(value, int):
        # An integer of thousands of digits cannot be written out.
        return value if value.bit_length() <= _MOST_BITS else None
    return None if isinstance(value, float) and not math.isfinite(value) else value
