"""A sysfs tree as the Neuron driver shows it, in the layout up to driver 2.30 or with its nodes moved.

Where driver 2.31 moved them is not published: the moved layout here is invented, which is what discovery must bear.
Names of nodes and the form of values are those of ``neuron_sysfs_metrics.c``.
"""

import shutil
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any

from agents.collectors.collector import Contribution
from agents.collectors.reading.boot_memory import BootMemory
from agents.collectors.sysfs.collector import SysfsCollector


def _words(text: str) -> list[str]:
    return text.split()


STATUSES = _words(
    "success failure timeout exec_bad_input hw_error execute_completed_with_error execute_completed_with_num_error "
    "generic_error resource_error resource_nc_error execute_failed_to_queue invalid_error unsupported_neff_version "
    "oob_error hw_collectives_error hw_hbm_ue_error hw_nc_ue_error hw_dma_abort_error execute_sw_nq_overflow "
    "execute_sw_semaphore_error execute_sw_event_error execute_sw_psum_collision execute_sw_sequencer_fatal "
    "hw_repairable_hbm_ue_error"
)
DEVICE_CATEGORIES = _words(
    "collectives constants dma_rings driver_memory model_code model_shared_scratchpad nonshared_scratchpad "
    "notifications runtime_memory tensors uncategorized"
)
HOST_CATEGORIES = _words(
    "application_memory constants dma_buffers dma_rings driver_memory notifications tensors uncategorized"
)
OTHERS = _words("flop_count inference_count model_load_count reset_fail_count reset_req_count nc_time_in_use")
SERIAL_NUMBER = "19fcda00f5ff6eb9"
PE_HEADER = "xrow_grp,mm_active,wl_active,idle\n"


@dataclass(frozen=True)
class _Layout:
    base: str
    hardware: str
    power: str
    host_memory: str
    status: str
    device_memory: str
    others: str
    tensor_engine: str


class Generation(Enum):
    """Which driver made the tree."""

    UNTIL_2_30 = _Layout(
        "devices/virtual/neuron_device",
        "stats/hardware",
        "stats/power",
        "stats/memory_usage/host_mem",
        "stats/status",
        "stats/memory_usage/device_mem",
        "stats/other_info",
        "stats/tensor_engine",
    )
    MOVED = _Layout(
        "class/neuron_device",
        "health/counters/ecc",
        "sensors/board/power",
        "memory/host_mem",
        "runtime/status/by_code",
        "memory/device_mem",
        "runtime/misc",
        "engines/pe",
    )


class NeuronSysfs:
    """The tree below ``sysfs``: everything is zero until it is set."""

    def __init__(
        self, sysfs: Path, devices: int = 2, cores: int = 2, generation: Generation = Generation.UNTIL_2_30
    ) -> None:
        self._layout = generation.value
        self.root = sysfs / self._layout.base
        self._cores = cores
        for device in range(devices):
            self.add(device)

    def add(self, device: int) -> None:
        """Plug a device in."""
        folder = self.root / f"neuron{device}"
        _write(folder / "core_count", str(self._cores))
        _write(folder / "reset", "")
        _write(folder / "power/control", "auto")
        (folder / "subsystem").symlink_to(self.root)
        _write(folder / "info/serial_number", SERIAL_NUMBER)
        for counter in ("mem_ecc_uncorrected", "mem_ecc_repairable_uncorrected", "sram_ecc_uncorrected"):
            self.ecc(device, counter, 0)
        self.power(device, "POWER_STATUS_VALID,1795230000,0.32,3.04,1.57")
        for category in HOST_CATEGORIES:
            self._node(folder / self._layout.host_memory / category, 0)
        for core in range(self._cores):
            self._add_core(device, core)

    def _add_core(self, device: int, core: int) -> None:
        folder = self._core(device, core)
        _write(folder / "info/architecture/arch_type", "NCv2")
        for name in STATUSES:
            self.status(device, core, name, 0)
        self._node(folder / self._layout.device_memory, 0)
        for category in DEVICE_CATEGORIES:
            self.memory(device, core, category, 0)
        self._node(folder / self._layout.device_memory.replace("device_mem", "host_mem"), 0)
        for name in OTHERS:
            self.other(device, core, name, 0)
        self.tensor_engine(device, core, pe_cntrs((0, 0), (0, 0), (0, 0), (0, 0)))

    def remove(self, device: int) -> None:
        """Take a device out."""
        shutil.rmtree(self.root / f"neuron{device}")

    def ecc_path(self, device: int, counter: str) -> Path:
        """The file of an ECC counter."""
        return self.root / f"neuron{device}" / self._layout.hardware / counter

    def ecc(self, device: int, counter: str, value: int | str) -> None:
        """Set an ECC counter."""
        _write(self.ecc_path(device, counter), f"{value}\n")

    def power(self, device: int, text: str) -> None:
        """Set the power line."""
        _write(self.root / f"neuron{device}" / self._layout.power / "utilization", f"{text}\n")

    def health(self, device: int, text: str) -> None:
        """Set the list of unhealthy components, which newer drivers show."""
        folder = self.root / f"neuron{device}" / self._layout.hardware / "health_status"
        _write(folder / "unhealthy_components", text)
        _write(folder / "healthcheck_heartbeat", "17\n")

    def status(self, device: int, core: int, name: str, value: int) -> None:
        """Set a core's count of a return code."""
        self._node(self._core(device, core) / self._layout.status / name, value, present=1)

    def memory(self, device: int, core: int, category: str, value: int, peak: int = 0) -> None:
        """Set device memory of one core; ``category`` is empty for all of it."""
        self._node(self._core(device, core) / self._layout.device_memory / category, value, present=7, peak=peak)

    def host_memory(self, device: int, category: str, value: int) -> None:
        """Set host memory of one device; the driver shows its cores' share of it a second time."""
        self._node(self.root / f"neuron{device}" / self._layout.host_memory / category, value)
        self._node(self._core(device, 0) / self._layout.device_memory.replace("device_mem", "host_mem"), value)

    def other(self, device: int, core: int, name: str, value: int) -> None:
        """Set one of the other counters of a core."""
        self._node(self._core(device, core) / self._layout.others / name, value)

    def tensor_engine(self, device: int, core: int, text: str) -> None:
        """Set the hardware counters of a core's PE array."""
        _write(self._core(device, core) / self._layout.tensor_engine / "pe_cntrs", text)

    def _core(self, device: int, core: int) -> Path:
        return self.root / f"neuron{device}" / f"neuron_core{core}"

    def _node(self, folder: Path, total: int, present: int = 0, peak: int = 0) -> None:
        for name, value in (("total", total), ("present", present), ("peak", peak)):
            _write(folder / name, f"{value}\n")


def pe_cntrs(*groups: tuple[int, int]) -> str:
    """The text of ``pe_cntrs`` with matmul and idle cycles of each row group; it has no line feed at its end."""
    return PE_HEADER + "\n".join(f"{group},{busy},5,{idle}" for group, (busy, idle) in enumerate(groups))


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def collector(folder: Path, boot: str = "boot-1", *, tensor_engine: bool = False) -> SysfsCollector:
    """The agent's collector of the tree in ``folder``, which remembers there what it has counted."""
    memory = BootMemory(folder / "spool/sysfs.json", boot)
    return SysfsCollector(folder / "sys", memory, tensor_engine=tensor_engine)


def devices(seen: Contribution) -> dict[str, Any]:
    """What it says of the devices."""
    shown: dict[str, Any] = seen.event["sysfs_devices"]
    return shown
