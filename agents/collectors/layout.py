"""The node's cores and devices: from the report where it says, from the instance catalogue where it does not."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from agents.monitor.report import Hardware
from fleet import instances

# Only newer tools name the core's version; the device's type decides otherwise.
_CORE_BY_DEVICE: Final[Mapping[str, str]] = {
    "inferentia": "v1",
    "inferentia2": "v2",
    "trainium": "v2",
    "trainium2": "v3",
}


@dataclass(frozen=True, slots=True)
class Layout:
    """Cores are logical. ``peak_flops`` is one core's; None where neither source says."""

    devices: int | None
    cores_per_device: int | None
    device_bytes: int | None
    peak_flops: float | None

    @property
    def cores(self) -> int | None:
        """Logical cores of the node."""
        if self.devices is None or self.cores_per_device is None:
            return None
        return self.devices * self.cores_per_device


def of(hardware: Hardware, instance_type: str | None, dtype: str, lnc: int | None) -> Layout:
    """The layout of a node. ``lnc`` overrides what the report says of logical cores."""
    known = instances.catalogue().get(instance_type or "")
    chip = known.accelerator if known is not None and known.is_neuron else None
    grouping = lnc or _grouping(hardware, chip)
    version = hardware.core_version or _CORE_BY_DEVICE.get((hardware.device_type or "").lower())
    if version is None and chip is not None:
        version = chip.neuroncore_version
    return Layout(
        devices=hardware.devices or (known.devices if known is not None and chip is not None else None),
        cores_per_device=hardware.cores_per_device or (chip.cores // grouping if chip is not None else None),
        device_bytes=hardware.device_bytes or (chip.memory_bytes if chip is not None else None),
        peak_flops=None if version is None else instances.tensor_engine_peak_flops(version, dtype, grouping),
    )


def _grouping(hardware: Hardware, chip: instances.Accelerator | None) -> int:
    if hardware.lnc is not None:
        return hardware.lnc
    if (hardware.core_version or "").endswith("d"):
        return 2
    if chip is None:
        return 1
    return chip.cores // hardware.cores_per_device if hardware.cores_per_device else chip.default_lnc
