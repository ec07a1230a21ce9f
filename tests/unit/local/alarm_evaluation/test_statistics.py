"""Statistics over single values, distributions and statistic sets."""

import pytest

from local.alarm_evaluation.statistics import Datum, is_statistic, statistic

SET = Datum(sample_count=4, total=200, minimum=20, maximum=80)


def test_a_distribution_counts_each_value_as_often_as_it_says() -> None:
    datum = Datum.of_values([10, 90], [30, 2])

    found = {name: statistic([datum], name) for name in ("Average", "Sum", "SampleCount", "Minimum", "Maximum")}

    assert found == {"Average": 15, "Sum": 480, "SampleCount": 32, "Minimum": 10, "Maximum": 90}


def test_several_nodes_in_one_minute_are_one_population() -> None:
    nodes = [Datum.of_values([0]), Datum.of_values([100], [3])]

    assert statistic(nodes, "Average") == 75


@pytest.mark.parametrize(("name", "expected"), [("p0", 0), ("p10", 0), ("p50", 40), ("p90", 40), ("p91", 100)])
def test_a_percentile_is_the_value_that_so_many_samples_do_not_exceed(name: str, expected: float) -> None:
    datum = Datum.of_values([0, 40, 100], [1, 8, 1])

    assert statistic([datum], name) == expected


def test_a_percentile_of_a_statistic_set_is_unknown() -> None:
    assert statistic([SET], "p50") is None


def test_a_percentile_of_a_statistic_set_whose_samples_are_equal_is_known() -> None:
    assert statistic([Datum(3, 15, 5, 5)], "p99") == 5


def test_a_statistic_set_and_values_share_average_and_extremes() -> None:
    found = [statistic([SET, Datum.of_values([100])], name) for name in ("Average", "Minimum", "Maximum")]

    assert found == [60, 20, 100]


def test_no_datum_is_no_statistic_rather_than_zero() -> None:
    assert statistic([], "Average") is None


def test_an_unknown_statistic_is_named() -> None:
    assert not is_statistic("tm90")
    with pytest.raises(ValueError, match="tm90"):
        statistic([SET], "tm90")


@pytest.mark.parametrize(
    ("name", "percent"),
    [("PR(:5)", 50.0), ("PR(5:20)", 25.0), ("PR(20:)", 25.0), ("PR(0:5)", 25.0), ("PR(60:80)", 0.0)],
)
def test_a_percentile_rank_is_exclusive_below_and_inclusive_above(name: str, percent: float) -> None:
    """The share of samples in a range: "CloudWatch statistics definitions" in the CloudWatch User Guide."""
    datums = [Datum.of_values([0, 5, 20], [1, 1, 1]), Datum.of_values([99])]

    assert statistic(datums, name) == percent


def test_a_percentile_rank_of_hidden_samples_is_unknown() -> None:
    assert statistic([Datum(2, 10, 1, 9)], "PR(:5)") is None
