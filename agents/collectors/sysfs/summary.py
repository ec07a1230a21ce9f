"""The devices' details for the log event: one short array a figure, in the order of ``index``.

Arrays instead of an object for each device, because the event is paid for by the byte. An array of a figure that no
device shows is absent; a device that does not show it has null.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from agents.collectors.sysfs.readings import Readings
from agents.collectors.sysfs.rises import Rises, ecc
from agents.collectors.sysfs.tensor_engine import METHOD
from agents.collectors.sysfs.tree import Leaf, Measure

_MOST_NAMES: Final = 16


def summary(
    devices: Iterable[int], readings: Readings, rises: Rises, tensor: Mapping[tuple[int, int], float]
) -> dict[str, Any]:
    """What is known of ``devices``. Bytes and percent; ``status`` are rises, ``resets`` and ``ecc`` totals.

    ``hbm_peak_bytes`` adds up the peaks of cores, which need not have been at one time: it is an upper bound.
    ``hbm_bytes_by_category`` and ``host_bytes`` are of the whole node. ``percent_by_core`` ends with the last core that
    was measured.
    """
    index = list(devices)
    numbers = readings.numbers
    figures: dict[str, Any] = {
        "hbm_bytes": _array(index, _used(numbers, Measure.DEVICE_MEMORY)),
        "hbm_peak_bytes": _array(index, _used(numbers, Measure.DEVICE_MEMORY_PEAK)),
        "hbm_bytes_by_category": _categories(numbers),
        "host_bytes": _node(_used(numbers, Measure.HOST_MEMORY)),
        "power_percent": _power(index, readings),
        "ecc": _named(index, ecc(numbers)),
        "resets": _named(index, _resets(numbers)),
        "status": {name: _array(index, by_device) for name, by_device in _status(rises).items()},
        "unhealthy": {
            str(device): sorted(names)[:_MOST_NAMES] for device, names in readings.unhealthy.items() if names
        },
        "tensor_engine_estimated": _tensor_engines(index, tensor),
    }
    return {"index": index, **{name: figure for name, figure in figures.items() if figure not in (None, [], {})}}


def _array(index: list[int], figures: Mapping[int, Any]) -> list[Any]:
    return [figures.get(device) for device in index] if figures else []


def _node(figures: Mapping[int, int]) -> int | None:
    return sum(figures.values()) if figures else None


def _named(index: list[int], figures: Mapping[tuple[int, str], int]) -> dict[str, list[Any]]:
    names = sorted({name for _, name in figures})[:_MOST_NAMES]
    return {
        name: _array(index, {device: value for (device, other), value in figures.items() if other == name})
        for name in names
    }


def _parts(numbers: Mapping[Leaf, int], measure: Measure) -> dict[tuple[int, int | None, str], int]:
    """By device, core and name; of a figure that is shown at two paths the higher."""
    parts: dict[tuple[int, int | None, str], int] = {}
    for leaf, value in numbers.items():
        if leaf.measure is measure:
            key = (leaf.device, leaf.core, leaf.name)
            parts[key] = max(value, parts.get(key, 0))
    return parts


def _used(numbers: Mapping[Leaf, int], measure: Measure) -> dict[int, int]:
    """Bytes by device: what the driver gives as a whole, else the sum of the categories.

    A device's own figures hold those of its cores.
    """
    whole: dict[tuple[int, int | None], int] = {}
    parts: dict[tuple[int, int | None], int] = {}
    for (device, core, name), value in _parts(numbers, measure).items():
        kept = parts if name else whole
        kept[device, core] = kept.get((device, core), 0) + value
    by_core = {**parts, **whole}
    totals: dict[int, int] = {}
    for (device, core), value in by_core.items():
        if core is None or (device, None) not in by_core:
            totals[device] = totals.get(device, 0) + value
    return totals


def _categories(numbers: Mapping[Leaf, int]) -> dict[str, int]:
    totals: dict[str, int] = {}
    for (_, _, name), value in _parts(numbers, Measure.DEVICE_MEMORY).items():
        if name and value:
            totals[name] = totals.get(name, 0) + value
    return dict(sorted(totals.items(), key=lambda item: -item[1])[:_MOST_NAMES])


def _power(index: list[int], readings: Readings) -> dict[str, list[Any]]:
    if not readings.power:
        return {}
    return {
        "max": _array(index, {device: power.maximum for device, power in readings.power.items()}),
        "avg": _array(index, {device: power.average for device, power in readings.power.items()}),
    }


def _resets(numbers: Mapping[Leaf, int]) -> dict[tuple[int, str], int]:
    totals: dict[tuple[int, str], int] = {}
    for (device, _, name), value in _parts(numbers, Measure.RESETS).items():
        totals[device, name] = totals.get((device, name), 0) + value
    return totals


def _status(rises: Rises) -> dict[str, dict[int, int]]:
    names: dict[str, dict[int, int]] = {}
    for device, counts in rises.status.items():
        for name, rise in counts.items():
            names.setdefault(name, {})[device] = rise
    return dict(sorted(names.items())[:_MOST_NAMES])


def _tensor_engines(index: list[int], percent: Mapping[tuple[int, int], float]) -> dict[str, Any]:
    if not percent:
        return {}
    cores = range(max(core for _, core in percent) + 1)
    table = [[_rounded(percent.get((device, core))) for core in cores] for device in index]
    return {"method": METHOD, "percent_by_core": table}


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 1)
