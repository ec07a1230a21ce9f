"""Reads a line that is JSON but not of the expected types: what is odd costs its own section, and not the node's sight.

A tool that begins to write one field as text would otherwise blind a whole fleet. Slower than the typed decoder, and
used only when that has refused a line. A section that is given up counts as one that could not be read.
"""

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from agents.monitor.decode import schema
from agents.monitor.decode.plausible import Oddities, clipped

_GROUPS: Final[Mapping[str, Any]] = {
    "neuroncore_counters": schema.CoreCounters | None,
    "memory_used": schema.MemoryUsed | None,
    "execution_stats": schema.ExecutionStats | None,
}


def salvaged(data: bytes, odd: Oddities) -> schema.Line:
    """What can be read of the line; what cannot is noted.

    Raises:
        msgspec.DecodeError: it is not JSON, or no object.
    """
    raw = msgspec.json.decode(data, type=dict[str, Any])
    known: dict[str, Any] = {}
    if "neuron_runtime_data" in raw:
        known["neuron_runtime_data"] = _runtimes(raw["neuron_runtime_data"], odd)
    if "neuron_hardware_info" in raw:
        known["neuron_hardware_info"] = _read(raw, "neuron_hardware_info", schema.HardwareInfo | None, odd)
    known["instance_info"] = _read(raw, "instance_info", schema.InstanceInfo | None, odd)
    known["system_data"] = _read(raw, "system_data", schema.SystemData | None, odd)
    return schema.Line(**known)


def _runtimes(raw: Any, odd: Oddities) -> list[schema.Runtime | None] | None:  # noqa: ANN401 - any JSON
    if not isinstance(raw, list):
        odd.note("neuron_runtime_data", type(raw).__name__)
        return None
    return [_runtime(each, odd) for each in raw]


def _runtime(raw: Any, odd: Oddities) -> schema.Runtime | None:  # noqa: ANN401 - any JSON
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
