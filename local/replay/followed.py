"""The set of alarms that follow jobs and nodes: PromQL over the pushed series, and the classic alarms for the rest.

A classic alarm of which an alarm of this set takes the place is evaluated, since others read its state, and tells
nobody.
"""

import heapq
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from fleet.alarms import AlarmSettings, ContributorSpec, contributor_alarms, fleet_alarms
from local.alarm_evaluation import State
from local.alarm_evaluation.promql import (
    LOOKBACK_SECONDS,
    Evaluation,
    Labels,
    Selector,
    SeriesStore,
    parse,
    selectors_in,
)
from local.alarm_evaluation.promql.contributors import ContributorAlarm, ContributorAlarms
from local.alarm_evaluation.suppression import MuteRule
from local.replay.delivery import Batch
from local.replay.evaluator import AnySpec, Change
from local.replay.series import SeriesPoint
from local.replay.store import MINUTE
from local.simulation.lockstep import SETTLE_SECONDS

# A clock that is fast makes a series' newest sample later than the moment in which it is looked at.
_MARGIN_SECONDS: Final = 900.0


def followed_alarms(settings: AlarmSettings) -> Sequence[AnySpec]:
    """The whole set of a fleet, as it is deployed where the region has PromQL alarms."""
    followed = contributor_alarms(settings)
    replaced = {spec.key for spec in followed}
    classic = (replace(spec, notifies=False) if spec.key in replaced else spec for spec in fleet_alarms(settings))
    return (*classic, *followed)


def selectors_of(specs: Iterable[AnySpec]) -> tuple[Selector, ...]:
    """The series that the rules among ``specs`` read."""
    return tuple(selector for selector, _ in _read(specs))


def _read(specs: Iterable[AnySpec]) -> list[tuple[Selector, float]]:
    rules = [spec for spec in specs if isinstance(spec, ContributorSpec)]
    return [found for rule in rules for found in selectors_in(parse(rule.expression))]


class PushedSeries:
    """What agents have pushed, and what of it can be seen by now."""

    def __init__(self, specs: Iterable[AnySpec]) -> None:
        furthest = max((seconds for _, seconds in _read(specs)), default=0.0)
        self.store = SeriesStore(furthest + LOOKBACK_SECONDS + _MARGIN_SECONDS)
        self._coming: list[tuple[int, int, SeriesPoint]] = []
        self._taken = 0

    def take(self, found: Sequence[SeriesPoint], batch: Batch) -> None:
        """Keep ``found``, one request after the other for each time that the batch came, until it can be seen."""
        for _ in range(batch.times):
            moment = batch.visible_at()
            for point in found:
                at = point._replace(at=point.at + batch.offset) if batch.offset else point
                heapq.heappush(self._coming, (moment, self._taken, at))
                self._taken += 1

    def reveal(self, now: float) -> None:
        """Let time go on to unix second ``now``."""
        while self._coming and self._coming[0][0] <= now:
            _, _, point = heapq.heappop(self._coming)
            self.store.put(*point)


class Followers:
    """Evaluates the contributors' alarms of a set every minute, and says who was told of what."""

    def __init__(self, specs: Iterable[AnySpec], series: PushedSeries, muted: Iterable[MuteRule] = ()) -> None:
        self._specs = {spec.name: spec for spec in specs if isinstance(spec, ContributorSpec)}
        self._series = series
        self._muted = tuple(muted)
        self._alarms = ContributorAlarms(map(definition, self._specs.values()), Evaluation(series.store))
        self._due: dict[tuple[str, Labels], bool] = {}
        self._told: set[tuple[str, Labels]] = set()

    def advance(self, minute: int) -> list[Change]:
        """Evaluate everything soon after the minute that began at unix second ``minute``, by what can be seen then."""
        now = minute + MINUTE + SETTLE_SECONDS
        self._series.reveal(now)
        for event in self._alarms.advance(now):
            self._due[event.alarm, event.contributor] = event.state is State.ALARM
        # What a window of maintenance held back is told when it is over, if it still holds.
        free = [key for key in self._due if not any(rule.mutes(key[0], now) for rule in self._muted)]
        changed = [(key, in_alarm) for key in free if (in_alarm := self._due.pop(key)) != (key in self._told)]
        for key, _ in changed:
            self._told ^= {key}
        return [Change(self._specs[name], now, in_alarm, labels) for (name, labels), in_alarm in changed]


def definition(spec: ContributorSpec) -> ContributorAlarm:
    """The alarm as PutMetricAlarm is told of it."""
    return ContributorAlarm(
        name=spec.name, query=spec.expression, pending=spec.pending_seconds, recovery=spec.recovery_seconds
    )
