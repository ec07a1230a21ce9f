"""The reports that a simulated node's neuron-monitor prints: the schema of the newest real captures.

Every runtime lists every core, as the real tool does; a runtime's own cores carry the figures and all others zeros.
The noise is a function of the seed, the time since the script's start and the core: a scenario reads the same on every
machine.
"""

import hashlib
import random
from typing import Any, Final

import msgspec

from fleet.instances import InstanceType, instance_type, tensor_engine_peak_flops
from local.simulation.host_report import core_version, hardware_info, instance_info, system_data
from local.simulation.script import EXECUTING, Phase, PhaseKind, Script

# The first report comes at once and covers almost nothing: its rates mean nothing.
FIRST_PERIOD_SECONDS: Final = 0.000512384
# Every later one covers a little more than the period that was asked for.
LATER_BY_SECONDS: Final = 0.000727893
FIRST_RUNTIME_PID: Final = 41210
# A line that is cut off, as a monitor prints it whose pipe breaks.
GARBAGE: Final = b'{"neuron_runtime_data":[{"pid":41210,"neuron_runt'

_NO_RUNTIME: Final = frozenset({PhaseKind.NO_JOB})
# A collective that waits for a peer spins: the cores look busy, and nothing ends.
_BUSY: Final = EXECUTING | {PhaseKind.HANG, PhaseKind.WAITING}
_MODEL_LOADED: Final = _BUSY | {
    PhaseKind.IDLE,
    PhaseKind.CHECKPOINT,
    PhaseKind.HARDWARE_ERROR,
    PhaseKind.HOST_WORK,
    PhaseKind.FETCHING,
}
_ZERO: Final = msgspec.Raw(b'{"neuroncore_utilization":0,"effective_flops":0}')
_NO_ERRORS: Final = {"numerical": 0, "transient": 0, "model": 0, "runtime": 0, "hardware": 0}
_EXECUTIONS_PER_SECOND: Final = 2.6
_STEP_SECONDS: Final = 0.38


class ReportBuilder:
    """Prints one node's reports. Reports must be asked for in the order of time."""

    def __init__(self, script: Script) -> None:
        self._script = script
        self._type: InstanceType = instance_type(script.instance_type)
        self._cores = self._type.logical_cores(script.lnc)
        self._version = core_version(self._type, script.lnc)
        self._peak = tensor_engine_peak_flops(self._version, script.dtype, script.lnc) or 0.0
        self._instance_info = _raw(instance_info(script))
        self._hardware_info = _raw(hardware_info(self._type, self._version, script.lnc))
        self._zero = _ZERO if script.lnc == 1 else None

    def line(self, now: float, period: float) -> bytes:
        """One report at virtual second ``now`` that covers ``period`` seconds, without the line's end."""
        phase = self._script.phase_at(now)
        elapsed = now - self._script.phases[0].start
        noise = random.Random(_seed(self._script.seed, self._script.node, elapsed))  # noqa: S311 - noise, not a secret
        runtimes = self._runtimes(self._script.all_phases_at(now), period, noise)
        return msgspec.json.encode(
            {
                "neuron_runtime_data": runtimes,
                "system_data": system_data(self._type, phase, period, noise),
                "instance_info": self._instance_info,
                "neuron_hardware_info": self._hardware_info,
            }
        )

    def _runtimes(self, phases: tuple[Phase, ...], period: float, noise: random.Random) -> list[dict[str, Any]]:
        count = self._script.runtimes
        share = self._cores // count
        return [
            self._runtime(index, range(index * share, (index + 1) * share), phase, period, noise)
            for index in range(count)
            if (phase := phases[index * len(phases) // count]).kind not in _NO_RUNTIME
        ]

    def _runtime(self, index: int, own: range, phase: Phase, period: float, noise: random.Random) -> dict[str, Any]:
        busy = phase.kind in _BUSY
        vcpu = {"user": round(noise.uniform(11, 16), 2), "system": round(noise.uniform(8, 12), 2)}
        return {
            "pid": FIRST_RUNTIME_PID + index,
            "neuron_runtime_tag": f"rank{index}",
            "error": "",
            "report": {
                "execution_stats": self._execution_stats(phase, period, noise),
                "memory_used": self._memory(own, phase, period),
                "neuron_runtime_vcpu_usage": {"period": period, "vcpu_usage": vcpu, "error": ""},
                "neuroncore_counters": {
                    "period": period,
                    "neuroncores_in_use": self._core_counters(own, phase if busy else None, noise),
                    "error": "",
                },
            },
        }

    def _execution_stats(self, phase: Phase, period: float, noise: random.Random) -> dict[str, Any]:
        executing = phase.kind in EXECUTING
        speed = phase.tensor_engine_percent / 40
        completed = round(_EXECUTIONS_PER_SECOND * speed * period) if executing else 0
        failed = 1 if phase.kind is PhaseKind.HARDWARE_ERROR and period > 1 else 0
        latency = _latency(_STEP_SECONDS * noise.uniform(0.98, 1.02)) if completed else None
        return {
            "period": period,
            "error_summary": {**_NO_ERRORS, "hardware": failed},
            "execution_summary": {
                "completed": completed,
                "completed_with_err": failed,
                "completed_with_num_err": 0,
                "timed_out": 0,
                "incorrect_input": 0,
                "failed_to_queue": 0,
            },
            "latency_stats": {"total_latency": latency, "device_latency": latency},
            "error": "",
        }

    def _core_counters(self, own: range, phase: Phase | None, noise: random.Random) -> dict[str, Any]:
        return {
            str(core): self._core(core, phase, noise) if phase and core in own else self._idle_core(core)
            for core in range(self._cores)
        }

    def _core(self, core: int, phase: Phase, noise: random.Random) -> dict[str, Any]:
        busy = min(100.0, max(0.0, phase.core_percent + noise.gauss(0, 0.8)))
        engine = min(busy, max(0.0, phase.tensor_engine_percent + noise.gauss(0, 0.6)))
        counters: dict[str, Any] = {
            "neuroncore_utilization": round(busy, 8),
            "effective_flops": round(self._peak * engine / 100),
        }
        if self._script.lnc == 2:
            counters[self._version] = self._physical(core, busy)
        return counters

    def _idle_core(self, core: int) -> object:
        if self._zero is not None:
            return self._zero
        return {"neuroncore_utilization": 0, "effective_flops": 0, self._version: self._physical(core, 0)}

    def _physical(self, core: int, busy: float) -> dict[str, dict[str, float]]:
        """The two physical cores under a logical one, as the documentation shows them for Trainium2."""
        name = f"nc_{self._type.accelerator.neuroncore_version}"
        return {f"{name}.{2 * core + half}": {"neuroncore_utilization": round(busy, 2)} for half in range(2)}

    def _memory(self, own: range, phase: Phase, period: float) -> dict[str, Any]:
        per_core = self._core_memory() if phase.kind in _MODEL_LOADED else {}
        cores = {str(core): per_core for core in own} if per_core else {}
        host = {"application_memory": 1162055680, "constants": 0, "dma_buffers": 4194304, "tensors": 0}
        return {
            "period": period,
            "neuron_runtime_used_bytes": {
                "host": sum(host.values()),
                "neuron_device": sum(per_core.values()) * len(cores),
                "usage_breakdown": {"host": host, "neuroncore_memory_usage": cores},
            },
            "loaded_models": [],
            "error": "",
        }

    def _core_memory(self) -> dict[str, int]:
        """About 70 % of a core's share of the device, in the five categories that the tool counts."""
        share = self._type.hbm_bytes // self._cores
        fixed = {"model_code": 106027452, "model_shared_scratchpad": 268435456, "runtime_memory": 114752}
        constants = share // 8
        tensors = share * 7 // 10 - constants - sum(fixed.values())
        return {"constants": constants, **fixed, "tensors": tensors}


def _raw(value: object) -> msgspec.Raw:
    return msgspec.Raw(msgspec.json.encode(value))


def _seed(seed: int, node: str, elapsed: float) -> int:
    return int.from_bytes(hashlib.blake2b(f"{seed}/{node}/{elapsed:.3f}".encode(), digest_size=8).digest())


def _latency(median: float) -> dict[str, float]:
    spread = {"p0": 0.97, "p1": 0.975, "p25": 0.99, "p50": 1.0, "p75": 1.01, "p99": 1.05, "p100": 1.09}
    return {name: round(median * factor, 6) for name, factor in spread.items()}
