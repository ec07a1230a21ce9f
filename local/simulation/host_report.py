"""What a simulated report says of the machine: its instance and devices, memory, CPU, and memory-error counters."""

import random
from typing import Any, Final

import msgspec

from fleet.instance_facts import FILE
from fleet.instances import InstanceType
from local.simulation.script import Phase, PhaseKind, Script

_PAIR: Final = 2


class UnknownReportError(ValueError):
    """Nobody has said how neuron-monitor writes of a chip."""


def instance_info(script: Script) -> dict[str, str]:
    """What instance metadata tells the tool."""
    return {
        "instance_name": "",
        "instance_id": script.node,
        "instance_type": script.instance_type,
        "instance_availability_zone": script.availability_zone,
        "instance_availability_zone_id": script.availability_zone_id,
        "instance_region": script.region,
        "ami_id": "ami-0123456789abcdef0",
        "subnet_id": "subnet-0123456789abcdef0",
        "error": "",
    }


def core_version(kind: InstanceType, lnc: int) -> str:
    """As the tool writes it: ``v3d`` for cores of version 3 that are grouped in twos."""
    return f"{kind.accelerator.neuroncore_version}{'d' if lnc == _PAIR else ''}"


def hardware_info(kind: InstanceType, neuroncore_version: str, lnc: int) -> dict[str, Any]:
    """What the driver tells the tool.

    Raises:
        UnknownReportError: the data file does not say what the tool calls the chip.
    """
    monitor = kind.accelerator.monitor
    if monitor is None:
        fact = f"accelerators.{kind.accelerator.model}.monitor"
        raise UnknownReportError(f"{kind.name} cannot be simulated: {FILE} states no {fact}; complete it there")
    return {
        "neuron_device_type": monitor.device_type,
        "neuron_device_version": monitor.device_version,
        "neuroncore_version": neuroncore_version,
        "neuron_device_count": kind.devices,
        "neuron_device_memory_size": kind.accelerator.memory_bytes,
        "neuroncore_per_device_count": kind.logical_cores(lnc) // kind.devices,
        "logical_neuroncore_config": lnc,
        "error": "",
    }


_SYSTEM_PERCENT: Final = 1.6
_USER_PERCENT: Final = {
    PhaseKind.COMPILING: 55.0,
    PhaseKind.NO_JOB: 2.0,
    PhaseKind.IDLE: 2.0,
    PhaseKind.HOST_WORK: 45.0,
    PhaseKind.FETCHING: 6.0,
    PhaseKind.WAITING: 4.0,
}
_WAITS_FOR_STORAGE: Final = frozenset({PhaseKind.CHECKPOINT, PhaseKind.DATA_STALL, PhaseKind.FETCHING})


def system_data(kind: InstanceType, phase: Phase, period: float, noise: random.Random) -> dict[str, Any]:
    """The report's ``system_data`` for a node of type ``kind``."""
    usage = _cpu(phase, noise)
    # Encoded once: two hundred CPUs that say the same would be half of the work of a report.
    one = msgspec.Raw(msgspec.json.encode(usage))
    total = int(kind.memory_gib * 1024**3)
    return {
        "memory_info": {
            "period": period,
            "memory_total_bytes": total,
            "memory_used_bytes": total // 7,
            "swap_total_bytes": 0,
            "swap_used_bytes": 0,
            "error": "",
        },
        "neuron_hw_counters": {"period": period, "neuron_devices": _ecc(kind.devices, phase), "error": ""},
        "vcpu_usage": {
            "period": period,
            "average_usage": usage,
            "usage_data": {str(vcpu): one for vcpu in range(kind.vcpus)},
            "context_switch_count": round(34000 * period),
            "error": "",
        },
    }


def _cpu(phase: Phase, noise: random.Random) -> dict[str, float]:
    user = round(_USER_PERCENT.get(phase.kind, 18.0) + noise.uniform(-1, 1), 2)
    io_wait = 22.0 if phase.kind in _WAITS_FOR_STORAGE else 0.2
    idle = round(100 - _SYSTEM_PERCENT - user - io_wait, 2)
    busy = {"user": user, "nice": 0, "system": _SYSTEM_PERCENT}
    return {**busy, "idle": idle, "io_wait": io_wait, "irq": 0, "soft_irq": 0}


def _ecc(devices: int, phase: Phase) -> list[dict[str, int]]:
    faulty = phase.device if phase.kind is PhaseKind.HARDWARE_ERROR else None
    return [
        {
            "neuron_device_index": device,
            "mem_ecc_corrected": 0,
            "mem_ecc_uncorrected": int(device == faulty),
            "sram_ecc_uncorrected": 0,
            "sram_ecc_corrected": 0,
        }
        for device in range(devices)
    ]
