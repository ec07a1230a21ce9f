"""From a line's bytes to a report.

A section that carries an ``error``, is null or is absent yields None, whatever zeros stand beside the error. A figure
that cannot be is left out and named (see ``plausible``).

A line that is JSON but not of the expected types is salvaged: what is odd costs its own section, and not the node's
sight. A tool that begins to write one field as text would otherwise blind a whole fleet. That is slower than the typed
decoder, and used only when it has refused a line. A section that is given up counts as one that could not be read.
"""

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from agents.errors import UnreadableLineError
from agents.monitor.decode import plausible, schema, sections
from agents.monitor.decode.plausible import Oddities, clipped
from agents.monitor.decode.report import Ecc, Hardware, Report, Runtime

_LONGEST_REASON: Final = 300
_GROUPS: Final[Mapping[str, Any]] = {
    "neuroncore_counters": schema.CoreCounters | None,
    "memory_used": schema.MemoryUsed | None,
    "execution_stats": schema.ExecutionStats | None,
}


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
        cpu_percent=sections.cpu(line.system_data, odd),
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


def salvaged(data: bytes, odd: Oddities) -> schema.Line:
    """What can be read of the line; what cannot is noted.

    Raises:
        msgspec.DecodeError: it is not JSON, or no object.
    """
    raw = msgspec.json.decode(data, type=dict[str, Any])
    known: dict[str, Any] = {}
    if "neuron_runtime_data" in raw:
        known["neuron_runtime_data"] = _salvaged_runtimes(raw["neuron_runtime_data"], odd)
    if "neuron_hardware_info" in raw:
        known["neuron_hardware_info"] = _read(raw, "neuron_hardware_info", schema.HardwareInfo | None, odd)
    known["instance_info"] = _read(raw, "instance_info", schema.InstanceInfo | None, odd)
    known["system_data"] = _salvaged_system(raw, odd)
    return schema.Line(**known)


def _salvaged_system(raw: Mapping[str, Any], odd: Oddities) -> schema.SystemData | None:
    # CPUs that are told of in another way must not cost the sight of memory errors.
    system = raw.get("system_data")
    if not isinstance(system, dict):
        found: schema.SystemData | None = _read(raw, "system_data", schema.SystemData | None, odd)
        return found
    groups = (("neuron_hw_counters", schema.HardwareCounters | None), ("vcpu_usage", schema.CpuUsage | None))
    return schema.SystemData(**{name: _read(system, name, kind, odd) for name, kind in groups})


def _salvaged_runtimes(raw: Any, odd: Oddities) -> list[schema.Runtime | None] | None:  # noqa: ANN401 - any JSON
    if not isinstance(raw, list):
        odd.note("neuron_runtime_data", type(raw).__name__)
        return None
    return [_salvaged_runtime(each, odd) for each in raw]


def _salvaged_runtime(raw: Any, odd: Oddities) -> schema.Runtime | None:  # noqa: ANN401 - any JSON
    if raw is None:
        return None
    if not isinstance(raw, dict):
        odd.note("runtime", type(raw).__name__)
        return schema.Runtime(error="it is no object")
    report = raw.get("report")
    groups = None
    if isinstance(report, dict):
        present = {name: _read(report, name, kind, odd) for name, kind in _GROUPS.items() if name in report}
        groups = schema.RuntimeSections(**present)
    elif report is not None:
        odd.note("report", type(report).__name__)
    return schema.Runtime(
        pid=_read(raw, "pid", int | None, odd),
        neuron_runtime_tag=_read(raw, "neuron_runtime_tag", str | None, odd),
        error=_error(raw.get("error")),
        report=groups,
    )


def _error(raw: Any) -> str | None:  # noqa: ANN401 - any JSON
    # Whatever an error is made of, it is one.
    return clipped(raw) if isinstance(raw, str) else "an error that is no text" if raw else None


def _read(raw: Mapping[str, Any], name: str, kind: Any, odd: Oddities) -> Any:  # noqa: ANN401 - as ``kind`` says
    try:
        return msgspec.convert(raw.get(name), kind)
    except msgspec.ValidationError as error:
        odd.note(f"{name}, of a shape not known:", str(error))
        return None
