"""Families of what collectors say in the log event: the driver's devices (``sysfs_devices``) and the host (``host``).

Neuron Observer calls the host's scope ``system``. Power is the driver's own percentage of the device's most, with the
background power taken off, so idle is near zero (aws-neuron-driver, ``neuron_power.c``).
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from agents.sinks.series.family import Family, Point, Shape, point
from agents.sinks.series.names import PREFIX

_LABELS: Final = ("neuron_device",)
_MOST: Final = 1024
# Property, name, scale, and help text.
_FIGURES: Final = (
    ("cpu_busy_percent", "cpu_busy_ratio", 0.01, "CPU time of the host that was neither idle nor waiting for a disk"),
    ("cpu_iowait_percent", "cpu_iowait_ratio", 0.01, "CPU time of the host that waited for a disk"),
    ("memory_used_bytes", "memory_used_bytes", 1.0, "memory of the host that cannot be had without swapping"),
    ("memory_available_bytes", "memory_available_bytes", 1.0, "memory of the host that can be had without swapping"),
)


def device_families(event: Mapping[str, Any]) -> Iterator[Family]:
    """What the sysfs collector read; nothing where there is none."""
    sysfs = event.get("sysfs_devices") or {}
    power = sysfs.get("power_percent") or {}
    for values, name, scale, text in (
        (power.get("avg"), "power_ratio", 0.01, "power over the device's most, background taken off, mean of a minute"),
        (power.get("max"), "power_peak_ratio", 0.01, "the same, most in the minute"),
        (
            sysfs.get("hbm_peak_bytes"),
            "memory_peak_bytes",
            1.0,
            "most memory in use so far, at most: peaks of cores added",
        ),
    ):
        points = _points(sysfs.get("index"), values, scale)
        yield Family(f"{PREFIX}_device_{name}", Shape.GAUGE, text, _LABELS, points)


def _points(index: object, values: object, scale: float) -> tuple[Point, ...]:
    if not isinstance(index, list) or not isinstance(values, list):
        return ()
    # By device, so that none comes twice.
    by_device = dict(zip(index, values, strict=False))
    made = (point(value, str(device), scale=scale) for device, value in by_device.items())
    return tuple(each for each in made if each is not None)[:_MOST]


def host_families(event: Mapping[str, Any]) -> Iterator[Family]:
    """What the host collector measured; nothing where there is none."""
    host = event.get("host") or {}
    for key, name, scale, text in _FIGURES:
        each = point(host.get(key), scale=scale)
        yield Family(f"{PREFIX}_system_{name}", Shape.GAUGE, text, (), () if each is None else (each,))
