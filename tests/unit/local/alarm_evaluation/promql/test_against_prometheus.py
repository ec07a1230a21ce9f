"""Prometheus judges: random expressions over random series, answered by promtool and by this project."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

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
