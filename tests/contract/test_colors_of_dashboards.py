"""What colors say: trouble is not the color of health, grey is what nobody knows, on light and on dark.

How CloudWatch itself shades an area cannot be measured here: these are the colors that its dashboards ask for.
"""

import itertools
import re
from pathlib import Path
from typing import Any

import pytest

from tests.support.color_vision import chroma, contrast, distance
from tests.support.watching import ENVIRONMENTS, dashboards, watched

STATIC = Path(__file__).parents[2] / "local" / "dashboards_page" / "static"
# The page's cards, as page.css has them.
CARDS = ("#ffffff", "#161d26")
ALARM = "#d13212"
# In L*a*b*: about ten times what the eye just tells apart.
APART = 15


def lines(title: str, name: str = "local") -> dict[str, str]:
    """The colors of the lines of the first graph with this title, by label."""
    return next(
        {line[-1]["label"]: line[-1]["color"] for line in widget["properties"]["metrics"]}
        for body in dashboards(watched(name)).values()
        for widget in body["widgets"]
        if widget["properties"].get("title", "").startswith(title)
    )


def test_a_fault_is_red_and_only_what_is_unseen_is_grey() -> None:
    states = lines("Nodes by state")

    assert states["fault"] == ALARM
    assert [state for state, color in states.items() if chroma(color) < APART] == ["blind"]


def test_no_state_is_taken_for_another() -> None:
    states = lines("Nodes by state")

    near = [pair for pair in itertools.combinations(states, 2) if distance(*(states[each] for each in pair)) < APART]
    assert near == []


def test_cores_that_work_hard_are_not_the_color_of_an_alarm() -> None:
    bands = lines("Cores by")

    assert min(distance(color, ALARM) for color in bands.values()) > 20
    assert min(distance(color, lines("Nodes by state")["blind"]) for color in bands.values()) > APART


def test_each_band_of_the_heat_is_told_from_the_next() -> None:
    assert min(itertools.starmap(distance, itertools.pairwise(lines("Cores by").values()))) > APART


@pytest.mark.parametrize("card", CARDS)
def test_colors_stand_out_from_the_page_in_both_themes(card: str) -> None:
    # 3 is WCAG's for what has to be seen to understand; a band of the heat also has its neighbors and a number.
    assert {state for state, color in lines("Nodes by state").items() if contrast(color, card) < 3} == set()
    assert {band for band, color in lines("Cores by").items() if contrast(color, card) < 2} == set()


def test_the_page_draws_cores_in_the_bands_of_the_dashboards() -> None:
    script = (STATIC / "widgets.js").read_text(encoding="utf-8")
    bands = lines("Cores by")

    found = re.findall(r'\[(\w+), "(#\w{6})"\]', script)
    assert [color for _, color in found] == list(bands.values())
    assert [limit for limit, _ in found] == ["5", "20", "40", "60", "80", "Infinity"]


def test_the_page_has_the_cards_that_are_measured_against() -> None:
    style = (STATIC / "page.css").read_text(encoding="utf-8")

    assert re.findall(r"--card: (#\w+)", style) == ["#fff", CARDS[1]]


@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_a_threshold_is_said_as_its_alarm_compares(name: str) -> None:
    words = {
        "LessThanThreshold": "below",
        "GreaterThanThreshold": "above",
        "GreaterThanOrEqualToThreshold": "at or above",
    }
    alarms: dict[str, set[str]] = {}
    for alarm in watched(name).resources("observability", "AWS::CloudWatch::Alarm"):
        key = alarm["AlarmName"].rpartition("/")[2]
        alarms.setdefault(key, set()).add(f"{key} {words[alarm['ComparisonOperator']]} {alarm['Threshold']:g}")
    drawn = [label for label in _thresholds(name) if label.partition(" ")[0] in alarms]

    assert drawn
    assert [label for label in drawn if label.partition(": ")[0] not in alarms[label.partition(" ")[0]]] == []


def _thresholds(name: str) -> list[str]:
    widgets: list[dict[str, Any]] = [w for body in dashboards(watched(name)).values() for w in body["widgets"]]
    return [
        line["label"]
        for widget in widgets
        for line in widget["properties"].get("annotations", {}).get("horizontal", [])
    ]
