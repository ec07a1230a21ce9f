"""Alarms through time: when states change and when actions are taken."""

import pytest

from fleet.alarm_evaluation import (
    Action,
    AlarmSet,
    CompositeAlarm,
    DefinitionError,
    Event,
    MetricAlarm,
    Series,
    SeriesKey,
    State,
    Transition,
    TreatMissing,
    WarmUp,
)
from fleet.alarm_evaluation.composite_rules import parse_rule
from fleet.alarm_evaluation.metric_alarms import window
from fleet.alarm_evaluation.metric_math.queries import MetricStat, Query
from fleet.alarm_evaluation.metric_math.syntax import MathError
from fleet.alarm_evaluation.statistics import Datum, statistic
from tests.support.alarm_letters import MINUTE, Letters, letter_alarm


def _composite(name: str, rule: str) -> CompositeAlarm:
    return CompositeAlarm(name=name, rule=parse_rule(rule))


def _run(alarms: AlarmSet, minutes: int, first: int = 1) -> list[Event]:
    return [event for minute in range(first, minutes + 1) for event in alarms.advance(minute * MINUTE)]


def _shown(events: list[Event], kind: type[Event]) -> list[tuple[str, int, State]]:
    shown = []
    for event in events:
        if isinstance(event, kind):
            change = event.change if isinstance(event, Action) else event
            shown.append((change.alarm, int(event.at / MINUTE), change.state))
    return shown


def test_actions_are_taken_once_for_each_transition_and_never_for_a_state_that_lasts() -> None:
    alarms = AlarmSet(Letters(a="OOAAAAOO"))
    alarms.put(letter_alarm("a"), 0)

    events = _run(alarms, 8)

    expected = [("a", 1, State.OK), ("a", 3, State.ALARM), ("a", 7, State.OK)]
    assert _shown(events, Transition) == expected
    assert _shown(events, Action) == expected


def test_a_new_alarm_has_insufficient_data_until_it_is_evaluated() -> None:
    alarms = AlarmSet(Letters(a="A"))
    alarms.put(letter_alarm("a"), 0)

    assert alarms.states() == {"a": State.INSUFFICIENT_DATA}


def test_an_update_keeps_the_state_and_takes_no_action() -> None:
    alarms = AlarmSet(Letters(a="AAAAAA"))
    alarms.put(letter_alarm("a"), 0)
    _run(alarms, 2)

    alarms.put(letter_alarm("a", threshold=0.5), 2 * MINUTE)

    assert alarms.states() == {"a": State.ALARM}
    assert _run(alarms, 4, first=3) == []


def test_a_transition_without_actions_enabled_is_not_acted_on_later_either() -> None:
    alarms = AlarmSet(Letters(a="OAAAA"))
    alarms.put(letter_alarm("a", actions_enabled=False), 0)
    events = _run(alarms, 3)
    alarms.put(letter_alarm("a"), 3 * MINUTE)
    events += _run(alarms, 5, first=4)

    assert _shown(events, Action) == []
    assert _shown(events, Transition) == [("a", 1, State.OK), ("a", 2, State.ALARM)]


def test_the_window_slides_by_the_minute_whatever_the_period() -> None:
    asked: list[tuple[int, int, int]] = []

    class Source:
        def values(
            self, key: SeriesKey, statistic: str, start: int, end: int, period: int, unit: str | None = None
        ) -> Series:
            asked.append((start, end, period))
            return {}

    query = Query("m1", MetricStat(SeriesKey("N", "M", frozenset()), "Average", period=300))
    alarm = letter_alarm("a", queries=(query,), evaluation_periods=3, datapoints_to_alarm=3)

    assert window(alarm, Source(), 6_090.0).datapoints == [None] * 5
    assert asked == [(6_060 - 5 * 300, 6_060, 300)]


def test_composites_settle_after_their_children_in_whatever_order_they_were_made() -> None:
    alarms = AlarmSet(Letters(a="OA", b="OO"))
    alarms.put(_composite("top", "ALARM(middle)"), 0)
    alarms.put(_composite("middle", "ALARM(a) AND NOT ALARM(b)"), 0)
    alarms.put(letter_alarm("a"), 0)
    alarms.put(letter_alarm("b"), 0)

    _run(alarms, 1)
    changes = [event for event in alarms.advance(2 * MINUTE) if isinstance(event, Transition)]

    assert [(each.alarm, each.state) for each in changes] == [
        ("a", State.ALARM),
        ("middle", State.ALARM),
        ("top", State.ALARM),
    ]
    assert [[trigger.alarm for trigger in each.triggers] for each in changes] == [[], ["a"], ["middle"]]


def test_composites_in_a_cycle_are_not_evaluated_and_the_others_are() -> None:
    alarms = AlarmSet(Letters(a="AA"))
    alarms.put(letter_alarm("a"), 0)
    alarms.put(_composite("x", "ALARM(y) OR TRUE"), 0)
    alarms.put(_composite("y", "ALARM(x)"), 0)
    alarms.put(_composite("z", "ALARM(a)"), 0)

    _run(alarms, 1)

    kept = State.INSUFFICIENT_DATA
    assert alarms.states() == {"a": State.ALARM, "x": kept, "y": kept, "z": State.ALARM}


def test_a_state_set_by_hand_acts_and_lasts_until_the_next_evaluation() -> None:
    alarms = AlarmSet(Letters(a="OOO"))
    alarms.put(letter_alarm("a"), 0)
    alarms.put(_composite("c", "ALARM(a)"), 0)
    _run(alarms, 1)

    by_hand = alarms.set_state("a", State.ALARM, "a test", 90)

    assert _shown(by_hand, Action) == [("a", 1, State.ALARM), ("c", 1, State.ALARM)]
    assert _shown(_run(alarms, 2, first=2), Action) == [("a", 2, State.OK), ("c", 2, State.OK)]


def test_a_composite_set_by_hand_is_not_overruled_at_once() -> None:
    alarms = AlarmSet(Letters())
    alarms.put(_composite("c", "FALSE"), 0)
    _run(alarms, 1)

    alarms.set_state("c", State.ALARM, "a test", 90)

    assert alarms.states() == {"c": State.ALARM}


def test_a_removed_alarm_is_forgotten() -> None:
    alarms = AlarmSet(Letters(a="A"))
    alarms.put(letter_alarm("a"), 0)
    alarms.remove("a")

    assert (alarms.advance(MINUTE), alarms.status("a")) == ([], None)


class TestWarmUp:
    """WarmUpConfiguration, as PutMetricAlarm of the CloudWatch API reference describes it."""

    SILENT = "-" * 12

    @staticmethod
    def _states(letters: str, warm_up: WarmUp, minutes: int = 12) -> list[tuple[int, State]]:
        alarms = AlarmSet(Letters(a=letters))
        settings = {"evaluation_periods": 3, "datapoints_to_alarm": 3, "treat_missing": TreatMissing.BREACHING}
        alarms.put(letter_alarm("a", warm_up=warm_up, **settings), 0)
        events = _run(alarms, minutes)
        taken = _shown(events, Action)
        assert taken == _shown(events, Transition)
        return [(minute, state) for _, minute, state in taken]

    def test_silence_is_no_alarm_before_its_end(self) -> None:
        assert self._states(self.SILENT, WarmUp(10)) == [(10, State.ALARM)]

    def test_it_ends_early_when_data_fills_the_evaluation_window(self) -> None:
        assert self._states("--AAAAAAAAAA", WarmUp(10)) == [(5, State.ALARM)]
        assert self._states("-OO-OOO-OOOO", WarmUp(10)) == [(7, State.OK)]

    def test_whole_it_does_not_end_early(self) -> None:
        assert self._states("AAAAAAAAAAAA", WarmUp(10, whole=True)) == [(10, State.ALARM)]

    def test_once_over_it_does_not_return_with_an_update(self) -> None:
        alarms = AlarmSet(Letters(a="OOO--------"))
        settings = {"evaluation_periods": 1, "treat_missing": TreatMissing.BREACHING}
        alarms.put(letter_alarm("a", warm_up=WarmUp(5), **settings), 0)
        _run(alarms, 3)
        alarms.put(letter_alarm("a", warm_up=WarmUp(30), **settings), 3 * MINUTE)

        assert _shown(_run(alarms, 8, first=4), Transition) == [("a", 6, State.ALARM)]

    def test_its_length_can_be_changed_while_it_lasts(self) -> None:
        alarms = AlarmSet(Letters(a=self.SILENT))
        alarms.put(letter_alarm("a", warm_up=WarmUp(5), treat_missing=TreatMissing.BREACHING), 0)
        _run(alarms, 3)
        alarms.put(letter_alarm("a", warm_up=WarmUp(8), treat_missing=TreatMissing.BREACHING), 3 * MINUTE)
        status = alarms.status("a")

        assert status is not None
        assert status.warming_up
        assert _shown(_run(alarms, 12, first=4), Transition) == [("a", 8, State.ALARM)]


class TestLowSamples:
    """EvaluateLowSampleCountPercentile: "Percentile-based CloudWatch alarms and low data samples"."""

    @staticmethod
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
    def test_too_few_samples_keep_the_state(self, percentile: str, needed: int) -> None:
        found = [self._state(percentile, samples, evaluate=False) for samples in (needed - 1, needed)]

        assert found == [State.INSUFFICIENT_DATA, State.ALARM]

    def test_they_are_evaluated_unless_the_alarm_says_otherwise(self) -> None:
        assert self._state("p99", 1, evaluate=True) is State.ALARM


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"comparison": "EqualTo"}, "EqualTo"),
        ({"datapoints_to_alarm": 2}, "2 of 1"),
        ({"queries": ()}, "exactly one query"),
        ({"warm_up": WarmUp(2881)}, "1 to 2880"),
    ],
)
def test_an_alarm_that_cloudwatch_refuses_is_named(settings: dict[str, object], named: str) -> None:
    with pytest.raises(DefinitionError, match=named):
        letter_alarm("a", **settings)


def test_an_expression_that_refers_to_itself_is_refused() -> None:
    alarm: MetricAlarm = letter_alarm("a", queries=(Query("e1", "e2 + 1"), Query("e2", "e1", returns=False)))
    alarms = AlarmSet(Letters())
    alarms.put(alarm, 0)

    with pytest.raises(MathError, match="e1"):
        alarms.advance(MINUTE)
