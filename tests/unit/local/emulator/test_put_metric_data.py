"""The limits of PutMetricData, so that a wrong publisher fails here and not on AWS."""

from typing import Any

import pytest

from local.alarm_evaluation import SeriesKey
from local.emulator.cloudwatch.errors import ApiError
from local.emulator.cloudwatch.metric_store import MetricStore
from local.emulator.cloudwatch.put_metric_data import put_metric_data

NOW = 1_790_000_000.0
FLEET = [{"Name": "Environment", "Value": "prod"}, {"Name": "Fleet", "Value": "a"}]


def _put(store: MetricStore, **datum: Any) -> None:
    given = {"MetricName": "M", "Dimensions": FLEET, "Timestamp": NOW, **datum}
    put_metric_data(store, {"Namespace": "NeuronFleet", "MetricData": [given]}, NOW)


@pytest.mark.parametrize(
    ("datum", "named"),
    [
        ({"Value": float("nan")}, "finite"),
        ({"Value": 2.0**361}, "finite"),
        ({"Values": [float(each) for each in range(151)]}, "151 entries"),
        ({"Values": [1.0, 2.0], "Counts": [1.0]}, "1 entries for 2"),
        ({"Value": 1.0, "Values": [1.0]}, "exactly one"),
        ({}, "exactly one"),
        ({"Value": 1.0, "Timestamp": NOW - 15 * 86_400}, "two weeks"),
        ({"Value": 1.0, "Timestamp": NOW + 7_300}, "two hours"),
        ({"Value": 1.0, "Unit": "percent"}, "unit"),
        ({"Value": 1.0, "Dimensions": [{"Name": "A", "Value": ""}]}, "1 to 1024"),
        ({"Value": 1.0, "Dimensions": FLEET + FLEET}, "twice"),
        ({"Value": 1.0, "Dimensions": [{"Name": f"d{n}", "Value": "x"} for n in range(31)]}, "31 entries"),
        ({"StatisticValues": {"SampleCount": 0, "Sum": 0, "Minimum": 0, "Maximum": 0}}, "positive"),
        ({"StatisticValues": {"SampleCount": 1, "Sum": 0, "Minimum": 0}}, "Maximum"),
        ({"Value": 1.0, "MetricName": "x" * 256}, "256"),
    ],
)
def test_a_datum_outside_the_limits_is_refused_and_nothing_is_stored(datum: dict[str, Any], named: str) -> None:
    store = MetricStore()

    with pytest.raises(ApiError, match=named):
        _put(store, **datum)

    assert store.datums == 0


def test_more_than_a_thousand_metrics_in_one_request_are_refused() -> None:
    datum = {"MetricName": "M", "Value": 1.0}

    with pytest.raises(ApiError, match="1001"):
        put_metric_data(MetricStore(), {"Namespace": "N", "MetricData": [datum] * 1001}, NOW)


def test_a_namespace_of_aws_is_refused() -> None:
    with pytest.raises(ApiError, match="AWS/"):
        put_metric_data(MetricStore(), {"Namespace": "AWS/EC2", "MetricData": [{}]}, NOW)


def test_a_series_is_its_exact_set_of_dimensions() -> None:
    store = MetricStore()
    _put(store, Value=1.0)
    _put(store, Value=5.0, Dimensions=[*FLEET, {"Name": "JobId", "Value": "j"}])

    fleet = SeriesKey.of("NeuronFleet", "M", list(reversed(FLEET)))
    part = SeriesKey.of("NeuronFleet", "M", FLEET[:1])

    minute = int(NOW // 60 * 60)
    assert store.values(fleet, "Maximum", minute - 60, minute + 60, 60) == {minute: 1.0}
    assert store.values(part, "Maximum", minute - 60, minute + 60, 60) == {}


def test_periods_begin_at_the_start_and_the_end_is_not_part_of_the_range() -> None:
    store = MetricStore()
    base = int(NOW // 300 * 300)
    for minute, value in enumerate((1.0, 2.0, 3.0, 4.0, 5.0, 6.0)):
        _put(store, Value=value, Timestamp=base + 60 * minute + 59)
    key = SeriesKey.of("NeuronFleet", "M", FLEET)

    assert store.values(key, "Sum", base, base + 300, 300) == {base: 15.0}
    assert store.values(key, "Sum", base + 60, base + 120, 60) == {base + 60: 2.0}
    assert store.values(key, "Sum", base + 60, base + 360, 300) == {base + 60: 20.0}
    assert store.values(key, "Sum", base, base + 120, 300) == {base: 3.0}
