"""The host's part of a simulated report: memory, CPU, and each device's memory-error counters."""

import random
from typing import Any, Final

import msgspec

from fleet.instances import InstanceType
from local.simulation.protocol import Phase, PhaseKind

_SYSTEM_PERCENT: Final = 1.6
_USER_PERCENT: Final = {PhaseKind.COMPILING: 55.0, PhaseKind.NO_JOB: 2.0}
_WAITS_FOR_STORAGE: Final = frozenset({PhaseKind.CHECKPOINT, PhaseKind.DATA_STALL})


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
