"""Metrics out of log events."""

import json
from typing import Any

import pytest

from local.alarm_evaluation.statistics import statistic
from local.emulator.logs.emf import Measured, metrics_of_event


def _metrics(event: dict[str, Any], directives: list[dict[str, Any]]) -> list[Measured]:
    content = {**event, "_aws": {"Timestamp": 60_000, "CloudWatchMetrics": directives}}
    return list(metrics_of_event(json.dumps(content), 0))


def test_each_dimension_set_is_a_series_of_its_own() -> None:
    directive = {
        "Namespace": "N",
        "Dimensions": [["Fleet"], ["Fleet", "Job"]],
        "Metrics": [{"Name": "Pages", "Unit": "Count"}],
    }

    found = _metrics({"Fleet": "a", "Job": "j", "Pages": [1.0, 3.0]}, [directive])

    assert [(len(key.dimensions), at, unit, statistic([datum], "Average")) for key, at, unit, datum in found] == [
        (1, 60.0, "Count", 2.0),
        (2, 60.0, "Count", 2.0),
    ]


def test_a_distribution_is_read_with_its_counts() -> None:
    directive = {"Namespace": "N", "Dimensions": [[]], "Metrics": [{"Name": "U"}]}

    ((_, _, _, datum),) = _metrics({"U": {"Values": [10, 90], "Counts": [3, 1]}}, [directive])

    assert statistic([datum], "Average") == 30


def test_a_metric_without_its_value_or_dimension_is_left_out() -> None:
    directive = {"Namespace": "N", "Dimensions": [["Fleet"]], "Metrics": [{"Name": "A"}, {"Name": "B"}]}

    assert _metrics({"Fleet": "a", "A": "high"}, [directive]) == []
    assert _metrics({"A": 1}, [directive]) == []


def test_a_node_event_without_directives_and_plain_text_yield_nothing() -> None:
    assert _metrics({"fleet": "a", "neuron_core_utilization": 50}, []) == []
    assert list(metrics_of_event('START "_aws"', 0)) == []


@pytest.mark.parametrize(
    "metadata",
    [
        {"CloudWatchMetrics": ["A"]},
        {"CloudWatchMetrics": {"A": 1}},
        {"CloudWatchMetrics": [{"Namespace": "N", "Dimensions": [3], "Metrics": [{"Name": "A"}]}]},
        {"CloudWatchMetrics": [{"Namespace": "N", "Metrics": ["A"]}]},
        {"Timestamp": "now", "CloudWatchMetrics": [{"Namespace": "N", "Metrics": [{"Name": "A"}]}]},
    ],
)
def test_a_directive_that_is_malformed_is_ignored_and_the_event_kept(metadata: dict[str, Any]) -> None:
    assert list(metrics_of_event(json.dumps({"A": 1.0, "_aws": metadata}), 0)) == []


def test_a_distribution_of_something_else_than_numbers_is_left_out() -> None:
    directive = {"Namespace": "N", "Metrics": [{"Name": "A"}]}

    assert _metrics({"A": {"Values": ["x"], "Counts": [1]}}, [directive]) == []
    assert _metrics({"A": {"Values": 3}}, [directive]) == []
