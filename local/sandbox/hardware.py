"""What the driver, the kernel and the tools show of a node's devices, as files and as programs that print."""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from fleet.instances import InstanceType

_DEVICES: Final = "sys/devices/virtual/neuron_device"


@dataclass(frozen=True, slots=True)
class Hardware:
    """The devices that work: fewer than ``kind`` promises on a node that the gate must hold back."""

    kind: InstanceType
    devices: int
    efa_devices: int

    @classmethod
    def whole(cls, kind: InstanceType, efa_devices: int) -> "Hardware":
        """Everything that the type promises."""
        return cls(kind, kind.devices, efa_devices)


def show(hardware: Hardware, root: Path, boot: str) -> None:
    """Write /sys, /proc and the kernel's log below ``root``; ``boot`` is the kernel's name for this boot."""
    for device in range(hardware.devices):
        folder = root / _DEVICES / f"neuron{device}"
        folder.mkdir(parents=True)
        (folder / "core_count").write_text(f"{hardware.kind.accelerator.cores}\n", encoding="utf-8")
    driver = root / "sys/bus/pci/drivers/efa"
    driver.mkdir(parents=True)
    for device in range(hardware.efa_devices):
        folder = root / f"sys/class/infiniband/rdmap{device}s6/device"
        folder.mkdir(parents=True)
        (folder / "driver").symlink_to(driver)
    kernel = root / "proc/sys/kernel/random"
    kernel.mkdir(parents=True)
    (kernel / "boot_id").write_text(f"{boot}\n", encoding="ascii")


def tools(hardware: Hardware) -> Mapping[str, str]:
    """What the gate's tools print, by their names. neuron-ls in JSON: as captured on a trn1.2xlarge."""
    memory = hardware.kind.accelerator.memory_bytes
    listed = [{"neuron_device": device, "memory_size": memory} for device in range(hardware.devices)]
    domain = "provider: efa\n    fabric: efa\n    domain: rdmap{}s6-rdm\n    version: 122.0\n    type: FI_EP_RDM\n"
    return {
        "neuron-ls": json.dumps(listed),
        "fi_info": "".join(domain.format(device) for device in range(hardware.efa_devices)),
        "nccom-test": "size(B)  count(elems)  type  time(us)  algbw(GB/s)  busbw(GB/s)\n32  32  uint8  310  0.0  0.0\n",
    }


def show_process(proc: Path, pid: int, command: str, environment: Mapping[str, str]) -> None:
    """A process in /proc, with the environment that it was started with."""
    folder = proc / str(pid)
    folder.mkdir(exist_ok=True)
    (folder / "comm").write_text(f"{command.split(maxsplit=1)[0]}\n", encoding="utf-8")
    (folder / "cmdline").write_bytes(command.encode().replace(b" ", b"\0") + b"\0")
    (folder / "stat").write_text(f"{pid} ({command.split(maxsplit=1)[0]}) S 1 {pid} {pid} 0\n", encoding="utf-8")
    content = b"".join(os.fsencode(f"{name}={value}") + b"\0" for name, value in environment.items())
    (folder / "environ").write_bytes(content)
