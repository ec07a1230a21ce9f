"""One look at the machine that this process runs on, by psutil. Counters count since the machine booted."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import psutil

_MOST_DISKS: Final = 8
# Pictures of file systems, and what no job writes to.
_UNINTERESTING: Final = ("/boot", "/snap", "/efi")
# Container and bridge interfaces count again what the real ones carried.
_VIRTUAL: Final = ("lo", "veth", "docker", "br-", "virbr", "cni", "eni", "dummy")


@dataclass(frozen=True, slots=True)
class Disk:
    """A mounted file system on a local disk; bytes. I/O is that of its device, None where it cannot be told."""

    device: str
    is_root: bool
    size: int
    used_percent: float
    read: int | None
    written: int | None


@dataclass(frozen=True, slots=True)
class Interface:
    """A network interface; bytes and packets."""

    name: str
    received: int
    sent: int
    errors: int
    drops: int


@dataclass(frozen=True, slots=True)
class Reading:
    """Seconds of processor time, bytes of memory, swap and disks (``written``: all); load over 1, 5, 15 minutes."""

    cpus: int
    cpu_total: float
    cpu_idle: float
    cpu_iowait: float
    load: tuple[float, float, float]
    memory_total: int
    memory_available: int
    swap_used: int
    written: int | None
    disks: tuple[Disk, ...]
    interfaces: tuple[Interface, ...]


def read() -> Reading:
    """This machine now. Local disks only: asking a file system on the network for its size may never return."""
    times = psutil.cpu_times()
    memory = psutil.virtual_memory()
    whole = psutil.disk_io_counters()
    return Reading(
        cpus=psutil.cpu_count() or 1,
        # The time of guests is part of user and nice already: proc(5).
        cpu_total=sum(times) - times.guest - times.guest_nice,
        cpu_idle=times.idle,
        cpu_iowait=times.iowait,
        load=psutil.getloadavg(),
        memory_total=memory.total,
        memory_available=memory.available,
        swap_used=psutil.swap_memory().used,
        written=None if whole is None else whole.write_bytes,
        disks=tuple(_disks()),
        interfaces=tuple(_interfaces()),
    )


def _disks() -> Iterator[Disk]:
    # Of several mounts of one device the root, or else the shortest name, stands for it.
    partitions = {
        each.device: each for each in sorted(psutil.disk_partitions(), key=lambda each: -len(each.mountpoint))
    }
    counters = psutil.disk_io_counters(perdisk=True) or {}
    wanted = [each for each in partitions.values() if not each.mountpoint.startswith(_UNINTERESTING)]
    for partition in sorted(wanted, key=lambda each: each.mountpoint)[:_MOST_DISKS]:
        device = Path(partition.device).name
        try:
            usage = psutil.disk_usage(partition.mountpoint)
        except OSError:
            # Unmounted since it was listed, or hidden from this service.
            continue
        io = counters.get(device)
        yield Disk(
            device=device,
            is_root=partition.mountpoint == "/",
            size=usage.total,
            used_percent=usage.percent,
            read=None if io is None else io.read_bytes,
            written=None if io is None else io.write_bytes,
        )


def _interfaces() -> Iterator[Interface]:
    for name, io in psutil.net_io_counters(pernic=True).items():
        if not name.startswith(_VIRTUAL):
            yield Interface(name, io.bytes_recv, io.bytes_sent, io.errin + io.errout, io.dropin + io.dropout)
