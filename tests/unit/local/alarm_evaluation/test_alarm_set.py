"""Alarms through time: when states change and when actions are taken."""

import pytest

from local.alarm_evaluation import (
    Action,
    AlarmSet,
    CompositeAlarm,
    DefinitionError,
    MetricAlarm,
    Series,
    SeriesKey,
    State,
    Transition,
    WarmUp,
)
from local.alarm_evaluation.composite_rules import parse_rule
from local.alarm_evaluation.metric_alarms import window
from local.alarm_evaluation.metric_math.queries import MetricStat, Query
from local.alarm_evaluation.metric_math.syntax import MathError
from tests.support.alarm_letters import MINUTE, Letters, letter_alarm, run, shown


def _composite(name: str, rule: str) -> CompositeAlarm:
    return CompositeAlarm(name=name, rule=parse_rule(rule))


def test_actions_are_taken_once_for_each_transition_and_never_for_a_state_that_lasts() -> None:
    alarms = AlarmSet(Letters(a="OOAAAAOO"))
    alarms.put(letter_alarm("a"), 0)

    events = run(alarms, 8)

    expected = [("a", 1, State.OK), ("a", 3, State.ALARM), ("a", 7, State.OK)]
    assert shown(events, Transition) == expected
    assert shown(events, Action) == expected


def test_a_new_alarm_has_insufficient_data_until_it_is_evaluated() -> None:
    alarms = AlarmSet(Letters(a="A"))
    alarms.put(letter_alarm("a"), 0)

    assert alarms.states() == {"a": State.INSUFFICIENT_DATA}


def test_an_update_keeps_the_state_and_takes_no_action() -> None:
    alarms = AlarmSet(Letters(a="AAAAAA"))
    alarms.put(letter_alarm("a"), 0)
    run(alarms, 2)

    alarms.put(letter_alarm("a", threshold=0.5), 2 * MINUTE)

    assert alarms.states() == {"a": State.ALARM}
    assert run(alarms, 4, first=3) == []


def test_a_transition_without_actions_enabled_is_not_acted_on_later_either() -> None:
    alarms = AlarmSet(Letters(a="OAAAA"))
    alarms.put(letter_alarm("a", actions_enabled=False), 0)
    events = run(alarms, 3)
    alarms.put(letter_alarm("a"), 3 * MINUTE)
    events += run(alarms, 5, first=4)

    assert shown(events, Action) == []
    assert shown(events, Transition) == [("a", 1, State.OK), ("a", 2, State.ALARM)]


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

    run(alarms, 1)
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

    run(alarms, 1)

    kept = State.INSUFFICIENT_DATA
    assert alarms.states() == {"a": State.ALARM, "x": kept, "y": kept, "z": State.ALARM}


def test_a_state_set_by_hand_acts_and_lasts_until_the_next_evaluation() -> None:
    alarms = AlarmSet(Letters(a="OOO"))
    alarms.put(letter_alarm("a"), 0)
    alarms.put(_composite("c", "ALARM(a)"), 0)
    run(alarms, 1)

    by_hand = alarms.set_state("a", State.ALARM, "a test", 90)

    assert shown(by_hand, Action) == [("a", 1, State.ALARM), ("c", 1, State.ALARM)]
    assert shown(run(alarms, 2, first=2), Action) == [("a", 2, State.OK), ("c", 2, State.OK)]


def test_a_composite_set_by_hand_is_not_overruled_at_once() -> None:
    alarms = AlarmSet(Letters())
    alarms.put(_composite("c", "FALSE"), 0)
    run(alarms, 1)

    alarms.set_state("c", State.ALARM, "a test", 90)

    assert alarms.states() == {"c": State.ALARM}


def test_a_removed_alarm_is_forgotten() -> None:
    alarms = AlarmSet(Letters(a="A"))
    alarms.put(letter_alarm("a"), 0)
    alarms.remove("a")

    assert (alarms.advance(MINUTE), alarms.status("a")) == ([], None)


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
