"""neuron-monitor output of every shape that was seen or documented, made here from a few figures.

A ``RuntimeSpec`` says what one Neuron process did; ``report`` writes it the way the tool does: every runtime lists
every core, memory only where there is some.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Json = dict[str, Any]
MIB = 1024**2
GIB = 1024**3


@dataclass(frozen=True)
class RuntimeSpec:
    """One process: percent by core, FLOP/s by core, tensor bytes by core, and what it executed."""

    pid: int
    tag: str
    busy: Mapping[int, float] = field(default_factory=dict)
    flops: Mapping[int, float] = field(default_factory=dict)
    tensors: Mapping[int, int] = field(default_factory=dict)
    completed: int = 0
    timed_out: int = 0
    hardware_errors: int = 0
    p99: float | None = None
    flop_keys: Sequence[str] = ("effective_flops",)


def report(
    runtimes: Sequence[RuntimeSpec],
    *,
    devices: int = 16,
    cores_per_device: int = 2,
    seconds: float = 5.000747861,
    instance_type: str = "trn1.32xlarge",
    ecc: Mapping[int, Mapping[str, int]] | None = None,
) -> Json:
    """One report of a trn1-like node: v2 cores, 32 GiB a device."""
    cores = devices * cores_per_device
    return {
        "neuron_runtime_data": [_runtime(spec, cores, seconds) for spec in runtimes],
        "system_data": {
            "neuron_hw_counters": {"period": seconds, "neuron_devices": _ecc(devices, ecc or {}), "error": ""}
        },
        "instance_info": {
            "instance_id": "i-0123456789abcdef0",
            "instance_type": instance_type,
            "instance_availability_zone": "us-west-2d",
            "error": "",
        },
        "neuron_hardware_info": {
            "neuron_device_type": "trainium",
            "neuron_device_version": "v2",
            "neuroncore_version": "v2",
            "neuron_device_count": devices,
            "neuron_device_memory_size": 32 * GIB,
            "neuroncore_per_device_count": cores_per_device,
            "logical_neuroncore_config": 1,
            "error": "",
        },
    }


def full_node(busy: float = 50.0, flops: float = 36.8e12, completed: int = 10) -> Json:
    """32 processes on 32 cores, each on its own core: 1,024 core entries, 31 of 32 of them zero."""
    return report(
        [
            RuntimeSpec(
                pid=7000 + core,
                tag="1",
                busy={core: busy},
                flops={core: flops},
                tensors={core: 4 * GIB},
                completed=completed,
                p99=0.04,
            )
            for core in range(32)
        ]
    )


def colliding_tags() -> Json:
    """Four containers on four cores: each names its runtime by its own pid, which is 1 in all of them."""
    return report(
        [
            RuntimeSpec(pid=900 + core, tag="1", busy={core: 10.0 * (core + 1)}, tensors={core: 60 * MIB}, completed=1)
            for core in range(4)
        ],
        devices=2,
    )


def grouped_cores() -> Json:
    """Trainium2 with two physical cores in a logical one: 4 logical cores of 2 x 79 TFLOP/s."""
    busy = {core: 40.0 + core for core in range(4)}
    made = report(
        [RuntimeSpec(41210, "rank0", busy, dict.fromkeys(range(4), 31.6e12), dict.fromkeys(range(4), GIB), 120)],
        devices=1,
        cores_per_device=4,
        instance_type="trn2.3xlarge",
    )
    made["neuron_hardware_info"].update(
        neuron_device_type="trainium2",
        neuron_device_version="v4",
        neuroncore_version="v3d",
        neuron_device_memory_size=96 * GIB,
        logical_neuroncore_config=2,
    )
    cores = made["neuron_runtime_data"][0]["report"]["neuroncore_counters"]["neuroncores_in_use"]
    for index, core in enumerate(cores.values()):
        core["flops"] = core.pop("effective_flops")
        core["v3d"] = {
            f"nc_v3.{2 * index}": {"neuroncore_utilization": 20.0},
            f"nc_v3.{2 * index + 1}": {"neuroncore_utilization": 60.0},
        }
    return made


def idle_first_record() -> Json:
    """What comes at once when nothing runs: half a millisecond of host memory."""
    made = report([])
    made["system_data"] = {"memory_info": {"period": 0.00047258, "memory_total_bytes": 33110204416, "error": ""}}
    return made


def no_driver() -> Json:
    """Sections null and an error in the hardware information."""
    made = report([])
    made.update(neuron_runtime_data=None, system_data=None)
    made["neuron_hardware_info"] = {
        "neuron_device_count": 0,
        "neuroncore_per_device_count": 0,
        "error": "driver not loaded",
    }
    return made


def no_devices() -> Json:
    """A container without the device: no error, no device, nothing running."""
    made = report([], devices=0)
    made["system_data"]["neuron_hw_counters"]["neuron_devices"] = None
    return made


def null_sections() -> Json:
    """Two runtimes of which one has no report, and the other neither counters nor memory."""
    made = report([RuntimeSpec(41210, "rank0", completed=120), RuntimeSpec(41377, "1")], devices=1)
    first, second = made["neuron_runtime_data"]
    first["report"].update(neuroncore_counters=None, memory_used=None)
    first["report"]["execution_stats"].update(error_summary=None, latency_stats=None)
    second["report"] = None
    return made


def line(made: Json) -> bytes:
    """As the tool prints it."""
    return json.dumps(made, separators=(",", ":")).encode() + b"\n"


def _runtime(spec: RuntimeSpec, cores: int, seconds: float) -> Json:
    latency = None if spec.p99 is None else {"p50": spec.p99 * 0.9, "p99": spec.p99}
    return {
        "pid": spec.pid,
        "neuron_runtime_tag": spec.tag,
        "error": "",
        "report": {
            "execution_stats": {
                "period": seconds,
                "error_summary": {
                    "generic": 23654,
                    "numerical": 0,
                    "transient": 0,
                    "model": 0,
                    "runtime": 0,
                    "hardware": spec.hardware_errors,
                },
                "execution_summary": {
                    "completed": spec.completed,
                    "completed_with_err": 0,
                    "completed_with_num_err": 0,
                    "timed_out": spec.timed_out,
                    "incorrect_input": 0,
                    "failed_to_queue": 0,
                },
                "latency_stats": {"total_latency": latency, "device_latency": latency},
                "error": "",
            },
            "memory_used": _memory(spec, seconds),
            "neuron_runtime_vcpu_usage": {
                "period": seconds,
                "vcpu_usage": {"user": 0, "system": 0},
                "error": f"open /proc/{spec.pid}/stat: no such file or directory",
            },
            "neuroncore_counters": {
                "period": seconds,
                "neuroncores_in_use": {
                    str(core): {
                        "neuroncore_utilization": spec.busy.get(core, 0),
                        **{key: spec.flops.get(core, 0) for key in spec.flop_keys},
                    }
                    for core in range(cores)
                },
                "error": "",
            },
        },
    }


def _memory(spec: RuntimeSpec, seconds: float) -> Json:
    usage = {
        str(core): {
            "constants": 0,
            "model_code": MIB,
            "model_shared_scratchpad": 0,
            "runtime_memory": 0,
            "tensors": used,
        }
        for core, used in spec.tensors.items()
    }
    total = sum(spec.tensors.values()) + MIB * len(spec.tensors)
    models = [{"name": f"/cache/MODULE_{index}/model.neff", "model_id": index} for index in range(20)]
    return {
        "period": seconds,
        "neuron_runtime_used_bytes": {
            "host": 1000,
            "neuron_device": total,
            "usage_breakdown": {"host": {}, "neuroncore_memory_usage": usage},
        },
        "loaded_models": models,
        "error": "",
    }


def _ecc(devices: int, counts: Mapping[int, Mapping[str, int]]) -> list[Json]:
    zero = {"mem_ecc_corrected": 0, "mem_ecc_uncorrected": 0, "sram_ecc_uncorrected": 0, "sram_ecc_corrected": 0}
    return [{"neuron_device_index": index, **zero, **counts.get(index, {})} for index in range(devices)]
