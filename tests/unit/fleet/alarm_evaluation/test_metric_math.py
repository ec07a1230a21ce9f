"""Metric math: how expressions bind, and what the functions do with missing datapoints."""

import pytest

from fleet.alarm_evaluation.metric_math.functions import Grid, Value
from fleet.alarm_evaluation.metric_math.syntax import MathError, parse

METRICS: dict[str, Value] = {
    "m1": {0: 10.0, 60: 20.0, 180: 40.0},
    "m2": {0: 1.0, 60: 0.0, 120: 3.0, 180: 4.0},
}


def _evaluate(expression: str) -> Value:
    grid = Grid((0, 60, 120, 180), 60, METRICS, ("m1", "m2"), lambda text, name: [(f"{text} {name}", {0: 1.0})])
    return grid.evaluate(parse(expression))


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("1 + 2 * 3 ^ 2 - -1", 20.0),
        ("(1 + 2) * 3 >= 9 AND 1 < 0", 0.0),
        ("1 > 2 || 2 != 3 && 1 == 1", 1.0),
        ("10 / 4", 2.5),
    ],
)
def test_operators_bind_as_in_arithmetic(expression: str, expected: float) -> None:
    assert _evaluate(expression) == expected


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("m1 + m2", {0: 11.0, 60: 20.0, 180: 44.0}),
        ("m1 / m2", {0: 10.0, 180: 10.0}),
        ("m1 < 20", {0: 1.0, 60: 0.0, 180: 0.0}),
        ("FILL(m1, 0)", {0: 10.0, 60: 20.0, 120: 0.0, 180: 40.0}),
        ("FILL(m1, REPEAT)", {0: 10.0, 60: 20.0, 120: 20.0, 180: 40.0}),
        ("IF(m2 > 0, m1)", {0: 10.0, 180: 40.0}),
        ("IF(m2 > 0, m1, -1)", {0: 10.0, 60: -1.0, 180: 40.0}),
        ("SUM(METRICS())", {0: 11.0, 60: 20.0, 120: 3.0, 180: 44.0}),
        ("MAX([m1, m2])", {0: 10.0, 60: 20.0, 120: 3.0, 180: 40.0}),
        ("MIN([m2, 2])", {0: 1.0, 60: 0.0, 120: 2.0, 180: 2.0}),
        ("RATE(m2)", {60: -1 / 60, 120: 3 / 60, 180: 1 / 60}),
        ("RUNNING_SUM(m1)", {0: 10.0, 60: 30.0, 180: 70.0}),
        ("FILL(RUNNING_SUM(m1), REPEAT)", {0: 10.0, 60: 30.0, 120: 30.0, 180: 70.0}),
        ("SUM(SEARCH('{N,D} MetricName=\"X\"', 'Average', 60)) + 1", {0: 2.0}),
        ("m2 * PERIOD(m2)", {0: 60.0, 60: 0.0, 120: 180.0, 180: 240.0}),
    ],
)
def test_series_are_combined_where_both_have_a_datapoint(expression: str, expected: dict[int, float]) -> None:
    found = _evaluate(expression)

    assert found == pytest.approx(expected)


def test_a_reducer_of_one_series_is_a_number() -> None:
    assert (_evaluate("AVG(m2)"), _evaluate("MAX(m1)"), _evaluate("SUM(m2)")) == (2.0, 40.0, 8.0)


@pytest.mark.parametrize(
    ("expression", "named"),
    [
        ("m1 +", "expected a number"),
        ("m1 $ 2", "unexpected"),
        ("m9 + 1", "m9"),
        ("ANOMALY_DETECTION_BAND(m1, 2)", "ANOMALY_DETECTION_BAND"),
        ("FILL(m1, LINEAR)", "LINEAR"),
        ("__import__('os')", "expected a number"),
    ],
)
def test_what_cannot_be_evaluated_is_named(expression: str, named: str) -> None:
    with pytest.raises(MathError, match=named):
        _evaluate(expression)
