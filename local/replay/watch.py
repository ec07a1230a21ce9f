"""What the capacity watch would publish of a replay, once a minute: nodes, reservations, the block's end, changes.

What it asks CloudWatch of a fleet's agents is answered from the replay's own store, for the minutes that
``lambdas/capacity_watch/cloudwatch.py`` asks for: for those that are complete.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from fleet import metrics, operations_metrics
from fleet.fleet_spec import MarketKind
from fleet.lateness import LATE_MINUTES
from fleet.metrics import MetricSpec
from fleet.reserved.assessment import HEARD_MINUTES, SETTLED_AFTER, agents_heard
from fleet.stragglers import may_straggle, points_apart
from local.alarm_evaluation import SeriesKey
from local.replay.life import Life
from local.replay.node import ENVIRONMENT
from local.replay.scenario import Fleet, Scenario
from local.replay.store import MINUTE, Store

_BUSY: Final = metrics.NEURON_CORE_UTILIZATION_WHEN_RUNNING


def heard(store: Store, fleet: str, begin: int) -> int:
    """How many of the fleet's agents spoke; the watch looks in the minute that begins at unix second ``begin``."""
    key, end = _series(metrics.AGENT_HEARTBEAT, fleet), _whole(begin)
    return agents_heard(list(store.values(key, "Sum", end - HEARD_MINUTES * MINUTE, end, MINUTE).values()))


def apart(store: Store, fleet: str, begin: int) -> float | None:
    """How far the cores of a job are apart, as ``fleet.stragglers`` says; None where nobody would ask."""
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
    end = _whole(begin)
    return store.values(key, statistic, end - MINUTE, end, MINUTE).get(end - MINUTE)


def _whole(begin: int) -> int:
    """The end of the newest minute that is complete, however late it comes."""
    return begin - (1 + LATE_MINUTES) * MINUTE


# The watch excuses what is on its way: a node that is replaced takes about this long.
_EXCUSED_MINUTES: Final = 10
# So long before its end a block takes no work any more.
_LETS_GO_MINUTES: Final = 35


@dataclass(frozen=True, slots=True)
class Heard:
    """What CloudWatch tells the watch: how many agents spoke lately, and the points that a job's cores are apart."""

    agents: int
    apart: float | None = None


def watched(  # noqa: PLR0913  the fleet, its minute, and what its agents were heard of
    environment: str, name: str, fleet: Fleet, lives: list[Life], minute: int, begin: int, *, heard: Heard
) -> list[Mapping[str, Any]]:
    """The datums of ``minute``, which begins at unix second ``begin``."""
    dimensions = [{"Name": metrics.ENVIRONMENT, "Value": environment}, {"Name": metrics.FLEET, "Value": name}]
    return [
        {"MetricName": spec.name, "Dimensions": dimensions, "Timestamp": begin, "Value": float(value)}
        for spec, value in _figures(fleet, lives, minute, heard).items()
    ]


def changes(environment: str, scenario: Scenario, minute: int, begin: int) -> list[Mapping[str, Any]]:
    """Who changes the environment in ``minute``: the watch counts deployments at each look, a rollout says its own."""
    going_on = [each.kind for each in scenario.changes if each.at <= minute < each.until]
    figures = {operations_metrics.DEPLOYMENTS_IN_PROGRESS: going_on.count("deployment")}
    if "rollout" in going_on:
        figures[operations_metrics.ROLLOUTS_IN_PROGRESS] = 1
    dimensions = [{"Name": operations_metrics.ENVIRONMENT, "Value": environment}]
    return [
        {"MetricName": metric.name, "Dimensions": dimensions, "Timestamp": begin, "Value": float(value)}
        for metric, value in figures.items()
    ]


def _figures(fleet: Fleet, all_lives: list[Life], minute: int, heard: Heard) -> dict[MetricSpec, float]:
    lives = all_lives
    if fleet.block_ends_at is not None and fleet.block_ends_at - minute <= _LETS_GO_MINUTES:
        # The engine of Capacity Blocks has let go of the nodes on purpose.
        lives = []
    gone = sum(life.happens("node-gone", minute) for life in lives)
    lasting = sum(
        all(life.happens("node-gone", back) for back in range(max(0, minute - _EXCUSED_MINUTES), minute + 1))
        for life in lives
    )
    present = sum(not life.happens("node-gone", minute) for life in all_lives)
    figures: dict[MetricSpec, float] = {metrics.PRESENT_NODES: present, metrics.MISSING_NODES: lasting}
    figures[metrics.SILENT_NODES] = max(0, sum(_settled(life, minute) for life in all_lives) - heard.agents)
    if heard.apart is not None and fleet.purpose == "training":
        figures[metrics.JOB_CORES_APART] = heard.apart
    if fleet.market in {MarketKind.RESERVATION, MarketKind.CAPACITY_BLOCK}:
        left = None if fleet.block_ends_at is None else fleet.block_ends_at - minute
        reserved = fleet.nodes if left is None or left > 0 else 0
        figures[metrics.RESERVED_INSTANCES] = reserved
        figures[metrics.UNUSED_RESERVED_INSTANCES] = gone if reserved else 0
        if left is not None and left > 0:
            figures[metrics.CAPACITY_BLOCK_MINUTES_LEFT] = left
    warned = sum(event.kind == "interruption" and event.at == minute for event in fleet.events for _ in event.nodes)
    if warned:
        figures[metrics.SPOT_INTERRUPTIONS] = warned
    return figures


def _settled(life: Life, minute: int) -> bool:
    back = minute - int(SETTLED_AFTER.total_seconds()) // 60
    return back >= 0 and not any(life.happens("node-gone", each) for each in range(back, minute + 1))
