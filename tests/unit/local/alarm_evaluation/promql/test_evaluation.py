"""What is refused and how it is said, and the one thing in which CloudWatch is not the Prometheus that judges."""

import pytest

from local.alarm_evaluation.promql import Evaluation, PromqlError, SeriesStore, labels_of, parse, selectors_in

NODE = labels_of({"__name__": "m", "node": "a"})


def store(**samples: float | None) -> SeriesStore:
    """A series whose samples are given by ``sSECOND``."""
    made = SeriesStore()
    for name, value in samples.items():
        made.put("m", NODE, int(name[1:]), value)
    return made


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("rate(m[5m])", r"^PromQL: rate\(\) is not evaluated here, but absent, absent_over_time, "),
        ("topk(2, m)", "^PromQL: the aggregation topk is not evaluated here, but avg, count, "),
        ("m atan2 n", "^PromQL: the operator atan2 is not evaluated here, but "),
        ("m @ end()", "^PromQL: the modifier @ is not evaluated here$"),
        ('{node="a"}', "^PromQL: a selector that does not name its metric is not evaluated here$"),
        ('{__name__=~"m|n"}', "^PromQL: a selector that does not name its metric is not evaluated here$"),
        ('m{node="a" or node="b"}', "^PromQL: 'or' within a selector is not evaluated here$"),
        ('m{node=~"(?i)a"}', r"^PromQL: the pattern '\(\?i\)a' is not evaluated here, but "),
        ('m{node=~"a\\\\b"}', "^PromQL: the pattern "),
        ("max_over_time((m > 1)[5m:])", r"^PromQL: a subquery without a step is not evaluated here, but \[10m:1m\]$"),
        ("m + fill(0) n", r"^PromQL: fill\(\) is not evaluated here$"),
        ('"text"', "^PromQL: StringLiteral .* is not evaluated here$"),
        ("max by (node)", "^PromQL: .*: max by"),
        ("m + " * 3000 + "m", "^PromQL: 12001 characters, and CloudWatch takes 10000$"),
    ],
)
def test_what_is_not_evaluated_is_refused_in_one_line(text: str, said: str) -> None:
    with pytest.raises(PromqlError, match=said) as refused:
        parse(text)

    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(("text", "said"), [("1 + 1", "a number"), ("m[5m]", "a range")])
def test_an_alarm_needs_series(text: str, said: str) -> None:
    with pytest.raises(PromqlError, match=said):
        Evaluation(store(s0=1.0)).vector(parse(text), 0)


def test_a_sample_at_the_very_start_of_a_range_is_in_it_up_to_prometheus_2_and_not_in_3() -> None:
    counted = parse("count_over_time(m[2m])")
    series = store(s0=1.0, s60=1.0, s120=1.0)

    assert list(Evaluation(series, left_open=False).vector(counted, 120).values()) == [3]
    assert list(Evaluation(series).vector(counted, 120).values()) == [2]


def test_a_sample_as_old_as_the_lookback_is_seen_up_to_prometheus_2_and_not_in_3() -> None:
    series = store(s0=1.0)

    assert Evaluation(series, left_open=False).vector(parse("m"), 300) == {NODE: 1.0}
    assert Evaluation(series).vector(parse("m"), 299) == {NODE: 1.0}
    assert Evaluation(series).vector(parse("m"), 300) == {}


def test_steps_of_a_subquery_leave_its_start_out_too() -> None:
    counted = parse("count_over_time((m > 0)[2m:1m])")
    series = store(s0=1.0, s60=1.0, s120=1.0)

    assert list(Evaluation(series, left_open=False).vector(counted, 120).values()) == [3]
    assert list(Evaluation(series).vector(counted, 120).values()) == [2]


def test_samples_may_come_late_and_twice_and_the_first_of_two_counts() -> None:
    series = SeriesStore()
    for at, value in ((120, 3.0), (0, 1.0), (60, 2.0), (60, 9.0)):
        series.put("m", NODE, at, value)

    assert list(Evaluation(series).vector(parse("sum_over_time(m[10m])"), 120).values()) == [6]


def test_what_lies_beyond_the_horizon_is_forgotten() -> None:
    series = SeriesStore(horizon=600)
    for minute in range(1000):
        series.put("m", NODE, minute * 60, 1.0)

    ((selector, _),) = selectors_in(parse("m"))
    (kept,) = series.select(selector)
    assert 10 <= len(kept.times) < 100


def test_an_expression_says_what_it_reads_and_how_far_back() -> None:
    node = parse('max_over_time(m{node="a"}[6m] offset 1m) > on (node) n or count_over_time((k == 1)[10m:1m]) > 3')

    assert [(selector.metric, seconds) for selector, seconds in selectors_in(node)] == [
        ("m", 420.0),
        ("n", 0.0),
        ("k", 600.0),
    ]
