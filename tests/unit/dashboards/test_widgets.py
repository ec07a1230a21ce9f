"""The shapes that dashboards draw."""

import json
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_cloudwatch as cw

from dashboards.widgets import alarm_status, graph, row, rows_of, series, text, total
from fleet import metrics
from fleet.alarms import AlarmSettings, AlarmSpec, fleet_alarms
from fleet.fleet_spec import MarketKind
from fleet.metrics import Unit
from tests.support.templates import new_app


def drawn(*rows: Any) -> list[dict[str, Any]]:
    """The widgets as CloudWatch would read them."""
    stack = cdk.Stack(new_app(), "Drawn")
    return [widget for widgets in rows for shape in widgets for widget in stack.resolve(shape.to_json())]


def line() -> Any:
    return graph("Nodes", Unit.COUNT, [series(metrics.NODES_RUNNING, "Sum", "prod", "trn1")])


@pytest.mark.parametrize(("shapes", "width"), [(1, 24), (2, 12), (3, 8), (4, 6)])
def test_a_row_shares_its_width(shapes: int, width: int) -> None:
    assert [widget["width"] for widget in drawn(row(*[line()] * shapes))] == [width] * shapes


def test_many_shapes_take_several_rows() -> None:
    assert [len(widgets) for widgets in rows_of(3, [line()] * 7)] == [3, 3, 1]


def test_percents_are_drawn_from_zero_to_a_hundred() -> None:
    (widget,) = drawn(row(graph("Utilization", Unit.PERCENT, [])))

    assert widget["properties"]["yAxis"]["left"] | {"label": ""} == {
        "min": 0,
        "max": 100,
        "label": "",
        "showUnits": False,
    }


def test_a_threshold_is_drawn_where_its_alarm_has_it() -> None:
    settings = AlarmSettings(environment="prod", fleet="trn1", purpose="training", market=MarketKind.ON_DEMAND, nodes=1)
    pressure = next(alarm for alarm in fleet_alarms(settings) if alarm.key == "HbmPressure")
    assert isinstance(pressure, AlarmSpec)

    (widget,) = drawn(row(graph("Memory", Unit.PERCENT, [], alarms=[pressure])))

    (annotation,) = widget["properties"]["annotations"]["horizontal"]
    assert (annotation["value"], annotation["label"]) == (95, "HbmPressure above 95")


def test_a_total_adds_up_the_fleets() -> None:
    (widget,) = drawn(
        row(graph("Cost", Unit.NONE, [total(metrics.COST_USD_PER_HOUR, "prod", ["a", "b"], label="paid")]))
    )

    expression, *parts = widget["properties"]["metrics"]
    assert expression[0]["expression"] == "SUM([costUsdPerHour0, costUsdPerHour1])"
    assert [part[-1]["visible"] for part in parts] == [False, False]


def test_text_is_markdown() -> None:
    (widget,) = drawn(row(text("**bold**")))

    assert json.dumps(widget["properties"]) == '{"markdown": "**bold**"}'


@pytest.mark.parametrize(("alarms", "height"), [(0, 2), (5, 2), (6, 3), (17, 5)])
def test_an_alarm_widget_is_high_enough_for_every_tile(alarms: int, height: int) -> None:
    scope = cdk.Stack(new_app(), "Alarms")
    tiles = [
        cw.Alarm.from_alarm_arn(scope, str(index), f"arn:aws:cloudwatch:us-east-2:111122223333:alarm:a{index}")
        for index in range(alarms)
    ]
    (widget,) = drawn(row(alarm_status("Alarms", tiles)))

    assert widget["height"] == height
