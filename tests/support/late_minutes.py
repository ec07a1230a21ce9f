"""An alarm over minutes whose data come late: the incident it is for, the nearest healthy case, and what it tells."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from fleet import metrics
from fleet.alarms import AlarmSpec, Comparison, CompositeSpec, MathRef, MetricRef, Spec, TreatMissingData, alarms_in
from fleet.node_state import NodeState
from local.alarm_evaluation import SeriesKey
from local.alarm_evaluation.statistics import Datum
from local.replay.delivery import Arrivals, Delivery
from local.replay.evaluator import Evaluator
from local.replay.store import MINUTE, Point, Store

START = 1_790_000_040 // MINUTE * MINUTE
# Before it there is nothing to go wrong, and warm-ups are over.
ONSET = 40
NODES = 3
Figures = Mapping[str, float]


@dataclass(frozen=True)
class Case:
    """What is published in a healthy minute, and in one of the incident, by the query's id or the metric's name."""

    healthy: Figures
    ill: Figures
    ill_nodes: int = 1


def of_one_metric(spec: AlarmSpec) -> Case:
    """Just on either side of the threshold; of an alarm on silence, something and nothing."""
    name, bar = spec.metric.names[0], spec.threshold
    if spec.silence is TreatMissingData.BREACHING:
        return Case({name: bar}, {})
    healthy, ill = {
        Comparison.BELOW: (bar, bar - 1),
        Comparison.ABOVE: (bar - 0.01, bar + 1),
        Comparison.AT_LEAST: (bar - 1, bar),
    }[spec.comparison]
    return Case({name: healthy}, {name: ill})


def told(spec: Spec, also: Iterable[Spec], case: Case, ill_minutes: int | None, delivery: Delivery) -> list[int]:
    """The minutes after the onset in which ``spec`` told; the incident has no end where ``ill_minutes`` is None.

    ``also`` are the alarms that a composite reads. Of three nodes some are ill; what AWS publishes has one sender.
    """
    store, arrivals = Store(), Arrivals(delivery, spec.key)
    read = [each for each in (spec, *also) if isinstance(each, AlarmSpec)]
    evaluator = Evaluator([*also, spec], store, START)
    longest = max(each.datapoints[1] for each in read)
    found: list[int] = []
    for minute in range(ONSET + longest + 12 + delivery.allowed_minutes):
        begin = START + minute * MINUTE
        is_ill = minute >= ONSET and (ill_minutes is None or minute < ONSET + ill_minutes)
        for node in range(NODES):
            ill_here = is_ill and node < case.ill_nodes
            state = NodeState.FAULT if ill_here else NodeState.RUNNING
            batch = arrivals.of_node(f"node-{node}", state, begin + MINUTE)
            store.take(_points(read, case.ill if ill_here else case.healthy, begin, by_agents=True), batch)
        of_aws = _points(read, case.ill if is_ill else case.healthy, begin, by_agents=False)
        store.take(of_aws, arrivals.of_aws(begin + MINUTE))
        changes = evaluator.advance(begin)
        found += [minute - ONSET for change in changes if change.spec is spec and change.in_alarm]
    return found


def parts(spec: Spec) -> tuple[AlarmSpec, ...]:
    """The alarms that a composite reads; none of a metric alarm."""
    return alarms_in(spec.rule) if isinstance(spec, CompositeSpec) else ()


def _points(specs: Iterable[AlarmSpec], figures: Figures, begin: int, *, by_agents: bool) -> list[Point]:
    seen: dict[SeriesKey, float] = {}
    for spec in specs:
        refs = spec.metric.queries if isinstance(spec.metric, MathRef) else ((spec.metric.name, spec.metric),)
        for identifier, ref in refs:
            value = figures.get(identifier, figures.get(ref.name))
            if value is not None and _is_of_agents(ref) is by_agents:
                seen[SeriesKey(ref.namespace, ref.name, frozenset(ref.dimensions))] = value
    return [Point(key, begin, Datum.of_values([value], [30.0])) for key, value in seen.items()]


def _is_of_agents(ref: MetricRef) -> bool:
    return ref.namespace == metrics.NAMESPACE and ref.name in metrics.AGENT_CATALOGUE
