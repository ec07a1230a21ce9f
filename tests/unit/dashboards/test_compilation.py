"""What the compile graphs come to, by the figures that agents publish."""

from typing import Any

import aws_cdk as cdk
import pytest

from dashboards import compilation
from local.alarm_evaluation.metric_math.functions import Grid
from local.alarm_evaluation.metric_math.syntax import parse
from tests.support.templates import new_app

TIMES = (0, 60, 120, 180)
Minutes = dict[int, float]


@pytest.fixture(scope="module")
def widgets() -> dict[str, dict[str, Any]]:
    stack = cdk.Stack(new_app(), "Drawn")
    rows = compilation.rows("prod", "trn1", [])
    drawn = [widget for row in rows for shape in row for widget in stack.resolve(shape.to_json())]
    return {widget["properties"]["title"]: widget["properties"] for widget in drawn}


def shown(widget: dict[str, Any], published: dict[str, Minutes]) -> Minutes:
    """The widget's expression over what was ``published``, by the metric's name."""
    (expression, *parts) = widget["metrics"]
    series = {part[-1]["id"]: published.get(part[1], {}) for part in parts}
    found = Grid(TIMES, 60, series, tuple(series), lambda *_: []).evaluate(parse(expression[0]["expression"]))
    assert isinstance(found, dict)
    return found


def test_the_hit_rate_is_that_of_all_graphs_on_the_screen(widgets: dict[str, dict[str, Any]]) -> None:
    published = {"CompileCacheHits": {60: 3.0, 180: 6.0}, "CompileCacheMisses": {0: 0.0, 60: 1.0, 120: 0.0, 180: 0.0}}

    rate = shown(widgets["Found compiled, since the left edge"], published)

    # 3 of 4 graphs, and at the end 9 of 10.
    assert rate == pytest.approx({60: 75.0, 120: 75.0, 180: 90.0})


def test_where_nobody_sees_hits_there_is_no_rate(widgets: dict[str, dict[str, Any]]) -> None:
    assert shown(widgets["Found compiled, since the left edge"], {"CompileCacheMisses": {60: 4.0}}) == {}


def test_minutes_saved_are_graphs_found_at_the_mean_of_those_compiled(widgets: dict[str, dict[str, Any]]) -> None:
    published = {
        "CompileCacheHits": {60: 3.0, 180: 6.0},
        "CompilationSeconds": {0: 0.0, 60: 240.0, 120: 0.0},
        "CompilationEvents": {0: 0.0, 60: 2.0, 120: 0.0},
    }

    # Two minutes each.
    assert shown(widgets["Compilation saved, minutes since the left edge"], published) == {60: 6.0, 120: 6.0, 180: 18.0}


def test_dollars_waited_are_node_minutes_in_state_compiling_at_the_nodes_price(
    widgets: dict[str, dict[str, Any]],
) -> None:
    # 16 nodes for three minutes, four in the last; the figures of one minute are missing.
    published = {
        "NodesCompiling": {0: 16.0, 60: 16.0, 120: 16.0, 180: 4.0},
        "CostUsdPerHour": {0: 21.5, 60: 21.5, 180: 21.5},
    }

    dollars = shown(widgets["Nodes waited for compilers, dollars since the left edge"], published)

    assert dollars == pytest.approx({0: 344 / 60, 60: 2 * 344 / 60, 120: 2 * 344 / 60, 180: 2 * 344 / 60 + 86 / 60})
