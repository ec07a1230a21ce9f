"""Metric math: how expressions bind, and what operators and functions do where a datapoint is missing.

Source of the tables: "Using metric math" in the CloudWatch User Guide; ``None`` is its ``-``.
"""

import pytest

from local.alarm_evaluation.metric_math.functions import Grid
from local.alarm_evaluation.metric_math.syntax import MathError, parse
from local.alarm_evaluation.metric_math.values import Value

METRICS: dict[str, Value] = {
    "m1": {0: 10.0, 60: 20.0, 180: 40.0},
    "m2": {0: 1.0, 60: 0.0, 120: 3.0, 180: 4.0},
}


def _evaluate(expression: str) -> Value:
    grid = Grid((0, 60, 120, 180), 60, METRICS, ("m1", "m2"), lambda text, name: [(f"{text} {name}", {0: 1.0})])
    return grid.evaluate(parse(expression))


def _documented(expression: str, **series: list[float | None]) -> list[float | None]:
    """The expression's value in each period, in the guide's notation."""
    length = len(next(iter(series.values())))
    times = tuple(range(0, 60 * length, 60))
    metrics: dict[str, Value] = {
        name: {time: value for time, value in zip(times, values, strict=True) if value is not None}
        for name, values in series.items()
    }
    found = Grid(times, 60, metrics, tuple(metrics), lambda *_: []).evaluate(parse(expression))
    assert isinstance(found, dict)
    return [found.get(time) for time in times]


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("(metric1 < metric2)", [0, 0, 1, 0]),
        ("(metric1 >= 30)", [1, 0, 0, 0]),
        ("(metric1 > 15 AND metric2 > 15)", [1, 0, 0, 0]),
    ],
)
def test_the_documented_table_of_comparison_and_logical_operators(expression: str, expected: list[float]) -> None:
    assert _documented(expression, metric1=[30, 20, 0, 0], metric2=[20, None, 20, None]) == expected


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("IF(metric1, metric2, metric3)", [30, 0, 20, None, None]),
        ("IF(metric1, 5, metric3)", [5, 5, 20, None, None]),
        ("IF(metric1, metric2, 5)", [30, 0, 5, 5, None]),
        ("IF(metric1, metric2)", [30, 0, None, None, None]),
        ("IF(1, metric2, metric3)", [30, None, 0, 0, 30]),
        ("IF(0, metric2, metric3)", [0, 0, 20, None, 20]),
        ("IF(0, metric2)", [None] * 5),
        ("IF(-1, 7, metric3)", [7] * 5),
    ],
)
def test_the_documented_tables_of_if(expression: str, expected: list[float | None]) -> None:
    metrics: dict[str, list[float | None]] = {
        "metric1": [1, 1, 0, 0, None],
        "metric2": [30, None, 0, 0, 30],
        "metric3": [0, 0, 20, None, 20],
    }

    assert _documented(expression, **metrics) == expected


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("IF(metric1<400, metric1)", [399, None, None]),
        ("IF(metric1<400, 10, 2)", [10, 2, None]),
        ("IF(latency>threshold, 1, 0)", [0, 1, 1]),
    ],
)
def test_the_documented_use_cases_of_if(expression: str, expected: list[float | None]) -> None:
    found = _documented(expression, metric1=[399, 400, None], latency=[5, 7, 9], threshold=[6, 6, 6])

    assert found == expected


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
        ("m1 + m2", {0: 11.0, 60: 20.0, 120: 3.0, 180: 44.0}),
        ("m1 / m2", {0: 10.0, 120: 0.0, 180: 10.0}),
        ("m1 < 20", {0: 1.0, 60: 0.0, 180: 0.0}),
        ("5 * m1", {0: 50.0, 60: 100.0, 180: 200.0}),
        ("m1 - MIN(m1)", {0: 0.0, 60: 10.0, 180: 30.0}),
        ("SUM(100/[m1, m2])", {0: 110.0, 60: 5.0, 120: 100 / 3, 180: 27.5}),
        ("SUM(-[m1, m2])", {0: -11.0, 60: -20.0, 120: -3.0, 180: -44.0}),
        ("SUM(METRICS()*100)", {0: 1100.0, 60: 2000.0, 120: 300.0, 180: 4400.0}),
        ('SUM([METRICS("1"), METRICS("2")])', {0: 11.0, 60: 20.0, 120: 3.0, 180: 44.0}),
        ("FILL(m1, 0)", {0: 10.0, 60: 20.0, 120: 0.0, 180: 40.0}),
        ("FILL(m1, m2)", {0: 10.0, 60: 20.0, 120: 3.0, 180: 40.0}),
        ("FILL(m1, MIN(m1))", {0: 10.0, 60: 20.0, 120: 10.0, 180: 40.0}),
        ("FILL(m1, REPEAT)", {0: 10.0, 60: 20.0, 120: 20.0, 180: 40.0}),
        ("FILL(m1, LINEAR)", {0: 10.0, 60: 20.0, 120: 30.0, 180: 40.0}),
        ("SUM(FILL(METRICS(), 0))", {0: 11.0, 60: 20.0, 120: 3.0, 180: 44.0}),
        ("IF(m2 > 0, m1)", {0: 10.0, 120: 0.0, 180: 40.0}),
        ("IF(m2 > 0, m1, -1)", {0: 10.0, 60: -1.0, 120: 0.0, 180: 40.0}),
        ("SUM(METRICS())", {0: 11.0, 60: 20.0, 120: 3.0, 180: 44.0}),
        ("AVG(METRICS())", {0: 5.5, 60: 10.0, 120: 1.5, 180: 22.0}),
        ("MAX([m1, m2])", {0: 10.0, 60: 20.0, 120: 3.0, 180: 40.0}),
        ("MIN([m2, 2])", {0: 1.0, 60: 0.0, 120: 2.0, 180: 2.0}),
        ("DATAPOINT_COUNT(METRICS())", {0: 2.0, 60: 2.0, 120: 1.0, 180: 2.0}),
        ("MIN(ABS([m1 - m2, m2]))", {0: 1.0, 60: 0.0, 120: 3.0, 180: 4.0}),
        ("RATE(m2)", {60: -1 / 60, 120: 3 / 60, 180: 1 / 60}),
        ("DIFF(m1)", {60: 10.0, 180: 20.0}),
        ("RUNNING_SUM(m1)", {0: 10.0, 60: 30.0, 180: 70.0}),
        ("SUM(RUNNING_SUM([m1,m2]))", {0: 11.0, 60: 31.0, 120: 4.0, 180: 78.0}),
        ("TIME_SERIES(MAX(m1))", {0: 40.0, 60: 40.0, 120: 40.0, 180: 40.0}),
        ("m1/PERIOD(m1)", {0: 10 / 60, 60: 20 / 60, 180: 40 / 60}),
        ("m1/METRIC_COUNT(METRICS())", {0: 5.0, 60: 10.0, 180: 20.0}),
        ("SUM(SEARCH('{N,D} MetricName=\"X\"', 'Average', 60)) + 1", {0: 2.0}),
        ("m2 * PERIOD(m2)", {0: 60.0, 60: 0.0, 120: 180.0, 180: 240.0}),
    ],
)
def test_functions_over_series_with_a_hole(expression: str, expected: dict[int, float]) -> None:
    found = _evaluate(expression)

    assert found == pytest.approx(expected)


def test_a_reducer_of_one_series_is_a_number() -> None:
    found = [_evaluate(each) for each in ("AVG(m2)", "MAX(m1)", "SUM(m2)", "DATAPOINT_COUNT(m1)")]

    assert found == [2.0, 40.0, 8.0, 3.0]


@pytest.mark.parametrize(
    ("expression", "named"),
    [
        ("m1 +", "expected a number"),
        ("m1 $ 2", "unexpected"),
        ("m9 + 1", "m9"),
        ("ANOMALY_DETECTION_BAND(m1, 2)", "ANOMALY_DETECTION_BAND"),
        ("RUNNING_SUM(3)", "a number where a time series"),
        ("__import__('os')", "expected a number"),
    ],
)
def test_what_cannot_be_evaluated_is_named(expression: str, named: str) -> None:
    with pytest.raises(MathError, match=named):
        _evaluate(expression)
