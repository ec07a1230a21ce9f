"""What the gate can see of a node: files of the driver and the kernel, and what tools printed before it was asked.

The tools are run by ``packaging/gate.sh``, each with a time limit; its output lies in one folder as ``NAME.out`` with
the exit status beside it as ``NAME.status``. A tool that is not installed leaves no files.
"""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec

from agents.collectors.efa.collector import efa_devices
from agents.collectors.kernel_log.collector import entry, errors_of
from agents.collectors.kernel_log.records import KernelRecords
from agents.collectors.seen_error import SeenError
from agents.collectors.sysfs.tree import device_folders
from agents.collectors.tools_version import TOOLS, package_version
from agents.errors import NotAKernelLogError

DRIVER_PACKAGE: Final = "aws-neuronx-dkms"
# neuron-ls lists every process of every core; nobody runs before the gate.
_MOST_OUTPUT: Final = 1024 * 1024
_EFA_PROVIDER: Final = re.compile(r"^provider: efa\b", re.MULTILINE)
_SAID: Final = 200


@dataclass(frozen=True, slots=True)
class Ran:
    """A tool that was run; ``said`` is its last line."""

    passed: bool
    said: str


@dataclass(frozen=True, slots=True)
class Seen:
    """A text in the place of a figure says why it could not be had."""

    devices: tuple[int, ...] | str
    errors: tuple[SeenError, ...] | str
    memory_bytes: Mapping[int, int] | str
    efa_devices: tuple[str, ...] | str
    efa_domains: int | str
    driver: str | None
    tools: str | None
    collective: Ran | None


@dataclass(frozen=True, slots=True)
class Places:
    """Where to look; ``outputs`` is the folder of the tools' outputs, ``root`` that of the package databases."""

    sysfs: Path = Path("/sys")
    kernel_log: Path = Path("/dev/kmsg")
    root: Path = Path("/")
    outputs: Path = Path("/run/neuron-fleet/gate.outputs")


def look(places: Places) -> Seen:
    """Everything that can be seen now."""
    return Seen(
        devices=_devices(places.sysfs),
        errors=_errors(places.kernel_log),
        memory_bytes=_memory(places.outputs),
        efa_devices=_efa(places.sysfs),
        efa_domains=_domains(places.outputs),
        driver=package_version(places.root, DRIVER_PACKAGE),
        tools=package_version(places.root, TOOLS),
        collective=_ran(places.outputs, "nccom-test"),
    )


def _devices(sysfs: Path) -> tuple[int, ...] | str:
    try:
        return tuple(device_folders(sysfs))
    except OSError as error:
        return f"the Neuron devices cannot be listed: {error.strerror}"


def _efa(sysfs: Path) -> tuple[str, ...] | str:
    try:
        return efa_devices(sysfs / "class/infiniband")
    except OSError as error:
        return f"the EFA devices cannot be listed: {error.strerror}"


def _errors(kernel_log: Path) -> tuple[SeenError, ...] | str:
    if not kernel_log.exists():
        return "there is no kernel log"
    try:
        records = KernelRecords(kernel_log).new()
    except (OSError, NotAKernelLogError) as error:
        return f"the kernel log cannot be read: {error}"
    return tuple(errors_of(Counter(filter(None, (entry(record.text) for record in records)))))


def _memory(outputs: Path) -> Mapping[int, int] | str:
    ran = _ran(outputs, "neuron-ls")
    if ran is None:
        return "neuron-ls is not there"
    if not ran.passed:
        return f"neuron-ls failed: {ran.said}"
    try:
        listed = msgspec.json.decode((outputs / "neuron-ls.out").read_bytes()[:_MOST_OUTPUT], type=list[_Listed])
    except (OSError, msgspec.DecodeError) as error:
        return f"neuron-ls is not understood: {error}"
    return {each.neuron_device: each.memory_size for each in listed}


class _Listed(msgspec.Struct, frozen=True):
    """One device of ``neuron-ls`` in JSON; as captured on a trn1.2xlarge."""

    neuron_device: int
    memory_size: int


def _domains(outputs: Path) -> int | str:
    ran = _ran(outputs, "fi_info")
    if ran is None:
        return "fi_info is not there"
    try:
        text = (outputs / "fi_info.out").read_bytes()[:_MOST_OUTPUT].decode("utf-8", "replace")
    except OSError as error:
        return f"what fi_info said cannot be read: {error.strerror}"
    return len(_EFA_PROVIDER.findall(text)) if ran.passed else 0


def _ran(outputs: Path, tool: str) -> Ran | None:
    try:
        status = (outputs / f"{tool}.status").read_text(encoding="utf-8").strip()
        said = (outputs / f"{tool}.out").read_bytes()[-_MOST_OUTPUT:].decode("utf-8", "replace")
    except FileNotFoundError:
        return None
    except OSError as error:
        return Ran(False, error.strerror or "its output cannot be read")
    lines = said.split("\n")
    last = next((line.strip() for line in reversed(lines) if line.strip()), "it said nothing")
    # 124 is the status of timeout(1).
    return Ran(status == "0", "it took too long" if status == "124" else last[:_SAID])
