"""The families of one batch: what its log event says by core and by device, and its datums by node and by job.

Absent stays absent: there is a point only for what the minute measured. The number of points is bounded by the node's
cores and devices and by its jobs; processes are not shown.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from agents.minute.batch import Batch, Datum
from agents.sinks.series import names
from agents.sinks.series.collected import device_families, host_families
from agents.sinks.series.datums import most, values
from agents.sinks.series.family import Family, Point, Shape, distinct, point
from agents.sinks.series.jobs import judged_families, published_families
from agents.sinks.series.names import PREFIX
from fleet.metrics import HBM_USED_PERCENT, PERIOD_SECONDS
from fleet.node_state import NodeState

_CORE: Final = ("neuron_core", "neuron_device")
_DEVICE: Final = ("neuron_device",)
_INFO: Final = ("node", "instance_type", "availability_zone", "owner", "agent_version")


def families(batch: Batch) -> tuple[Family, ...]:
    """Everything that ``batch`` has to show; a family without a point is left out."""
    event = batch.log_event
    # The record keeps what was seen before a node went blind; a graph must not show it as that minute's.
    work = {} if event.get("state") == NodeState.BLIND else event
    found = [
        *_info(event),
        *_states(event),
        *_cores(work),
        *_devices(work),
        *_errors(event),
        *device_families(event),
        *host_families(event),
        *_of_node(batch.metric_data),
        *_hbm(batch.metric_data),
        *published_families(batch.metric_data, event),
        *judged_families(work),
        _last_minute(batch),
    ]
    # One scrape with a name twice is refused as a whole.
    first = {family.name: family for family in reversed(found) if family.points}
    return tuple(reversed(first.values()))


def _family(
    name: str, shape: Shape, text: str, labels: tuple[str, ...], points: Iterable[Point | None], own: bool = False
) -> Family:
    return Family(f"{PREFIX}_{name}", shape, text, labels, distinct(points, shape), own)


def _last_minute(batch: Batch) -> Family:
    end = Point((), float(batch.minute + PERIOD_SECONDS))
    text = "end of the newest minute that the agent closed, unix time"
    return _family("agent_last_minute_timestamp_seconds", Shape.GAUGE, text, (), [end], own=True)


def _info(event: Mapping[str, Any]) -> Iterator[Family]:
    values = tuple(str(event.get(name) or "") for name in _INFO)
    yield _family("node", Shape.INFO, "the node and its agent", _INFO, [Point(values, 1.0)], own=True)


def _states(event: Mapping[str, Any]) -> Iterator[Family]:
    state = event.get("state")
    points = [Point((each.value,), float(each.value == state)) for each in NodeState] if state else []
    yield _family("node_state", Shape.STATES, "the node's state", (f"{PREFIX}_node_state",), points)


def _cores(event: Mapping[str, Any]) -> Iterator[Family]:
    cores, size, peak = event.get("cores") or {}, event.get("cores_per_device"), event.get("core_peak_flops")

    def family(name: str, text: str, key: str, scale: float = 1.0) -> Family:
        return _family(name, Shape.GAUGE, text, _CORE, _by_core(cores.get(key), size, scale))

    yield family("core_utilization_ratio", "busy time of the core, the most of its runtimes", "utilization", 0.01)
    yield family("core_flops_per_second", "effective FLOP/s of the core", "flops")
    if peak:
        text = "effective FLOP/s over the peak of the core's tensor engine"
        yield family("core_tensor_engine_utilization_ratio", text, "flops", 1 / peak)
    yield family("core_memory_used_bytes", "device memory that the core's runtimes hold, most in the minute", "bytes")


def _by_core(values: Iterable[object] | None, size: int | None, scale: float) -> Iterator[Point | None]:
    for core, value in enumerate(values or ()):
        device = str(core // size) if size else ""
        yield point(value, str(core), device, scale=scale)


def _devices(event: Mapping[str, Any]) -> Iterator[Family]:
    used, size = event.get("device_used_bytes") or (), event.get("device_memory_bytes")
    points = [point(value, str(device)) for device, value in enumerate(used)]
    text = "memory that runtimes hold on the device, most in the minute"
    yield _family("device_memory_used_bytes", Shape.GAUGE, text, _DEVICE, points)
    sizes = [point(size, str(device)) for device in range(len(used))]
    yield _family("device_memory_size_bytes", Shape.GAUGE, "memory of the device", _DEVICE, sizes)
    devices = event.get("devices") or {}
    counters = [
        point(value, str(device), str(counter))
        for counter, values in (devices.get("ecc") or {}).items()
        for device, value in zip(devices.get("index") or (), values, strict=False)
    ]
    text = "memory errors as neuron-monitor reports them; whether since boot or by period is not documented"
    yield _family("device_ecc_reported_errors", Shape.GAUGE, text, (*_DEVICE, "counter"), counters)


def _errors(event: Mapping[str, Any]) -> Iterator[Family]:
    kinds = event.get("execution_errors_by_kind") or {}
    points = [point(count, str(kind)) for kind, count in kinds.items()]
    yield _family("node_execution_errors_by_kind", Shape.COUNT, "graph executions that failed", ("kind",), points)
    seen = [
        point(error.get("count"), _index(error.get("device")), str(error.get("kind")), str(error.get("action")))
        for error in event.get("hardware_errors") or ()
    ]
    labels = (*_DEVICE, "kind", "action")
    yield _family("device_hardware_errors", Shape.COUNT, "hardware errors and what to do", labels, seen)


def _index(device: object) -> str:
    return "" if device is None else str(device)


def _of_node(datums: Iterable[Datum]) -> Iterator[Family]:
    for spec, value, job in values(datums):
        series = names.of_node(spec) if job is None else None
        if series is not None:
            points = [point(value, scale=series.scale)]
            yield Family(series.name, series.shape, series.help, (), distinct(points, series.shape), series.own)


def _hbm(datums: Iterable[Datum]) -> Iterator[Family]:
    text = "memory that runtimes hold over its size, of the fullest device"
    yield _family("node_hbm_used_ratio", Shape.GAUGE, text, (), [point(most(datums, HBM_USED_PERCENT), scale=0.01)])
