"""From a catalogued metric to the name, the scale and the scope of its series.

Base units as Prometheus has them: ratios from 0 to 1, bytes, seconds, FLOP/s. The scope comes first (``node``, ``job``,
``efa``, ``agent``; ``core``, ``device`` and ``system`` are written elsewhere), so that a name maps to Neuron Observer's
``neuron.{scope}.{name}``; docs/prometheus.md has the table.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from agents.sinks.series.family import Shape
from fleet import metrics
from fleet.metrics import Kind, MetricSpec, Unit

PREFIX: Final = "neuron_fleet"
_WORD: Final = re.compile(r"(?<!^)(?=[A-Z])")
_OWN: Final = frozenset(
    {
        metrics.REPORT_AGE_SECONDS.name,
        metrics.SPOOL_BYTES.name,
        metrics.DROPPED_SAMPLES.name,
        metrics.PUBLISH_RETRIES.name,
        metrics.AGENT_CPU_PERCENT.name,
        metrics.AGENT_RSS_BYTES.name,
    }
)
# Names whose metric is in another unit, or would end in Prometheus's mark of a counter.
_OVERRIDES: Final[Mapping[str, tuple[str, float, str]]] = {
    metrics.ACHIEVED_TFLOPS.name: ("flops_per_second", 1e12, "effective FLOP/s, all cores together"),
    metrics.CORES_TOTAL.name: ("cores", 1.0, metrics.CORES_TOTAL.meaning),
}
# What is shown by core and by device instead, is the state family, or is Prometheus's own ``up``.
_ELSEWHERE: Final = frozenset(
    {
        metrics.TENSOR_ENGINE_UTILIZATION_WHEN_RUNNING.name,
        metrics.NEURON_CORE_UTILIZATION_WHEN_RUNNING.name,
        metrics.AGENT_HEARTBEAT.name,
    }
)


@dataclass(frozen=True, slots=True)
class SeriesName:
    """How a metric is shown; values are multiplied by ``scale``."""

    name: str
    help: str
    shape: Shape
    scale: float
    own: bool = False


def of_node(spec: MetricSpec) -> SeriesName | None:
    """A metric of the fleet set as the node's series; None for what is shown otherwise."""
    if spec.name in _ELSEWHERE or spec.kind in {Kind.DISTRIBUTION, Kind.STATISTICS, Kind.STATE}:
        return None
    base, scale, text = _base(spec)
    own = spec.name in _OWN
    if not base.startswith(("agent_", "efa_")):
        base = f"agent_{base}" if own else f"node_{base}"
    return SeriesName(f"{PREFIX}_{base}", text, _shape(spec), scale, own)


def of_job(spec: MetricSpec) -> SeriesName | None:
    """A metric of the job set as the job's series; a distribution is shown by its mean."""
    if spec.name in _ELSEWHERE or spec.kind in {Kind.STATISTICS, Kind.STATE}:
        return None
    base, scale, text = _base(spec)
    return SeriesName(f"{PREFIX}_job_{base}", f"{text} (of the job, on this node)", _shape(spec), scale)


def _base(spec: MetricSpec) -> tuple[str, float, str]:
    if spec.name in _OVERRIDES:
        return _OVERRIDES[spec.name]
    words = _WORD.sub("_", spec.name).lower()
    if spec.unit is Unit.PERCENT:
        return f"{words.removesuffix('_percent')}_ratio", 0.01, spec.meaning
    if spec.unit is Unit.SECONDS and not words.endswith("_seconds"):
        return f"{words}_seconds", 1.0, spec.meaning
    return words, 1.0, spec.meaning


def _shape(spec: MetricSpec) -> Shape:
    return Shape.COUNT if spec.kind is Kind.PER_MINUTE else Shape.GAUGE
