"""The kernel log as a file, and the runtime's lines in it."""

from pathlib import Path

from agents.collectors.collector import Contribution
from agents.collectors.kernel_log.collector import KernelLogCollector
from agents.collectors.reading.boot_memory import BootMemory


def record(sequence: int, text: str) -> str:
    """One record as /dev/kmsg gives it."""
    return f"3,{sequence},{1_000_000 + sequence},-;{text}\n"


def hardware(kind: str, device: int = 0, action: str = "TERMINATE_INSTANCE") -> str:
    """The runtime's line about a hardware error."""
    return f"2026-11-21T03:00:00Z NEURON_HW_ERR={kind} hostname=h nd-id={device} nc-id=1 serial-num=ab action={action}"


def append(path: Path, *records: str) -> None:
    """What the kernel logs now."""
    with path.open("a") as stream:
        stream.write("".join(records))


def collector(folder: Path, boot: str = "boot-1") -> KernelLogCollector:
    """The agent's collector of the log in ``folder``, which remembers there what it has counted."""
    return KernelLogCollector(folder / "kmsg", BootMemory(folder / "spool/kernel-log.json", boot))


def errors(seen: Contribution) -> list[tuple[str, int | None, int]]:
    """Kind, device and count of what was seen."""
    return [(each.error.kind, each.device, each.count) for each in seen.hardware_errors]
