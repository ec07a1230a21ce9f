"""Finds the driver's figures by walking its tree: driver 2.31 moved them, and where to is not published.

A file is known by its own name and those of the folders above it, wherever it is (names: Neuron sysfs user guide and
``neuron_sysfs_metrics.c`` of the driver). Of each node of counters ``total`` is what there is now or has been counted;
``present`` is the size of the last allocation and is not read. Nor is anything that is live in new drivers only
(``flop_count``, ``nc_time_in_use``, ``inference_count``): up to driver 2.30.1 it jumps when a process ends, by what
that process did in its whole life. Serial numbers are not read.
"""

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice
from pathlib import Path
from typing import Final

_BASES: Final = ("devices/virtual/neuron_device", "class/neuron_device")
_DEVICE: Final = re.compile(r"neuron(\d{1,4})", re.ASCII)
_CORE: Final = re.compile(r"neuron_core(\d{1,4})", re.ASCII)
_ECC: Final = re.compile(r"(?:mem|sram)_ecc(?:_[a-z]+){1,3}", re.ASCII)
# 16 devices of 8 cores have about 21,000 entries, 10 levels deep at most with room to spare.
_MOST_ENTRIES: Final = 100_000
_DEEPEST: Final = 10


class Measure(StrEnum):
    """What a file says."""

    DEVICE_MEMORY = "device_mem"
    DEVICE_MEMORY_PEAK = "device_mem peak"
    HOST_MEMORY = "host_mem"
    STATUS = "status"
    RESETS = "resets"
    ECC = "ecc"
    POWER = "power"
    UNHEALTHY = "unhealthy"
    TENSOR_ENGINE = "tensor_engine"


RESET_COUNTERS: Final = frozenset({"reset_req_count", "reset_fail_count"})
# Names of before the status counters were renamed begin with infer_; all of them are in a folder called status.
_SUCCESSES: Final = frozenset({"success"})


@dataclass(frozen=True, slots=True)
class Leaf:
    """One file. ``name`` is the category, the status or the counter; empty where the measure has no parts."""

    measure: Measure
    device: int
    core: int | None
    name: str
    path: str


@dataclass(frozen=True, slots=True)
class Tree:
    """All files of use; ``is_cut`` when the tree was larger than is looked at."""

    leaves: tuple[Leaf, ...]
    is_cut: bool


def device_folders(sysfs: Path) -> dict[int, Path]:
    """Folders of the Neuron devices by index; none where there is no driver.

    Raises:
        OSError: the driver's folder exists and cannot be listed.
    """
    for base in _BASES:
        try:
            names = os.listdir(sysfs / base)  # noqa: PTH208 - names alone; a Path for each is not needed
        except FileNotFoundError:
            continue
        found = {int(match[1]): sysfs / base / name for name in names if (match := _DEVICE.fullmatch(name))}
        if found:
            return dict(sorted(found.items()))
    return {}


def walk(folders: dict[int, Path], *, tensor_engine: bool) -> Tree:
    """Everything of use below ``folders``. Folders that cannot be listed are left out: they may be gone already."""
    budget = _Budget(_MOST_ENTRIES)
    leaves: list[Leaf] = []
    for device, folder in folders.items():
        for names, path in _files(folder, budget):
            known = measure_of(names)
            if known is None or (known[0] is Measure.TENSOR_ENGINE and not tensor_engine):
                continue
            leaves.append(Leaf(known[0], device, _core(names), known[1], path))
    return Tree(tuple(leaves), budget.left <= 0)


def measure_of(names: tuple[str, ...]) -> tuple[Measure, str] | None:
    """What the file says whose path below its device is ``names``, and of which part; None when of no use."""
    *folders, file = names
    if file in {"total", "peak"}:
        return _counter(folders, file) if folders else None
    if _ECC.fullmatch(file):
        return Measure.ECC, file
    if "unhealthy_components" in names:
        return Measure.UNHEALTHY, "" if file == "unhealthy_components" else file
    if file == "utilization" and "power" in folders:
        return Measure.POWER, ""
    return (Measure.TENSOR_ENGINE, "") if file == "pe_cntrs" else None


def _counter(folders: list[str], file: str) -> tuple[Measure, str] | None:
    name = folders[-1]
    for memory, measure in (("device_mem", Measure.DEVICE_MEMORY), ("host_mem", Measure.HOST_MEMORY)):
        if memory in folders and file == "total":
            return measure, "" if name == memory else name
    if file == "peak":
        return (Measure.DEVICE_MEMORY_PEAK, "") if name == "device_mem" else None
    if name in RESET_COUNTERS:
        return Measure.RESETS, name
    if _ECC.fullmatch(name):
        return Measure.ECC, name
    return (Measure.STATUS, name) if "status" in folders[:-1] and name not in _SUCCESSES else None


def _core(names: Iterable[str]) -> int | None:
    cores = [int(match[1]) for name in names if (match := _CORE.fullmatch(name))]
    return cores[-1] if cores else None


@dataclass(slots=True)
class _Budget:
    left: int


def _files(folder: Path, budget: _Budget) -> Iterator[tuple[tuple[str, ...], str]]:
    # Links are not followed: "subsystem" and "device" lead out of the tree and back into it.
    pending: list[tuple[tuple[str, ...], str]] = [((), str(folder))]
    while pending and budget.left > 0:
        names, path = pending.pop()
        try:
            with os.scandir(path) as found:
                entries = sorted(islice(found, budget.left), key=lambda entry: entry.name)
        except OSError:
            continue
        budget.left -= len(entries)
        for entry in entries:
            below = (*names, entry.name)
            if entry.is_dir(follow_symlinks=False):
                if len(below) < _DEEPEST:
                    pending.append((below, entry.path))
            elif entry.is_file(follow_symlinks=False):
                yield below, entry.path
