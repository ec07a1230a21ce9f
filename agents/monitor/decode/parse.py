"""From a line's bytes to a report.

A section that carries an ``error``, is null or is absent yields None, whatever zeros stand beside the error. A figure
that cannot be is left out and named (see ``plausible``).
"""

from typing import Final

import msgspec

from agents.errors import UnreadableLineError
from agents.monitor.decode import plausible, schema, sections
from agents.monitor.decode.plausible import Oddities, clipped
from agents.monitor.decode.report import Ecc, Hardware, Report, Runtime
from agents.monitor.decode.salvage import salvaged

_LONGEST_REASON: Final = 300


def parse(data: bytes) -> Report:
    """The report in one line, or in one whole file.

    Raises:
        UnreadableLineError: the data is cut short, is not JSON, is nested without end, or is JSON of something else.
    """
    odd = Oddities()
    try:
        return _report(_decoded(data, odd), odd)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise UnreadableLineError(f"not a neuron-monitor report: {error}"[:_LONGEST_REASON]) from error


def _decoded(data: bytes, odd: Oddities) -> schema.Line:
    try:
        return schema.DECODER.decode(data)
    except msgspec.ValidationError:
        return salvaged(data, odd)


def _report(line: schema.Line, odd: Oddities) -> Report:
    if line.neuron_runtime_data is msgspec.UNSET and line.neuron_hardware_info is msgspec.UNSET:
        raise UnreadableLineError("not a neuron-monitor report: neither runtimes nor hardware in it")
    runtimes = _runtimes(line, odd)
    hardware = line.neuron_hardware_info
    info = line.instance_info or schema.InstanceInfo()
    ecc = _ecc(line.system_data, odd)
    return Report(
        runtimes=runtimes,
        ecc=ecc,
        hardware=_hardware(hardware, odd) if isinstance(hardware, schema.HardwareInfo) else Hardware(),
        instance_id=clipped(info.instance_id),
        instance_type=clipped(info.instance_type),
        availability_zone=clipped(info.instance_availability_zone),
        oddities=odd.texts(),
    )


def _runtimes(line: schema.Line, odd: Oddities) -> tuple[Runtime, ...] | None:
    listed = line.neuron_runtime_data
    if not isinstance(listed, list):
        return None
    if len(listed) > plausible.MOST_RUNTIMES:
        raise UnreadableLineError(f"not a neuron-monitor report: {len(listed)} runtimes are more than a node can hold")
    return tuple(_runtime(runtime, odd) for runtime in listed if runtime is not None)


def _runtime(runtime: schema.Runtime, odd: Oddities) -> Runtime:
    groups, error = runtime.report, clipped(runtime.error)
    if groups is None and error is None:
        error = "its report is null"
    if groups is None or error is not None:
        groups = schema.RuntimeSections(neuroncore_counters=None, execution_stats=None)
    rates, unread = sections.rates(groups.neuroncore_counters, odd)
    executions, executions_unread = sections.executions(groups.execution_stats, odd)
    return Runtime(
        pid=odd.whole(runtime.pid, plausible.MOST_PID, "pid") or 0,
        tag=(runtime.neuron_runtime_tag or "")[: plausible.LONGEST_TAG],
        rates=rates,
        memory=sections.memory(groups.memory_used, odd),
        executions=executions,
        unread=error or unread,
        executions_unread=executions_unread,
    )


def _ecc(system: schema.SystemData | None, odd: Oddities) -> tuple[Ecc, ...] | None:
    section = system.neuron_hw_counters if system is not None else None
    if section is None or section.error or section.neuron_devices is None:
        return None
    found: dict[int, Ecc] = {}
    for device in section.neuron_devices:
        if device is None:
            continue
        index = odd.whole(device.neuron_device_index, plausible.MOST_DEVICES - 1, "device index")
        if index is not None:
            # Without an index nobody could say which device to replace.
            found[index] = Ecc(index, _counters(device, odd))
    return tuple(found.values())


def _counters(device: schema.DeviceEcc, odd: Oddities) -> dict[str, int]:
    counters = {}
    for name in schema.ECC_COUNTERS:
        value = odd.whole(getattr(device, name), plausible.MOST_COUNT, name)
        if value is not None:
            counters[name] = value
    return counters


def _hardware(info: schema.HardwareInfo, odd: Oddities) -> Hardware:
    return Hardware(
        device_type=clipped(info.neuron_device_type),
        core_version=clipped(info.neuroncore_version),
        devices=odd.whole(info.neuron_device_count, plausible.MOST_DEVICES, "device count"),
        device_bytes=odd.whole(info.neuron_device_memory_size, plausible.MOST_BYTES, "device memory") or None,
        cores_per_device=odd.whole(
            info.neuroncore_per_device_count, plausible.MOST_CORES_PER_DEVICE, "cores per device"
        )
        or None,
        lnc=odd.whole(info.logical_neuroncore_config, plausible.MOST_GROUPING, "logical_neuroncore_config") or None,
        error=clipped(info.error),
    )
