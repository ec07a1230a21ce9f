"""One evaluation of a metric alarm: which periods it looks at, and what they come to.

Sources: Amazon CloudWatch User Guide, "Alarm evaluation", "Alarm evaluation window" (a sliding window advances with
each evaluation, once a minute) and "Percentile-based alarms and low data samples".
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from local.alarm_evaluation.datapoints import evaluate, evaluation_range
from local.alarm_evaluation.definitions import MetricAlarm
from local.alarm_evaluation.metric_math.queries import MINUTE, MetricStat, common_period, evaluate_queries
from local.alarm_evaluation.states import State, Verdict
from local.alarm_evaluation.statistics import SeriesSource

# "Fewer than 10/(1-percentile) data points": that many samples stand beyond the percentile on its thinner side.
_SAMPLES_BEYOND: Final = 10


@dataclass(frozen=True, slots=True)
class Window:
    """The datapoints of an evaluation range, oldest first, ``None`` where there is none.

    ``start``, ``end`` and ``period`` in seconds.
    """

    start: int
    end: int
    period: int
    datapoints: Sequence[float | None]


def window(alarm: MetricAlarm, source: SeriesSource, now: float) -> Window:
    """What the alarm sees at ``now``: whole periods, the newest of them ending with the last whole minute."""
    period = common_period(alarm.queries)
    end = int(now // min(period, MINUTE) * min(period, MINUTE))
    start = end - evaluation_range(alarm.evaluation_periods) * period
    value = evaluate_queries(source, alarm.queries, start, end)[alarm.returned.id]
    series = value if isinstance(value, dict) else {}
    return Window(start, end, period, [series.get(time) for time in range(start, end, period)])


def judge(alarm: MetricAlarm, source: SeriesSource, seen: Window, previous: State) -> Verdict:
    """The state after this evaluation, and why."""
    if _has_too_few_samples(alarm, source, seen):
        return Verdict(previous, "Too few samples for a percentile: the state is kept")
    return evaluate(
        seen.datapoints,
        comparison=alarm.comparison,
        threshold=alarm.threshold,
        evaluation_periods=alarm.evaluation_periods,
        datapoints_to_alarm=alarm.datapoints_to_alarm,
        treat_missing=alarm.treat_missing,
        previous_state=previous,
    )


def fills_window(alarm: MetricAlarm, seen: Window) -> bool:
    """Whether each of the evaluation periods has a datapoint, which ends a warm-up early."""
    return None not in seen.datapoints[-alarm.evaluation_periods :]


def _has_too_few_samples(alarm: MetricAlarm, source: SeriesSource, seen: Window) -> bool:
    asks = alarm.returned.asks
    if alarm.evaluate_low_samples or not isinstance(asks, MetricStat) or not asks.statistic.startswith("p"):
        return False
    percent = float(asks.statistic[1:])
    start = seen.end - alarm.evaluation_periods * seen.period
    samples = source.values(asks.key, "SampleCount", start, seen.end, seen.period, asks.unit)
    thinner = min(percent, 100 - percent)
    return sum(samples.values()) * thinner < _SAMPLES_BEYOND * 100
