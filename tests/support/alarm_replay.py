"""The alarms of a CloudWatch, worked out once more from what its API answers: settings, datapoints, nothing else."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from local.alarm_evaluation import State
from local.alarm_evaluation.composite_rules import parse_rule
from local.alarm_evaluation.metric_math.functions import Grid
from local.alarm_evaluation.metric_math.syntax import parse
from tests.support.alarm_reference import ReferenceAlarm, ReferenceComposite, replay

MINUTE = 60


@dataclass(frozen=True)
class Replayed:
    """By alarm: the states that CloudWatch shows and those worked out, and the changes as (minute, state)."""

    shown: Mapping[str, str]
    expected: Mapping[str, str]
    changes_shown: Mapping[str, Sequence[tuple[int, str]]]
    changes_expected: Mapping[str, Sequence[tuple[int, str]]]


def replayed(cloudwatch: Any, minutes: int) -> Replayed:
    """Every alarm from the moment in which the first was made, for so many virtual minutes."""
    kinds = ["MetricAlarm", "CompositeAlarm"]
    pages = list(cloudwatch.get_paginator("describe_alarms").paginate(AlarmTypes=kinds))
    metric_alarms = [alarm for page in pages for alarm in page["MetricAlarms"]]
    composites = [alarm for page in pages for alarm in page["CompositeAlarms"]]
    history = cloudwatch.describe_alarm_history(AlarmTypes=kinds, ScanBy="TimestampAscending")["AlarmHistoryItems"]
    start = int(history[0]["Timestamp"].timestamp())
    series = _Series(cloudwatch, start, minutes)
    worked_out = replay(
        [_alarm(alarm, series) for alarm in metric_alarms],
        [_composite(alarm) for alarm in composites],
        lambda _alarm, _minute: False,
        minutes,
    ).states
    return Replayed(
        shown={alarm["AlarmName"]: alarm["StateValue"] for alarm in metric_alarms + composites},
        expected={name: states[-1] for name, states in worked_out.items()},
        changes_shown=_changes_in(history, start, worked_out.keys()),
        changes_expected={
            name: [(at, states[at]) for at in range(1, len(states)) if states[at] != states[at - 1]]
            for name, states in worked_out.items()
        },
    )


def _changes_in(
    history: Sequence[Mapping[str, Any]], start: int, names: Sequence[str] | Any
) -> dict[str, list[tuple[int, str]]]:
    found: dict[str, list[tuple[int, str]]] = {name: [] for name in names}
    for item in history:
        if item["HistoryItemType"] == "StateUpdate":
            minute = int(item["Timestamp"].timestamp() - start) // MINUTE
            found[item["AlarmName"]].append((minute, item["HistorySummary"].rpartition(" to ")[2]))
    return found


class _Series:
    """Each metric's statistic by the minute, asked for once."""

    def __init__(self, cloudwatch: Any, start: int, minutes: int) -> None:
        self._cloudwatch = cloudwatch
        self._start = start
        self._end = start + minutes * MINUTE
        self._known: dict[str, dict[int, float]] = {}

    def of(self, metric: Mapping[str, Any], statistic: str) -> dict[int, float]:
        """Value by minute after the start."""
        key = f"{metric} {statistic}"
        if key not in self._known:
            query = {"Id": "m1", "MetricStat": {"Metric": metric, "Period": MINUTE, "Stat": statistic}}
            answer = self._cloudwatch.get_metric_data(
                MetricDataQueries=[query], StartTime=self._start, EndTime=self._end
            )["MetricDataResults"][0]
            self._known[key] = {
                int(time.timestamp() - self._start) // MINUTE: value
                for time, value in zip(answer["Timestamps"], answer["Values"], strict=True)
            }
        return self._known[key]


def _alarm(settings: Mapping[str, Any], series: _Series) -> ReferenceAlarm:
    return ReferenceAlarm(
        name=settings["AlarmName"],
        points=_points_of_math(settings["Metrics"], series) if settings.get("Metrics") else _points(settings, series),
        comparison=settings["ComparisonOperator"],
        threshold=settings["Threshold"],
        needed=settings.get("DatapointsToAlarm", settings["EvaluationPeriods"]),
        periods=settings["EvaluationPeriods"],
        treatment=settings.get("TreatMissingData", "missing"),
        warm_up=settings.get("WarmUpConfiguration", {}).get("WarmUpPeriodDurationInMinutes"),
    )


def _points(settings: Mapping[str, Any], series: _Series) -> Callable[[range], Sequence[float | None]]:
    metric = {name: settings[name] for name in ("Namespace", "MetricName", "Dimensions")}
    values = series.of(metric, settings.get("Statistic") or settings["ExtendedStatistic"])
    return lambda minutes: [values.get(minute) for minute in minutes]


def _points_of_math(queries: Sequence[Mapping[str, Any]], series: _Series) -> Callable[[range], Sequence[float | None]]:
    metrics = {
        query["Id"]: series.of(query["MetricStat"]["Metric"], query["MetricStat"]["Stat"])
        for query in queries
        if "MetricStat" in query
    }
    (expression,) = [parse(query["Expression"]) for query in queries if query.get("Expression")]

    def points(minutes: range) -> Sequence[float | None]:
        # One unit of this grid is a minute; no expression of an alarm looks at the length of its period.
        seen = {name: {at: values[at] for at in minutes if at in values} for name, values in metrics.items()}
        found = Grid(tuple(minutes), 1, seen, tuple(seen), lambda *_: []).evaluate(expression)
        assert isinstance(found, dict)
        return [found.get(minute) for minute in minutes]

    return points


def _composite(settings: Mapping[str, Any]) -> ReferenceComposite:
    rule = parse_rule(settings["AlarmRule"])
    return ReferenceComposite(settings["AlarmName"], lambda states: rule.holds(lambda name: State(states[name])))
