"""Each rule of the linter: what it refuses, with its code, and that it lets through what is right."""

from dataclasses import replace
from typing import Any

import pytest

from environments.alarm_linter import Alarm, Around, Composite, Dashboard, Series, Watched, Widget, lint
from environments.alarm_linter.quotas import over_series_budget
from fleet import metrics
from fleet.diagnostics import Severity

AROUND = Around(environment="prod", fleets=("trn1", "inf2"), runbooks=frozenset({"JobHang", "LowUtilization"}))
HERE = {"Environment": "prod", "Fleet": "trn1"}
RUNNING = Series("NeuronFleet", "NodesRunning", HERE)


def alarm(**changes: Any) -> Alarm:
    return Alarm(
        **{"name": "prod/trn1/JobHang", "notifies": True, "series": (RUNNING,), "datapoints": (1, 4), **changes}
    )


def composite(**changes: Any) -> Composite:
    made = {
        "name": "prod/trn1/LowUtilization",
        "notifies": True,
        "rule": "ALARM(x)",
        "children": ("prod/trn1/JobHang",),
    }
    return Composite(**{**made, **changes})


def codes(watched: Watched, around: Around = AROUND) -> list[str]:
    return [finding.code for finding in lint(watched, around) if finding.severity is not Severity.NOTE]


def of(*alarms: Alarm) -> list[str]:
    return codes(Watched(alarms=alarms))


def test_what_is_right_is_priced_and_not_found_fault_with() -> None:
    (only,) = lint(Watched((alarm(),), (composite(),)), AROUND)

    assert (only.code, only.severity) == ("alarms-cost", Severity.NOTE)
    assert "1 alarms and 1 composites cost $0.60 a month" in only.message


@pytest.mark.parametrize(
    ("series", "code"),
    [
        (Series("NeuronFleet", "NodesRuning", HERE), "unknown-metric"),
        (Series("NeuronFleet/Operations", "NodesRunning", {"Environment": "prod"}), "unknown-metric"),
        (Series("AWS/SQS", "Messages", {"QueueName": "q"}), "unknown-metric"),
        (Series("NeuronFleet", "NodesRunning", {"Environment": "prod"}), "wrong-dimensions"),
        (Series("NeuronFleet", "NodesRunning", {**HERE, "Node": "i-1"}), "wrong-dimensions"),
        (Series("NeuronFleet", "NodesRunning", {}), "wrong-dimensions"),
        (Series("NeuronFleet", "NodesRunning", {**HERE, "Fleet": "trn2"}), "wrong-dimensions"),
        (Series("NeuronFleet", "NodesRunning", {**HERE, "Environment": "dev"}), "wrong-dimensions"),
        (Series("NeuronFleet/Operations", "PagesSent", {"Environment": "dev"}), "wrong-dimensions"),
        (Series("AWS/SQS", "ApproximateNumberOfMessagesVisible", {}), "wrong-dimensions"),
        (Series("AWS/ApplicationELB", "HTTPCode_ELB_5XX_Count", {"TargetGroup": "t"}), "wrong-dimensions"),
        (Series("AWS/EFS", "TotalIOBytes", {}), "series-not-checked"),
    ],
)
def test_what_nobody_publishes_is_found_in_alarms_and_in_widgets(series: Series, code: str) -> None:
    dashboard = Dashboard("operator", (Widget("Nodes", (series,)),))

    assert of(alarm(series=(series,))) == [f"alarm-{code}"]
    assert codes(Watched(dashboards=(dashboard,))) == [f"widget-{code}"]


def test_a_finding_names_the_alarm_the_metric_and_what_would_be_right() -> None:
    wrong = Series("NeuronFleet", "NodesRunning", {"Fleet": "trn1", "Node": "i-1"})

    finding = next(lint(Watched((alarm(series=(wrong,)),)), AROUND))

    assert str(finding) == ("prod/trn1/JobHang: NodesRunning is not published with Fleet, Node; use Environment, Fleet")


@pytest.mark.parametrize(("notifies", "found"), [(True, ["alarm-without-runbook"]), (False, [])])
def test_only_what_tells_somebody_needs_a_runbook(notifies: bool, found: list[str]) -> None:
    assert of(alarm(name="prod/trn1/Nameless", notifies=notifies)) == found


@pytest.mark.parametrize(
    ("changes", "found"),
    [
        ({"series": (RUNNING,) * 10}, []),
        ({"series": (RUNNING,) * 11}, ["alarm-too-many-metrics", "alarm-is-dear"]),
        ({"expressions": ("a",) * 11}, ["alarm-too-many-metrics"]),
        ({"minutes": 1440}, []),
        ({"minutes": 1441}, ["alarm-looks-too-far-back"]),
        ({"expressions": ("MAX(SEARCH('{NeuronFleet}', 'Average'))",)}, ["alarm-reads-search"]),
    ],
)
def test_an_alarm_that_cloudwatch_would_refuse(changes: dict[str, Any], found: list[str]) -> None:
    assert of(alarm(**changes)) == found


DEAD_LETTERS = Series("AWS/SQS", "ApproximateNumberOfMessagesVisible", {"QueueName": "q"})
FILLED = {"series": (DEAD_LETTERS,), "expressions": ("FILL(m1, 0)",)}


@pytest.mark.parametrize(
    ("changes", "found"),
    [
        ({"datapoints": (1, 1)}, ["alarm-sticks"]),
        ({"datapoints": (10, 10)}, ["alarm-sticks"]),
        ({"datapoints": (10, 13)}, []),
        ({"datapoints": (3, 3), **FILLED}, ["alarm-sticks"]),
        ({"datapoints": (3, 8), **FILLED}, []),
        # One queue is not a fleet: its minute is there, or is not.
        ({"datapoints": (1, 1), "series": (DEAD_LETTERS,)}, []),
        # What moves nodes waits for every minute on purpose.
        ({"datapoints": (15, 15), "notifies": False}, []),
    ],
)
def test_an_alarm_that_late_data_would_keep_as_it_is(changes: dict[str, Any], found: list[str]) -> None:
    assert of(alarm(**changes)) == found


def test_a_silent_part_of_a_composite_sticks_as_any_other() -> None:
    part = alarm(name="prod/trn1/Part", notifies=False, datapoints=(12, 12))

    assert codes(Watched((part,), (composite(children=(part.name,)),))) == ["alarm-sticks"]


def test_why_it_sticks_is_said_in_one_line_with_the_alarms_name() -> None:
    (filled, whole) = (next(lint(Watched((alarm(datapoints=(1, 1), **changes),)), AROUND)) for changes in (FILLED, {}))

    assert str(filled) == (
        "prod/trn1/JobHang: 1 of 1 datapoints over FILL never breach while data come late: the newest minutes are "
        "always filled ones; ask for 1 of more minutes, as fleet.lateness does"
    )
    assert "1 of 1 datapoints over a fleet's nodes never breach while some send late" in str(whole)


@pytest.mark.parametrize(("count", "found"), [(200, []), (201, ["metrics-insights-quota"])])
def test_metrics_insights_alarms_have_a_quota_that_nobody_raises(count: int, found: list[str]) -> None:
    query = 'SELECT AVG(NodesRunning) FROM SCHEMA("NeuronFleet", Environment, Fleet)'

    assert of(*[alarm(expressions=(query,))] * count) == found


@pytest.mark.parametrize(
    ("changes", "found"),
    [
        ({"children": tuple(f"c{n}" for n in range(100))}, []),
        ({"children": tuple(f"c{n}" for n in range(101))}, ["composite-too-many-children"]),
        ({"rule": "x" * 10_240}, []),
        ({"rule": "x" * 10_241}, ["composite-rule-too-long"]),
        ({"children": ("gone",)}, ["composite-unknown-child"]),
        ({"suppressor": "gone"}, ["composite-unknown-child"]),
    ],
)
def test_a_composite_that_cloudwatch_would_refuse(changes: dict[str, Any], found: list[str]) -> None:
    children = [alarm(name=f"c{n}", notifies=False) for n in range(101)]

    assert codes(Watched((alarm(), *children), (composite(**changes),))) == found


@pytest.mark.parametrize(("count", "found"), [(150, []), (151, ["composite-too-many-parents"])])
def test_one_suppressor_serves_a_hundred_and_fifty_composites(count: int, found: list[str]) -> None:
    every = tuple(composite(name=f"prod/trn1/{n}", notifies=False, suppressor="s") for n in range(count))
    children = (alarm(name="s", notifies=False), *(alarm(name=f"c{n}", notifies=False) for n in range(count)))
    each_its_own = tuple(replace(one, children=(f"c{n}",)) for n, one in enumerate(every))

    assert codes(Watched(children, each_its_own)) == found


@pytest.mark.parametrize(
    ("metrics_of_a_widget", "widgets", "found"),
    [
        (500, 5, []),
        (501, 1, ["widget-too-many-metrics"]),
        (417, 6, ["dashboard-too-large"]),
        (1, 500, []),
        (1, 501, ["dashboard-too-large"]),
    ],
)
def test_a_dashboard_that_cloudwatch_would_refuse(metrics_of_a_widget: int, widgets: int, found: list[str]) -> None:
    widget = Widget("many", (RUNNING,) * metrics_of_a_widget)

    assert codes(Watched(dashboards=(Dashboard("operator", (widget,) * widgets),))) == found


@pytest.mark.parametrize(("count", "found"), [(900, []), (1081, ["alarms-deploy-slowly"])])
def test_many_alarms_take_minutes_to_deploy(count: int, found: list[str]) -> None:
    assert of(*[alarm()] * count) == found


@pytest.mark.parametrize(
    ("budget", "severity"), [(None, Severity.NOTE), (2.0, Severity.NOTE), (1.99, Severity.WARNING)]
)
def test_alarms_that_cost_half_of_cloudwatchs_budget_are_a_warning(budget: float | None, severity: Severity) -> None:
    around = replace(AROUND, cloudwatch_usd_per_month=budget)

    (finding,) = lint(Watched((alarm(),) * 10), around)

    assert (finding.code, finding.value, finding.severity) == ("alarms-cost", "1.00", severity)


def test_a_fleet_and_a_job_have_a_budget_of_series() -> None:
    per_fleet, per_job = metrics.NODES_BLIND, metrics.TOKENS_PER_SECOND
    more = {f"F{n}": replace(per_fleet, name=f"F{n}") for n in range(45)}

    assert not list(over_series_budget(metrics.CATALOGUE))
    assert not list(over_series_budget(dict(list(more.items())[:44])))
    assert [found.code for found in over_series_budget(more)] == ["fleet-over-series-budget"]
    assert [found.code for found in over_series_budget({str(n): per_job for n in range(17)})] == [
        "job-over-series-budget"
    ]
