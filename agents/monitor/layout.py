"""The node's cores and devices: from the report where it says, from the instance catalogue where it does not."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache

from agents.monitor.decode.report import Hardware
from fleet import instances
from fleet.accelerators import Accelerator


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


@lru_cache(maxsize=16)
def layout_of(hardware: Hardware, instance_type: str | None, dtype: str, lnc: int | None) -> Layout:
    """The layout of a node. ``lnc`` overrides how many physical cores the report says make a logical one.

    The override changes both the peak and the number of cores: a node whose cores are not grouped has twice as many.
    """
    known = instances.catalogue().get(instance_type or "")
    chip = _chips().get((hardware.device_type or "").lower()) or (
        known.accelerator if known is not None and known.is_neuron else None
    )
    reported = _grouping(hardware, chip)
    grouping = lnc or reported
    physical = chip.cores if chip is not None else (hardware.cores_per_device or 0) * reported
    version = hardware.core_version or (chip.neuroncore_version if chip is not None else None)
    return Layout(
        devices=hardware.devices or (known.devices if known is not None and known.is_neuron else None),
        cores_per_device=(None if lnc else hardware.cores_per_device) or physical // grouping or None,
        device_bytes=hardware.device_bytes or (chip.memory_bytes if chip is not None else None),
        peak_flops=None if version is None else instances.tensor_engine_peak_flops(version, dtype, grouping),
    )


@cache
def _chips() -> Mapping[str, Accelerator]:
    # The tool's device types are the chips' names in lower case.
    known = (entry for entry in instances.catalogue().values() if entry.is_neuron)
    return {entry.accelerator.model.lower(): entry.accelerator for entry in known}


def _grouping(hardware: Hardware, chip: Accelerator | None) -> int:
    if hardware.lnc is not None:
        return hardware.lnc
    if (hardware.core_version or "").endswith("d"):
        return 2
    if chip is None:
        return 1
    if hardware.cores_per_device:
        return chip.cores // hardware.cores_per_device or 1
    return chip.default_lnc
