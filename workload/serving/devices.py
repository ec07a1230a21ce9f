"""Which Neuron devices the processes of this container hold: those that they have opened.

The driver lets a device be opened and its cores be claimed as two steps, and shows no claim per core in the container
[inferred from the driver's sources]; an open device is the best that can be seen without a tool. In a container with a
process namespace of its own, as ECS makes it, ``/proc`` has its own processes only.
"""

import os
import re
from pathlib import Path
from typing import Final

_DEVICE: Final = re.compile(r"/dev/neuron(\d+)")


def held_devices(proc: Path = Path("/proc")) -> frozenset[int]:
    """The numbers of the devices that any process has open; of other users' processes only root can say."""
    return frozenset(
        int(found[1])
        for process in _processes(proc)
        for link in _links(process / "fd")
        if (found := _DEVICE.fullmatch(link)) is not None
    )


def _processes(proc: Path) -> list[Path]:
    try:
        return [path for path in proc.iterdir() if path.name.isdecimal()]
    except OSError:
        return []


def _links(folder: Path) -> list[str]:
    try:
        return [_target(path) for path in folder.iterdir()]
    except OSError:
        # It has ended, or is another user's.
        return []


def _target(path: Path) -> str:
    try:
        return os.readlink(path)  # noqa: PTH115 - a path that begins with a slash would be resolved as one
    except OSError:
        return ""
