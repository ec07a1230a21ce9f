"""What the driver, the kernel and the tools show of a node's devices, as files and as programs that print.

The commands on a node's PATH that need root, a network or a device; the rest are this machine's own.
"""

import json
import os
import sys
import sysconfig
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


SCRIPTS: Final = Path(__file__).parent / "scripts"
# The first of these names that the bootstrap looks for; what is behind it is the interpreter of this environment.
_PYTHONS: Final = ("python3.12", "python3")
_VENV: Final = """if [ "$1 $2" = "-m venv" ]; then
    for last; do :; done
    "{python}" -m venv --without-pip "$last" || exit 1
    for packages in "$last"/lib/python3*/site-packages; do
        mkdir -p "$packages/pip" && cp "{pip}" "$packages/pip/__main__.py" || exit 1
    done
    exit 0
fi
exec "{python}" "$@"
"""


def install(folder: Path, systemd: Path, outputs: Mapping[str, str]) -> None:
    """Write them into ``folder``; ``outputs`` are what the Neuron and EFA tools print.

    Each leaves what it was asked in the file ``calls`` beside the folder.
    """
    python = getattr(sys, "_base_executable", sys.executable)
    folder.mkdir()
    for name in _PYTHONS:
        _script(folder, name, _VENV.format(python=python, pip=SCRIPTS / "pip.py"))
    _script(folder, "systemctl", f'exec "{python}" -I -S "{SCRIPTS}/systemctl.py" "{systemd}" "$@"')
    _script(folder, "aws", f'exec "{python}" -I -S "{SCRIPTS}/aws.py" "$@"')
    # sync is of the whole machine, which has other things to do than to outlive this node.
    for name in ("udevadm", "dnf", "apt-get", "snap", "mount", "modprobe", "sync"):
        _script(folder, name, "exit 0")
    # Scripts that look again and again wait less long here, and as often: a time limit counts their looks.
    _script(folder, "sleep", 'case $1 in [1-9]) exec /bin/sleep "0.$1" ;; *) exec /bin/sleep "$1" ;; esac')
    for name, text in outputs.items():
        (folder / f".{name}").write_text(text, encoding="utf-8")
        _script(folder, name, f'cat "{folder}/.{name}"')


def packages() -> str:
    """The folder of the packages of this environment."""
    return sysconfig.get_paths()["purelib"]


def _script(folder: Path, name: str, body: str) -> None:
    path = folder / name
    record = f'echo "{name} $*" >>"{folder.parent}/calls"'
    path.write_text(f"#!/bin/sh\n{record}\n{body}\n", encoding="utf-8")
    path.chmod(0o755)
