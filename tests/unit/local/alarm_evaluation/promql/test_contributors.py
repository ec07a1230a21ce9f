"""Contributors of PromQL alarms: pending and recovery as the documentation has them, and as Prometheus does it."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from local.alarm_evaluation import State
from local.alarm_evaluation.promql import Evaluation, Labels, PromqlError, SeriesStore, labels_of
from local.alarm_evaluation.promql.contributors import (
    MOST_IN_ALARM,
    MOST_SERIES,
    ContributorAlarm,
    ContributorAlarms,
    Contributors,
)
from tests.support.needs import needs
from tests.support.promql_witness import input_series, promtool

A, B = labels_of({"node": "a"}), labels_of({"node": "b"})
MINUTE = 60
QUIET = settings(
    deadline=None, phases=[Phase.explicit, Phase.generate], suppress_health_check=list(HealthCheck), database=None
)


def followed(minutes: Sequence[set[Labels]], pending: int = 0, recovery: int = 0) -> list[tuple[int, Labels, State]]:
    """What changed, by minute, when these were returned."""
    contributors = Contributors(ContributorAlarm(name="Fault", query="m", pending=pending, recovery=recovery))
    events = [each for minute, found in enumerate(minutes) for each in contributors.follow(found, minute * MINUTE)]
    return [(int(each.at) // MINUTE, each.contributor, each.state) for each in events]


def test_a_contributor_is_in_alarm_after_it_has_breached_for_the_pending_period_and_not_before() -> None:
    assert followed([{A}] * 2, pending=120) == []
    assert followed([{A}] * 3, pending=120) == [(2, A, State.ALARM)]
    assert followed([{A}], pending=0) == [(0, A, State.ALARM)]


def test_a_break_begins_the_pending_period_anew() -> None:
    assert followed([{A}, {A}, set(), {A}, {A}, {A}], pending=120) == [(5, A, State.ALARM)]


def test_a_contributor_is_ok_again_when_it_was_absent_for_the_recovery_period_and_not_before() -> None:
    assert followed([{A}, set(), set()], recovery=120) == [(0, A, State.ALARM)]
    assert followed([{A}, set(), set(), set()], recovery=120) == [(0, A, State.ALARM), (3, A, State.OK)]
    assert followed([{A}, set()], recovery=0) == [(0, A, State.ALARM), (1, A, State.OK)]


def test_one_that_comes_back_within_the_recovery_period_is_one_incident() -> None:
    flapping: list[set[Labels]] = [{A}, set(), {A}, set(), {A}, set(), set(), set()]

    assert followed(flapping, recovery=120) == [(0, A, State.ALARM), (7, A, State.OK)]


def test_each_contributor_has_a_state_of_its_own_and_the_alarm_that_of_the_worst() -> None:
    contributors = Contributors(ContributorAlarm(name="Fault", query="m"))
    states = []
    for minute, found in enumerate([set(), {A}, {A, B}, {B}, set()]):
        contributors.follow(found, minute * MINUTE)
        states.append((contributors.in_alarm, contributors.state))

    assert states == [
        ((), State.OK),
        ((A,), State.ALARM),
        ((A, B), State.ALARM),
        ((B,), State.ALARM),
        ((), State.OK),
    ]


def test_no_more_contributors_are_in_alarm_than_the_limit_and_too_many_series_are_partial_data() -> None:
    many = {labels_of({"node": f"{number:04}"}) for number in range(MOST_SERIES)}
    contributors = Contributors(ContributorAlarm(name="Fault", query="m"))

    assert len(contributors.follow(many, 0)) == MOST_IN_ALARM
    assert not contributors.is_partial
    # Whoever has recovered makes room for the next.
    assert len(contributors.follow(many - set(contributors.in_alarm), MINUTE)) == 2 * MOST_IN_ALARM
    contributors.follow(many | {A}, 2 * MINUTE)
    assert contributors.is_partial


@pytest.mark.parametrize("period", [{"pending": -1}, {"recovery": 86_401}])
def test_a_period_beyond_what_cloudwatch_takes_is_refused(period: dict[str, int]) -> None:
    with pytest.raises(PromqlError, match=r"Fault: \w+Period is -?\d+ s, and CloudWatch takes 0 to 86400"):
        ContributorAlarm(name="Fault", query="m", **period)


def test_what_prometheus_refuses_is_said_with_the_alarm() -> None:
    store = SeriesStore()
    for name in "mn":
        store.put(name, labels_of({"__name__": name, "node": "a"}), 0, 1.0)
    alarms = ContributorAlarms([ContributorAlarm(name="Fault", query="m or on (x) n or n")], Evaluation(store))
    assert [each.contributor for each in alarms.advance(0)] == [A]

    with pytest.raises(PromqlError, match="Fault: PromQL: vector cannot contain metrics with the same labelset"):
        ContributorAlarms(
            [ContributorAlarm(name="Fault", query="-(m or on (node, __name__) n)")], Evaluation(store)
        ).advance(0)


LENGTH = 20
PERIODS = st.sampled_from([0, 60, 90, 120, 180, 300])
BREACHING = st.lists(st.sampled_from([0.0, 1.0, 1.0]), min_size=LENGTH, max_size=LENGTH)
RULES = st.lists(st.tuples(PERIODS, PERIODS, BREACHING, BREACHING), min_size=40, max_size=40)


def rule(number: int, pending: int, recovery: int) -> dict[str, Any]:
    name = f"Alarm{number}"
    return {"alert": name, "expr": f"m{number} == 1", "for": f"{pending}s", "keep_firing_for": f"{recovery}s"}


@needs("promtool")
@settings(QUIET, max_examples=2, derandomize=True)
@given(rules=RULES)
def test_states_follow_random_minutes_as_prometheus_has_them(
    tmp_path_factory: pytest.TempPathFactory, rules: list[tuple[int, int, list[float], list[float]]]
) -> None:
    folder = tmp_path_factory.mktemp("promtool")
    series, verdicts, written = {}, [], []
    store = SeriesStore()
    alarms = []
    for number, (pending, recovery, *values) in enumerate(rules):
        written.append(rule(number, pending, recovery))
        query = str(written[-1]["expr"])
        alarms.append(ContributorAlarm(name=f"Alarm{number}", query=query, pending=pending, recovery=recovery))
        for node, samples in zip("ab", values, strict=True):
            labels = labels_of({"__name__": f"m{number}", "node": node})
            series[labels] = samples
            for minute, value in enumerate(samples):
                store.put(f"m{number}", labels, minute * MINUTE, value)
    together = ContributorAlarms(alarms, Evaluation(store))
    for minute in range(LENGTH):
        together.advance(minute * MINUTE)
        for alarm, firing in together.in_alarm.items():
            expected = [{"exp_labels": dict(labels)} for labels in firing]
            verdicts.append({"alertname": alarm, "eval_time": f"{minute}m", "exp_alerts": expected})
    (folder / "rules.yml").write_text(str({"groups": [{"name": "all", "rules": written}]}), encoding="utf-8")
    group = {"interval": "1m", "input_series": input_series(series), "alert_rule_test": verdicts}

    holds, printed = promtool(
        {"rule_files": ["rules.yml"], "evaluation_interval": "1m", "tests": [group]}, Path(folder)
    )
    assert holds, printed[:4000]
    assert len(verdicts) == LENGTH * len(rules)
