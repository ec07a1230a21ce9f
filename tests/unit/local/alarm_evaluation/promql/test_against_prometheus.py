"""Prometheus judges: random expressions over random series, answered by promtool and by this project."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from local.alarm_evaluation.promql import labels_of
from tests.support.needs import needs
from tests.support.promql_cases import CASES
from tests.support.promql_witness import Case, agree, answers, ours

pytestmark = needs("promtool")
BATCH = 12
# One process judges a whole batch, and what differs is shown by itself: nothing is gained by shrinking.
RANDOM = settings(
    deadline=None, phases=[Phase.explicit, Phase.generate], suppress_health_check=list(HealthCheck), database=None
)


def differences(cases: list[Case], folder: Path) -> list[str]:
    """Where the two differ, with both answers."""
    return [
        f"{text} at {at} s over {dict(case.series)}:\n  Prometheus {theirs}\n  here {mine}"
        for case, judged in zip(cases, answers(cases, folder), strict=True)
        for (text, at), theirs, mine in zip(case.questions, judged, ours(case), strict=True)
        if not agree(theirs, mine)
    ]


# What chance finds seldom: names that are kept or dropped, labels that become alike, sides that may have one only.
CORNERS = (
    "m > bool n",
    "m == bool on (node, job) group_left () sum by (node, job) (n)",
    "m > bool 0",
    "m + 0 == m",
    "m or n",
    "-(m or on (node, __name__) n)",
    "timestamp(m or on (node, __name__) n)",
    "(m or on (__name__) n) * 2",
    "max by (node, __name__) (m or on (__name__) n)",
    "sum without (job) (m)",
    "m * on (node) n",
    "m * on (node) group_left () n",
    "n * on (node) group_left () max by (node) (m)",
    "max by (node) (m) * on (node) group_right (job) n",
    "m and on (node) n == 1",
    "m unless ignoring (job, device) n",
    "m > on (node, job) n",
    "n < on (node) max by (node) (m)",
    "(m or on (__name__) n) >= ignoring (device) max without (device) (n)",
    "last_over_time(m[5m])",
    "max_over_time(m[5m]) == on (node, job) group_left () last_over_time(n[5m])",
    'absent(m{node="a", job=~"x", device="0"} == 7)',
    'absent(m{node="z", job="x", node!="y"})',
    'absent(sum(m{node="z"}))',
    'count(m{node="z"}) or vector(0)',
    "quantile by (node) (0.5, m)",
    "m / 0",
    "m % 2 ^ 3",
    "-1 ^ m",
    "clamp(m, 2, 1)",
    "count_over_time((m > 0)[10m:1m])",
    "max_over_time(m[3m] offset 2m) > 0",
)
PLACES = [("a", "x", ""), ("a", "y", "0"), ("b", "x", "0"), ("c", "", "")]


def test_corners_of_the_language_are_those_of_prometheus(tmp_path: Path) -> None:
    series = {
        labels_of({"__name__": name, "node": node, "job": job, "device": device}): [
            float((minute * (at + 2) + len(job)) % 4) if (minute + at) % 5 else None for minute in range(12)
        ]
        for name in "mn"
        for at, (node, job, device) in enumerate(PLACES)
    }
    case = Case(series, [(text, at) for text in CORNERS for at in (0, 300, 420, 660, 900)])
    (judged,) = answers([case], tmp_path)

    assert differences([case], tmp_path) == []
    # A table of empty answers would prove nothing.
    assert sum(isinstance(each, str) for each in judged) > 10
    assert sum(bool(each) for each in judged if isinstance(each, dict)) > 80


@settings(RANDOM, max_examples=5, derandomize=True)
@given(cases=st.lists(CASES, min_size=BATCH, max_size=BATCH))
def test_random_expressions_have_the_value_that_prometheus_gives_them(
    tmp_path_factory: pytest.TempPathFactory, cases: list[Case]
) -> None:
    assert differences(cases, tmp_path_factory.mktemp("promtool")) == []


@pytest.mark.soak
@settings(RANDOM, max_examples=25)
@given(cases=st.lists(CASES, min_size=BATCH, max_size=BATCH))
def test_many_more_random_expressions_have_the_value_that_prometheus_gives_them(
    tmp_path_factory: pytest.TempPathFactory, cases: list[Case]
) -> None:
    assert differences(cases, tmp_path_factory.mktemp("promtool")) == []
