"""EvaluateLowSampleCountPercentile: "Percentile-based CloudWatch alarms and low data samples" in the User Guide."""

import pytest

from local.alarm_evaluation import AlarmSet, Series, SeriesKey, State
from local.alarm_evaluation.metric_math.queries import MetricStat, Query
from local.alarm_evaluation.statistics import Datum, statistic
from tests.support.alarm_letters import MINUTE, letter_alarm


def _state(percentile: str, samples: int, *, evaluate: bool) -> State:
    class Source:
        def values(
            self, key: SeriesKey, name: str, start: int, end: int, period: int, unit: str | None = None
        ) -> Series:
            found = statistic([Datum.of_values([5.0], [samples])], name)
            return {} if found is None else {end - period: found}

    query = Query("m1", MetricStat(SeriesKey("N", "M", frozenset()), percentile))
    alarms = AlarmSet(Source())
    alarms.put(letter_alarm("a", queries=(query,), evaluate_low_samples=evaluate), 0)
    alarms.advance(MINUTE)
    return alarms.states()["a"]


@pytest.mark.parametrize(("percentile", "needed"), [("p99", 1000), ("p90", 100), ("p50", 20), ("p10", 100)])
def test_too_few_samples_keep_the_state(percentile: str, needed: int) -> None:
    found = [_state(percentile, samples, evaluate=False) for samples in (needed - 1, needed)]

    assert found == [State.INSUFFICIENT_DATA, State.ALARM]


def test_they_are_evaluated_unless_the_alarm_says_otherwise() -> None:
    assert _state("p99", 1, evaluate=True) is State.ALARM
