"""A machine and its network mounts, as a test wants them."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from agents.collectors.host.machine import Disk, Interface, Reading

GIB = 2**30
READING = Reading(
    cpus=8,
    cpu_total=1000.0,
    cpu_idle=600.0,
    cpu_iowait=50.0,
    load=(1.5, 2.25, 3.0),
    memory_total=64 * GIB,
    memory_available=48 * GIB,
    swap_used=0,
    written=100 * GIB,
    disks=(Disk("nvme0n1p1", True, 200 * GIB, 40.5, 10 * GIB, 100 * GIB),),
    interfaces=(Interface("ens32", 1000, 2000, 3, 4),),
)


class FakeMachine:
    """Answers with ``reading``, which a test changes."""

    def __init__(self) -> None:
        self.reading = READING

    def __call__(self) -> Reading:
        return self.reading

    def change(self, **changes: Any) -> None:
        """Replace figures."""
        self.reading = replace(self.reading, **changes)

    def write(self, amount: int) -> None:
        """Write ``amount`` bytes to the disks."""
        self.change(written=(self.reading.written or 0) + amount)


def nfs(*operations: str, point: str = "/efs", device: str = "127.0.0.1:/", read: int = 0, written: int = 0) -> str:
    """A section of mountstats; ``operations`` are whole lines. Programs asked for ten times what the server saw."""
    return "\n".join(
        (
            f"device {device} mounted on {point} with fstype nfs4 statvers=1.1",
            "\topts:\trw,vers=4.1,rsize=1048576,wsize=1048576,hard,proto=tcp,timeo=600,retrans=2",
            "\tage:\t86034",
            "\tcaps:\tcaps=0x3ffbffff,wtmult=512,dtsize=1048576,bsize=0,namlen=255",
            "\tsec:\tflavor=1,pseudoflavor=1",
            "\tevents:\t1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27",
            f"\tbytes:\t{10 * read} {10 * written} 0 0 {read} {written} 7 8",
            "\tRPC iostats version: 1.1  p/v: 100003/4 (nfs)",
            "\txprt:\ttcp 0 1 2 3 4 5 6 7 8 9 10",
            "\tper-op statistics",
            *(f"\t{line}" for line in operations),
            "",
        )
    )


def show_mounts(proc: Path, *sections: str) -> None:
    """Write ``proc``'s mountstats: ``sections`` among local file systems."""
    (proc / "self").mkdir(parents=True, exist_ok=True)
    text = (
        "device /dev/root mounted on / with fstype ext4\n"
        + "".join(sections)
        + "device proc mounted on /proc with fstype proc\n"
    )
    (proc / "self/mountstats").write_text(text)
