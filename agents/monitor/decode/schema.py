"""neuron-monitor's JSON, as it really comes: any section may be null, absent, or carry an error beside zeros.

Unknown keys are ignored, integers and floats are the same, and nothing is required. ``report`` turns this into what
the rest of the agent uses; nothing else reads these types.
"""

from typing import Any, Final

import msgspec


class _Lenient(msgspec.Struct, frozen=True, gc=False):
    pass


class _Section(_Lenient, frozen=True):
    period: float | None = None
    error: str | None = None


class Core(_Lenient, frozen=True):
    """One core of one runtime. ``v3d`` lists the physical cores of a logical one; its shape is not confirmed."""

    neuroncore_utilization: float | None = None
    effective_flops: float | None = None
    flops: float | None = None
    v3d: Any = None


class CoreCounters(_Section, frozen=True):
    """Despite its name ``neuroncores_in_use`` holds every core of the instance, for every runtime."""

    neuroncores_in_use: dict[str, Core | None] | None = None


class CoreMemory(_Lenient, frozen=True):
    """Bytes on one core by category."""

    constants: float | None = None
    model_code: float | None = None
    model_shared_scratchpad: float | None = None
    runtime_memory: float | None = None
    tensors: float | None = None


class UsageBreakdown(_Lenient, frozen=True):
    """Device memory by core, keyed by the core's index on the instance."""

    neuroncore_memory_usage: dict[str, CoreMemory | None] | None = None


class UsedBytes(_Lenient, frozen=True):
    """Bytes of one runtime."""

    neuron_device: float | None = None
    usage_breakdown: UsageBreakdown | None = None


class MemoryUsed(_Section, frozen=True):
    """Memory of one runtime. The list of loaded models, which can be hundreds, is not read."""

    neuron_runtime_used_bytes: UsedBytes | None = None


class ExecutionSummary(_Lenient, frozen=True):
    """Executions in the period."""

    completed: float | None = None
    completed_with_err: float | None = None
    completed_with_num_err: float | None = None
    timed_out: float | None = None
    incorrect_input: float | None = None
    failed_to_queue: float | None = None


class ErrorSummary(_Lenient, frozen=True):
    """Errors in the period. Old tools add ``generic``, which counts nothing real and is not read."""

    numerical: float | None = None
    transient: float | None = None
    model: float | None = None
    runtime: float | None = None
    hardware: float | None = None


ERROR_KINDS: Final = ErrorSummary.__struct_fields__


class Latency(_Lenient, frozen=True):
    """Seconds."""

    p99: float | None = None


class LatencyStats(_Lenient, frozen=True):
    """Null when nothing ran."""

    device_latency: Latency | None = None


class ExecutionStats(_Section, frozen=True):
    """What one runtime executed."""

    execution_summary: ExecutionSummary | None = None
    error_summary: ErrorSummary | None = None
    latency_stats: LatencyStats | None = None


class RuntimeSections(_Lenient, frozen=True):
    """The groups of one runtime. A group that is absent was not due; one that is null could not be read."""

    neuroncore_counters: CoreCounters | msgspec.UnsetType | None = msgspec.UNSET
    memory_used: MemoryUsed | None = None
    execution_stats: ExecutionStats | msgspec.UnsetType | None = msgspec.UNSET


class Runtime(_Lenient, frozen=True):
    """One Neuron process. The tag is the process's own and not unique; ``pid`` is the host's."""

    pid: int | None = None
    neuron_runtime_tag: str | None = None
    error: str | None = None
    report: RuntimeSections | None = None


class DeviceEcc(_Lenient, frozen=True):
    """Memory errors of one device; whether per period or since boot is not documented."""

    neuron_device_index: float | None = None
    mem_ecc_corrected: float | None = None
    mem_ecc_uncorrected: float | None = None
    sram_ecc_corrected: float | None = None
    sram_ecc_uncorrected: float | None = None


ECC_COUNTERS: Final = tuple(name for name in DeviceEcc.__struct_fields__ if name != "neuron_device_index")


class HardwareCounters(_Section, frozen=True):
    """Null devices when none is visible."""

    neuron_devices: list[DeviceEcc | None] | None = None


class CpuShares(_Lenient, frozen=True):
    """Percent of all CPUs of the host, the container's and everybody else's."""

    user: float | None = None
    nice: float | None = None
    system: float | None = None
    io_wait: float | None = None


class CpuUsage(_Section, frozen=True):
    """The host's CPUs. What each of them does, which can be two hundred entries, is not read."""

    average_usage: CpuShares | None = None


class SystemData(_Lenient, frozen=True):
    """The groups of the host."""

    neuron_hw_counters: HardwareCounters | None = None
    vcpu_usage: CpuUsage | None = None


class InstanceInfo(_Lenient, frozen=True):
    """What instance metadata told the tool."""

    instance_id: str | None = None
    instance_type: str | None = None
    instance_availability_zone: str | None = None


class HardwareInfo(_Lenient, frozen=True):
    """The devices. ``error`` is set when the driver is missing or not running."""

    neuron_device_type: str | None = None
    neuroncore_version: str | None = None
    neuron_device_count: float | None = None
    neuron_device_memory_size: float | None = None
    neuroncore_per_device_count: float | None = None
    logical_neuroncore_config: float | None = None
    error: str | None = None


class Line(_Lenient, frozen=True):
    """One line of output."""

    neuron_runtime_data: list[Runtime | None] | msgspec.UnsetType | None = msgspec.UNSET
    system_data: SystemData | None = None
    instance_info: InstanceInfo | None = None
    neuron_hardware_info: HardwareInfo | msgspec.UnsetType | None = msgspec.UNSET


DECODER = msgspec.json.Decoder(Line)
