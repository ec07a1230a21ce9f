"""The host's families, from the log event's ``host``: what Neuron Observer calls the scope ``system``."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from agents.sinks.series.family import Family, Shape, point
from agents.sinks.series.names import PREFIX

# Property, name, scale, and help text.
_FIGURES: Final = (
    ("cpu_busy_percent", "cpu_busy_ratio", 0.01, "CPU time of the host that was neither idle nor waiting for a disk"),
    ("cpu_iowait_percent", "cpu_iowait_ratio", 0.01, "CPU time of the host that waited for a disk"),
    ("memory_used_bytes", "memory_used_bytes", 1.0, "memory of the host that cannot be had without swapping"),
    ("memory_available_bytes", "memory_available_bytes", 1.0, "memory of the host that can be had without swapping"),
)


def families(event: Mapping[str, Any]) -> Iterator[Family]:
    """What the host collector measured; nothing where there is none."""
    host = event.get("host") or {}
    for key, name, scale, text in _FIGURES:
        each = point(host.get(key), scale=scale)
        yield Family(f"{PREFIX}_system_{name}", Shape.GAUGE, text, (), () if each is None else (each,))
