"""Alarm sets that others use, as data, to be held against ours on the same corpus.

Each watches what its own tool publishes. Sources:

- ``naive``: the rule of most tutorials, average utilization below 10 % for five minutes, over the cores in use.
- ``cloudwatch-agent``: the same rule over the metrics of the CloudWatch agent's Neuron receiver, which adds zeros for
  cores without a runtime and turns stale figures into 0 (amazon-cloudwatch-agent, ``plugins/processors/awsneuron`` and
  its ``addEmptyMetrics``/``resetStaleDatapoints``), and its hardware error count.
- ``dcgm-style``: rules of public Prometheus alert collections for DCGM, with a core in place of a GPU: a device under
  10 % for ten minutes, any XID, a target that is down for five minutes. Of 19 public rules for underutilized GPUs none
  is gated on a job.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from agents.minute.batch import NodeMinute
from fleet import metrics
from fleet.alarms import AlarmSettings, AlarmSpec, Area, Comparison, MetricRef, Spec, TreatMissingData
from fleet.node_state import NodeState

NAMESPACE: Final = "Baselines"
_ZERO_FILLED: Final = "neuroncore_utilization"
_ERRORS: Final = "neuron_hardware_errors"
_DEVICE: Final = "DCGM_FI_DEV_GPU_UTIL"
_UP: Final = "up"


def published(fleet: str, entry: NodeMinute | None, begin: int) -> Iterator[Mapping[str, Any]]:
    """What the collectors of these sets would publish of a node's minute; ``entry`` is None without an agent."""
    yield _datum(fleet, _UP, begin, 0.0 if entry is None or entry.verdict.state is NodeState.BLIND else 1.0)
    if entry is None:
        return
    blind = entry.verdict.state is NodeState.BLIND
    per_core = {} if blind else entry.figures.utilization.by_core
    means = {core: sum(values) / len(values) for core, values in per_core.items()}
    cores = entry.node.layout.cores or len(means)
    filled = [means.get(core, 0.0) for core in range(cores)]
    if filled:
        yield _datum(fleet, _ZERO_FILLED, begin, sum(filled) / len(filled))
        if not blind:
            yield _datum(fleet, _DEVICE, begin, min(filled))
    yield _datum(fleet, _ERRORS, begin, float(sum(error.count for error in entry.hardware_errors)))


def _datum(fleet: str, name: str, begin: int, value: float) -> Mapping[str, Any]:
    return {
        "MetricName": name,
        "Dimensions": [{"Name": metrics.FLEET, "Value": fleet}],
        "Timestamp": begin,
        "Value": value,
    }


def _rule(
    settings: AlarmSettings, key: str, metric: MetricRef, bar: tuple[Comparison, float], minutes: int
) -> AlarmSpec:
    comparison, threshold = bar
    return settings.about(Area.UTILIZATION).page(
        key,
        summary=key,
        action="",
        metric=metric,
        comparison=comparison,
        threshold=threshold,
        datapoints=(minutes, minutes),
        silence=TreatMissingData.NOT_BREACHING,
    )


def _of(settings: AlarmSettings, name: str, statistic: str) -> MetricRef:
    return MetricRef(NAMESPACE, name, statistic, ((metrics.FLEET, settings.fleet),))


def _naive(settings: AlarmSettings) -> Sequence[Spec]:
    average = settings.metric(metrics.NEURON_CORE_UTILIZATION, "Average")
    return (_rule(settings, "UtilizationBelow10", average, (Comparison.BELOW, 10), 5),)


def _cloudwatch_agent(settings: AlarmSettings) -> Sequence[Spec]:
    return (
        _rule(settings, "UtilizationBelow10", _of(settings, _ZERO_FILLED, "Average"), (Comparison.BELOW, 10), 5),
        _rule(settings, "HardwareErrors", _of(settings, _ERRORS, "Maximum"), (Comparison.ABOVE, 0), 1),
    )


def _dcgm_style(settings: AlarmSettings) -> Sequence[Spec]:
    return (
        _rule(settings, "GpuUnderutilized", _of(settings, _DEVICE, "Minimum"), (Comparison.BELOW, 10), 10),
        _rule(settings, "XidErrors", _of(settings, _ERRORS, "Maximum"), (Comparison.ABOVE, 0), 1),
        _rule(settings, "TargetDown", _of(settings, _UP, "Minimum"), (Comparison.BELOW, 1), 5),
    )


SETS: Final[Mapping[str, Callable[[AlarmSettings], Sequence[Spec]]]] = {
    "naive": _naive,
    "cloudwatch-agent": _cloudwatch_agent,
    "dcgm-style": _dcgm_style,
}
