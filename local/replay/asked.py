"""What the capacity watch asks CloudWatch of a fleet's agents, answered from the replay's own store.

It asks up to the minute before its own, of which some may still arrive.
"""

from typing import Final

from fleet import metrics
from fleet.job_pace import may_straggle, points_apart
from fleet.metrics import MetricSpec
from fleet.reserved.silence import HEARD_MINUTES, agents_heard
from local.alarm_evaluation import SeriesKey
from local.replay.node import ENVIRONMENT
from local.replay.store import MINUTE, Store

_BUSY: Final = metrics.NEURON_CORE_UTILIZATION_WHEN_RUNNING


def heard(store: Store, fleet: str, begin: int) -> int:
    """How many of the fleet's agents spoke; the watch looks in the minute that begins at unix second ``begin``."""
    key = _series(metrics.AGENT_HEARTBEAT, fleet)
    return agents_heard(list(store.values(key, "Sum", begin - HEARD_MINUTES * MINUTE, begin, MINUTE).values()))


def apart(store: Store, fleet: str, begin: int) -> float | None:
    """How far the cores of a job are apart, as ``fleet.job_pace`` says; None where nobody would ask."""
    of_fleet = _series(_BUSY, fleet)
    ends = [_value(store, of_fleet, statistic, begin) for statistic in ("Maximum", "Minimum")]
    known = [end for end in ends if end is not None]
    if len(known) < len(ends) or not may_straggle(*known):
        return None
    jobs = [
        (_value(store, key, "p50", begin), _value(store, key, "Minimum", begin))
        for key in store.named(_BUSY.name)
        if of_fleet.dimensions < key.dimensions
    ]
    return points_apart((median, lowest) for median, lowest in jobs if median is not None and lowest is not None)


def _series(spec: MetricSpec, fleet: str) -> SeriesKey:
    dimensions = frozenset({(metrics.ENVIRONMENT, ENVIRONMENT), (metrics.FLEET, fleet)})
    return SeriesKey(metrics.NAMESPACE, spec.name, dimensions)


def _value(store: Store, key: SeriesKey, statistic: str, begin: int) -> float | None:
    return store.values(key, statistic, begin - MINUTE, begin, MINUTE).get(begin - MINUTE)
