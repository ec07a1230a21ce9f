"""The page's reading of dashboards: CloudWatch's notations, gaps, tables, and problems as one line."""

import socket
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pytest
from botocore.exceptions import ClientError

from environments import loader
from local.dashboards_page.chart_library import ECHARTS
from local.dashboards_page.cloud import DashboardsPageError, connect, explain
from local.dashboards_page.metric_data import metric_widget, with_figures, with_gaps
from local.dashboards_page.metric_queries import alarm_lines, lines
from local.dashboards_page.panels import alarm_summary, alarm_widget, log_widget, table, text_widget
from local.dashboards_page.server import running, serving
from tests.support.dashboards import ARN, NOW, FakeCloudWatch, FakeInsights, fake_cloud

if TYPE_CHECKING:
    from mypy_boto3_logs.type_defs import ResultFieldTypeDef

START = NOW - timedelta(hours=3)


def metric(query: Mapping[str, Any]) -> tuple[str, str, dict[str, str]]:
    found = query["MetricStat"]["Metric"]
    return found["Namespace"], found["MetricName"], {pair["Name"]: pair["Value"] for pair in found["Dimensions"]}


def test_repeated_elements_are_taken_from_the_entry_above() -> None:
    entries = lines(
        {
            "metrics": [
                ["NeuronFleet", "A", "Environment", "prod", "Fleet", "one"],
                [".", "B", ".", ".", ".", "two", {"stat": "p10"}],
                ["...", "three"],
                ["..."],
            ],
            "stat": "Maximum",
            "period": 60,
        }
    )

    assert [metric(entry.query) for entry in entries] == [
        ("NeuronFleet", "A", {"Environment": "prod", "Fleet": "one"}),
        ("NeuronFleet", "B", {"Environment": "prod", "Fleet": "two"}),
        ("NeuronFleet", "B", {"Environment": "prod", "Fleet": "three"}),
        ("NeuronFleet", "B", {"Environment": "prod", "Fleet": "three"}),
    ]
    assert [entry.query["MetricStat"]["Stat"] for entry in entries] == ["Maximum", "p10", "Maximum", "Maximum"]
    assert len({entry.query["Id"] for entry in entries}) == 4


def test_options_say_how_an_entry_is_asked_and_drawn() -> None:
    hidden, share = lines(
        {
            "metrics": [
                ["N", "M", {"id": "m", "visible": False, "period": 300}],
                [{"expression": "m*2", "label": "Twice", "id": "e", "color": "#abc", "yAxis": "right"}],
            ]
        }
    )

    assert (hidden.query["ReturnData"], hidden.query["MetricStat"]["Period"]) == (False, 300)
    assert share.query == {"Id": "e", "ReturnData": True, "Label": "Twice", "Expression": "m*2", "Period": 300}
    assert (share.color, share.axis) == ("#abc", "right")


def test_an_alarm_of_metric_math_is_drawn_with_its_own_queries() -> None:
    queries: Any = [
        {"Id": "e", "Expression": "m > 1", "ReturnData": True},
        {"Id": "m", "MetricStat": {"Period": 60}, "ReturnData": False},
    ]

    assert [(line.query["Id"], line.period) for line in alarm_lines({"Metrics": queries})] == [("e", 60), ("m", 60)]
    assert alarm_lines(cast("Any", {"AlarmRule": "ALARM(a)"})) == []


def test_a_gap_is_never_bridged() -> None:
    minute = 60_000

    assert with_gaps([(0, 1.0), (minute, 2.0), (5 * minute, 3.0)], 60) == [
        (0, 1.0),
        (minute, 2.0),
        (2 * minute, None),
        (5 * minute, 3.0),
    ]


@pytest.mark.parametrize(
    ("label", "shown"), [("p10", "p10"), ("now ${LAST}, max ${MAX}", "now 2.00, max 3.00"), ("${PROP('Dim.x')}",) * 2]
)
def test_dynamic_labels_are_filled(label: str, shown: str) -> None:
    assert with_figures(label, [1.0, 3.0, 2.0]) == shown


def test_a_dynamic_label_without_figures_says_so() -> None:
    assert with_figures("now ${LAST}", []) == "now no data"


def test_thresholds_come_from_annotations_and_alarms() -> None:
    drawn = metric_widget(
        fake_cloud(),
        {
            "annotations": {
                "alarms": [ARN + "watched"],
                "horizontal": [
                    {"value": 5, "label": "five"},
                    [{"value": 1}, {"value": 2}],
                    {"value": 9, "visible": False},
                ],
            }
        },
        START,
        NOW,
    )

    assert [line["value"] for line in drawn["thresholds"]] == [5, 1, 2, 0.5]
    assert [series["label"] for series in drawn["series"]] == ["NodesBlind"]


def test_every_page_of_metric_data_is_read() -> None:
    class Paged(FakeCloudWatch):
        def get_metric_data(self, **request: Any) -> dict[str, Any]:
            late = "NextToken" in request
            moment = NOW if late else NOW - timedelta(minutes=1)
            result = {"Id": "entry0", "Label": "M", "Timestamps": [moment], "Values": [2.0 if late else 1.0]}
            return {"MetricDataResults": [result]} | ({} if late else {"NextToken": "more"})

    drawn = metric_widget(fake_cloud(Paged()), {"metrics": [["N", "M"]], "period": 60}, START, NOW)

    assert [value for _, value in drawn["series"][0]["points"]] == [1.0, 2.0]


def test_log_groups_are_taken_from_the_query() -> None:
    logs = FakeInsights()

    drawn = log_widget(
        fake_cloud(logs=logs), {"query": "SOURCE '/a' | SOURCE '/b' | fields x\n| limit 3"}, START, NOW, lambda _: None
    )

    assert logs.queries[0]["logGroupNames"] == ["/a", "/b"]
    assert logs.queries[0]["queryString"] == "fields x\n| limit 3"
    assert drawn["columns"][0] == "node"


def test_a_field_that_a_row_lacks_stays_empty() -> None:
    rows: list[list[ResultFieldTypeDef]] = [
        [{"field": "a", "value": "1"}],
        [{"field": "b", "value": "2"}, {"field": "@ptr", "value": "p"}],
    ]

    assert table(rows) == {"columns": ["a", "b"], "rows": [["1", ""], ["", "2"]]}


def test_an_alarm_that_is_not_deployed_is_shown_as_missing() -> None:
    drawn = alarm_widget(fake_cloud(), {"alarms": [ARN + "local/trn1-pretrain/JobHang", ARN + "local/gone/X"]})

    assert [alarm["state"] for alarm in drawn["alarms"]] == ["INSUFFICIENT_DATA", "MISSING"]


def test_a_widget_of_many_alarms_shows_every_one_of_them() -> None:
    names = [f"local/fleet-{number}/JobHang" for number in range(120)]

    class Paged(FakeCloudWatch):
        def describe_alarms(self, **request: Any) -> dict[str, Any]:
            # CloudWatch answers with fifty unless it is asked for more.
            found = request["AlarmNames"][: request.get("MaxRecords", 50)]
            return {"MetricAlarms": [{"AlarmName": name, "StateValue": "OK"} for name in found]}

    drawn = alarm_widget(fake_cloud(Paged()), {"alarms": [ARN + name for name in names]})

    assert [alarm["name"] for alarm in drawn["alarms"]] == names
    assert {alarm["state"] for alarm in drawn["alarms"]} == {"OK"}


def test_the_summary_begins_with_what_is_in_alarm() -> None:
    assert [alarm["state"] for alarm in alarm_summary(fake_cloud(), "local")] == [
        "ALARM",
        "ALARM",
        "ALARM",
        "INSUFFICIENT_DATA",
        "OK",
        "OK",
    ]


def test_text_cannot_bring_markup_of_its_own() -> None:
    html = text_widget({"markdown": "[button:primary:Go](x.md) <script>alert(1)</script> [bad](javascript:x)"})["html"]

    assert '<a href="x.md">Go</a>' in html
    assert "<script>" not in html
    assert 'href="javascript' not in html


def test_a_dead_endpoint_is_one_line() -> None:
    with pytest.raises(DashboardsPageError) as problem, running(loader.load("local"), "http://127.0.0.1:9", 0):
        pass

    assert str(problem.value) == (
        "No AWS answers at http://127.0.0.1:9: start it (fleet local up) or give another endpoint"
    )


def test_a_port_in_use_is_one_line() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]

        with pytest.raises(DashboardsPageError, match=f"Port {port} is in use: give another one"):
            serving(lambda: None, port).__enter__()  # type: ignore[arg-type]  # never called: the port comes first


def test_a_refusal_names_its_code() -> None:
    refusal = ClientError({"Error": {"Code": "AccessDenied", "Message": "no"}}, "ListDashboards")

    assert explain(refusal, "http://x") == "AWS at http://x answered AccessDenied: no"


def test_there_is_no_control_on_an_endpoint_that_is_not_ours() -> None:
    assert connect("http://127.0.0.1:9", "us-east-2").control("status") is None


def test_the_chart_library_is_where_the_page_looks_for_it() -> None:
    assert Path(ECHARTS).is_file()
