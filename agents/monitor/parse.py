"""From a line's bytes to a report.

A section that carries an ``error``, is null or is absent yields None, whatever zeros stand beside the error.
"""

from typing import Any, Final

import msgspec

from agents.monitor import schema
from agents.monitor.report import CoreBytes, CoreRates, Ecc, Executions, Hardware, Report, Runtime

# A thousand times the peak of any chip: a counter that ran over, and no measurement.
_ABSURD_FLOPS: Final = 1e18


class UnreadableLineError(ValueError):
    """A line that is not a neuron-monitor report; the message says why."""


def parse(data: bytes) -> Report:
    """The report in one line, or in one whole file.

    Raises:
        UnreadableLineError: the data is cut short, is not JSON, or is JSON of something else.
    """
    try:
        return _report(schema.DECODER.decode(data))
    except (msgspec.DecodeError, UnicodeDecodeError, OverflowError) as error:
        raise UnreadableLineError(f"not a neuron-monitor report: {error}") from error


def _report(line: schema.Line) -> Report:
    if line.neuron_runtime_data is msgspec.UNSET and line.neuron_hardware_info is msgspec.UNSET:
        raise UnreadableLineError("not a neuron-monitor report: neither runtimes nor hardware in it")
    runtimes = line.neuron_runtime_data or () if isinstance(line.neuron_runtime_data, list) else None
    hardware = line.neuron_hardware_info
    info = line.instance_info or schema.InstanceInfo()
    return Report(
        runtimes=None if runtimes is None else tuple(_runtime(runtime) for runtime in runtimes if runtime is not None),
        ecc=_ecc(line.system_data),
        hardware=_hardware(hardware) if isinstance(hardware, schema.HardwareInfo) else Hardware(),
        instance_id=info.instance_id or None,
        instance_type=info.instance_type or None,
        availability_zone=info.instance_availability_zone or None,
    )


def _runtime(runtime: schema.Runtime) -> Runtime:
    sections = runtime.report if runtime.report is not None and not runtime.error else schema.RuntimeSections()
    return Runtime(
        pid=runtime.pid or 0,
        tag=runtime.neuron_runtime_tag or "",
        rates=_rates(sections.neuroncore_counters),
        memory=_memory(sections.memory_used),
        executions=_executions(sections.execution_stats),
    )


def _rates(section: schema.CoreCounters | None) -> CoreRates | None:
    if section is None or section.error or section.neuroncores_in_use is None:
        return None
    utilization: dict[int, float] = {}
    flops: dict[int, float] = {}
    for name, core in section.neuroncores_in_use.items():
        if core is None:
            continue
        busy = core.neuroncore_utilization
        if busy is None and core.v3d:
            busy = _physical_mean(core.v3d)
        rate = core.effective_flops if core.effective_flops is not None else core.flops
        if not name.isdecimal():
            continue
        if busy is not None and busy >= 0:
            utilization[int(name)] = busy
        if rate is not None and 0 <= rate < _ABSURD_FLOPS:
            flops[int(name)] = rate
    return CoreRates(section.period, utilization, flops)


def _physical_mean(physical: Any) -> float | None:  # noqa: ANN401 - no capture confirms the shape
    if not isinstance(physical, dict):
        return None
    figures = [core.get("neuroncore_utilization") for core in physical.values() if isinstance(core, dict)]
    known = [float(figure) for figure in figures if isinstance(figure, int | float)]
    return sum(known) / len(known) if known and len(known) == len(figures) else None


def _memory(section: schema.MemoryUsed | None) -> CoreBytes | None:
    used = None if section is None or section.error else section.neuron_runtime_used_bytes
    breakdown = None if used is None else used.usage_breakdown
    cores = None if breakdown is None else breakdown.neuroncore_memory_usage
    if cores is None:
        return None
    total: dict[int, int] = {}
    holds: set[int] = set()
    for name, core in cores.items():
        if core is None or not name.isdecimal():
            continue
        data = (core.constants or 0) + (core.tensors or 0) + (core.model_shared_scratchpad or 0)
        total[int(name)] = int(data + (core.model_code or 0) + (core.runtime_memory or 0))
        # Every capture has a little code of the runtime itself on the other core of the device (32 KB to 1.7 MB);
        # a model never runs without constants, tensors or scratch space.
        if data > 0:
            holds.add(int(name))
    return CoreBytes(total, frozenset(holds))


def _executions(section: schema.ExecutionStats | None) -> Executions | None:
    if section is None or section.error:
        return None
    completed, failed = _summary(section.execution_summary)
    errors = {
        kind: int(count)
        for kind in schema.ErrorSummary.__struct_fields__
        if (count := getattr(section.error_summary, kind, None))
    }
    latency = section.latency_stats and section.latency_stats.device_latency
    return Executions(section.period, completed, failed, errors, latency.p99 if latency else None)


def _summary(summary: schema.ExecutionSummary | None) -> tuple[int | None, int | None]:
    if summary is None:
        return None, None
    failures = (
        summary.completed_with_err,
        summary.completed_with_num_err,
        summary.timed_out,
        summary.incorrect_input,
        summary.failed_to_queue,
    )
    known = [count for count in failures if count is not None]
    completed = None if summary.completed is None else int(summary.completed)
    return completed, int(sum(known)) if known else None


def _ecc(system: schema.SystemData | None) -> tuple[Ecc, ...] | None:
    section = system.neuron_hw_counters if system is not None else None
    if section is None or section.error or section.neuron_devices is None:
        return None
    return tuple(
        Ecc(
            device=int(device.neuron_device_index or 0),
            counters={
                name: int(value)
                for name in schema.DeviceEcc.__struct_fields__
                if name != "neuron_device_index" and (value := getattr(device, name)) is not None
            },
        )
        for device in section.neuron_devices
        if device is not None
    )


def _hardware(info: schema.HardwareInfo) -> Hardware:
    return Hardware(
        device_type=info.neuron_device_type or None,
        core_version=info.neuroncore_version or None,
        devices=_whole(info.neuron_device_count),
        device_bytes=_whole(info.neuron_device_memory_size) or None,
        cores_per_device=_whole(info.neuroncore_per_device_count) or None,
        lnc=_whole(info.logical_neuroncore_config) or None,
        error=info.error or None,
    )


def _whole(value: float | None) -> int | None:
    return None if value is None else int(value)
