"""Every dashboard that is deployed, in a real browser, over a day of data."""

import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from local.dashboards_page.app import create_app
from local.dashboards_page.metric_queries import lines
from local.dashboards_page.server import serving
from tests.browser.conftest import PATIENCE_MILLISECONDS
from tests.support.full_day import MINUTES, NOW, FullDay, bodies, day, full_day

pytestmark = pytest.mark.browser
AUDIENCES = ["operator", "training", "inference", "endpoint-inf2-chat", "capacity-and-cost", "agent-health"]
# What each chart drew: its series with their points, as ECharts holds them.
DRAWN = """() => [...document.querySelectorAll('.widget')].map(box => {
  const chart = box.querySelector('.chart') && echarts.getInstanceByDom(box.querySelector('.chart'));
  return !chart ? null : chart.getOption().series.filter(series => series.name)
    .map(series => [series.name, series.data.map(point => point.value || point)]);
})"""
TITLES_CUT = """() => [...document.querySelectorAll('.widget h2 span, .state b')]
  .filter(title => title.scrollWidth > title.clientWidth).map(title => title.textContent)"""
# Each table: what is said of its size, and its rows: text, state's color, and the colors of its cores.
TABLES = """() => Object.fromEntries([...document.querySelectorAll('.widget.log')].reverse().map(box => [
  box.querySelector('h2 span').textContent.split(',')[0],
  [box.querySelector('h2 small').textContent, [...box.querySelectorAll('tbody tr')].map(row => ({
    text: row.innerText.split('\\t'),
    state: row.querySelector('.node-state') && getComputedStyle(row.querySelector('.node-state')).color,
    cores: [...row.querySelectorAll('.strip i')].map(core => getComputedStyle(core).backgroundColor),
  }))],
]))"""
TIMES = """() => Object.fromEntries(
  [['first', 'first-contentful-paint'], ['chart', 'first-widget'], ['screen', 'screen-filled'], ['all', 'all-widgets']]
    .map(([key, name]) => [key, performance.getEntriesByName(name)[0].startTime]))"""


@dataclass(frozen=True)
class Seen:
    """What a page showed once all of it was drawn."""

    states: list[str | None]
    notes: list[str]
    drawn: list[list[tuple[str, list[list[Any]]]] | None]
    tables: dict[str, tuple[str, list[dict[str, Any]]]]
    titles_cut: list[str]
    tabs: list[str]
    times: dict[str, float]
    """Milliseconds from navigation to the first contentful paint, the first chart, and the last widget."""
    errors: list[str]


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    day()
    with serving(create_app(full_day(), "local"), 0) as url:
        yield url


@contextmanager
def new_context(browser: Browser) -> Iterator[BrowserContext]:
    context = browser.new_context(viewport={"width": 1600, "height": 1000})
    context.set_default_timeout(PATIENCE_MILLISECONDS)
    yield context
    context.close()


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    with new_context(browser) as context:
        yield context


def opened(context: BrowserContext, url: str, audience: str, hours: str = "1d") -> tuple[Page, list[str]]:
    errors: list[str] = []
    page = context.new_page()
    page.on("console", lambda message: errors.append(message.text) if message.type in {"error", "warning"} else None)
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(f"{url}?range={hours}#neuron-fleet-local-{audience}")
    page.wait_for_selector("body[data-ready]")
    return page, errors


@pytest.fixture(scope="module")
def seen(browser: Browser, url: str) -> Callable[[str], Seen]:
    """Each audience's dashboard, opened once in a browser that has not seen another."""
    return cache(lambda audience: look(browser, url, audience))


def look(browser: Browser, url: str, audience: str) -> Seen:
    with new_context(browser) as context:
        page, errors = opened(context, url, audience)
        return Seen(
            states=[box.get_attribute("data-state") for box in page.locator(".widget").all()],
            notes=page.locator(".widget .note").all_inner_texts(),
            drawn=page.evaluate(DRAWN),
            tables=page.evaluate(TABLES),
            titles_cut=page.evaluate(TITLES_CUT),
            tabs=page.get_by_role("navigation").get_by_role("button").all_inner_texts(),
            times=page.evaluate(TIMES),
            errors=errors,
        )


@pytest.mark.parametrize("audience", AUDIENCES)
def test_nothing_is_empty_and_the_console_is_quiet(seen: Callable[[str], Seen], audience: str) -> None:
    page = seen(audience)

    assert page.states == ["drawn"] * len(bodies()[f"neuron-fleet-local-{audience}"]["widgets"])
    assert page.notes == []
    assert page.errors == []


@pytest.mark.parametrize("audience", AUDIENCES)
def test_every_line_is_what_get_metric_data_says(seen: Callable[[str], Seen], audience: str) -> None:
    drawn = seen(audience).drawn

    for widget, series in zip(bodies()[f"neuron-fleet-local-{audience}"]["widgets"], drawn, strict=True):
        if series is not None:
            assert {name: measured(points) for name, points in series} == expected(widget["properties"])


@pytest.mark.parametrize("audience", AUDIENCES)
def test_no_title_and_no_name_is_cut_off(seen: Callable[[str], Seen], audience: str) -> None:
    assert seen(audience).titles_cut == []


def test_cores_that_nobody_sees_are_grey_and_dated_and_a_fault_is_not_grey(seen: Callable[[str], Seen]) -> None:
    _, rows = seen("training").tables["Every core"]
    silent, blind, fault, running = rows[0], *sorted(rows[1:], key=lambda row: row["text"][0])

    assert [row["text"][1] for row in (silent, blind, fault, running)] == ["RUNNING", "BLIND", "FAULT", "RUNNING"]
    for row in (silent, blind):
        assert row["text"][-1].strip() == "last seen 27 min ago"
        assert {is_grey(color) for color in row["cores"]} == {True}
    for row in (fault, running):
        assert len(row["cores"]) == 32
        assert True not in {is_grey(color) for color in row["cores"]}
    assert not is_grey(fault["state"])
    assert is_grey(blind["state"])


@pytest.mark.parametrize("audience", AUDIENCES)
def test_a_table_says_as_many_rows_as_it_has(seen: Callable[[str], Seen], audience: str) -> None:
    for said, rows in seen(audience).tables.values():
        # 20: the limit of the only queries that reach theirs.
        words = {1: "1 row", 20: "20 shown, there may be more"}
        assert said == words.get(len(rows), f"{len(rows)} rows")


def test_a_link_leads_to_an_endpoints_own_dashboard_and_the_way_back_from_it(context: BrowserContext, url: str) -> None:
    page, errors = opened(context, url, "inference")

    page.get_by_role("link", name="Its own dashboard").click()
    expect(page.locator("nav [aria-current]")).to_have_text("Endpoint inf2-chat")
    assert page.url.endswith("#neuron-fleet-local-endpoint-inf2-chat")
    page.get_by_role("link", name="every endpoint").click()
    expect(page.locator("nav [aria-current]")).to_have_text("Inference")
    page.go_back()
    expect(page.locator("nav [aria-current]")).to_have_text("Endpoint inf2-chat")

    assert errors == []


def test_a_link_to_a_dashboard_that_is_not_deployed_is_told(context: BrowserContext, url: str) -> None:
    page, errors = opened(context, url, "operator")

    page.evaluate("location.hash = '#dashboards:name=neuron-fleet-local-gone'")

    expect(page.get_by_role("alert")).to_have_text("No dashboard neuron-fleet-local-gone here")
    expect(page.locator("nav [aria-current]")).to_have_text("Operator")
    assert errors == []


def test_the_dashboards_of_endpoints_stand_last(seen: Callable[[str], Seen]) -> None:
    assert seen("operator").tabs == [
        "Operator",
        "Agent health",
        "Capacity and cost",
        "Inference",
        "Training",
        "Endpoint inf2-chat",
    ]


def test_how_soon_a_day_of_data_is_painted(seen: Callable[[str], Seen]) -> None:
    """Measured, never asserted: a machine that is busy with other things says nothing about the page."""
    found = {audience: seen(audience).times for audience in AUDIENCES}

    assert all(times["first"] > 0 and times["all"] >= times["first"] for times in found.values())
    if told := os.environ.get("PAINT_TIMES"):
        Path(told).write_text(json.dumps(found, indent=1))


def is_grey(color: str) -> bool:
    red, green, blue = (int(part) for part in color.removeprefix("rgb(").removesuffix(")").split(","))
    return max(red, green, blue) - min(red, green, blue) < 40


def measured(points: list[list[Any]]) -> dict[int, float]:
    return {int(moment): value for moment, value in points if value is not None}


def expected(properties: dict[str, Any]) -> dict[str, dict[int, float]]:
    """By label: what GetMetricData says of the widget's own entries, asked for directly."""
    queries = [line.query for line in lines(properties)]
    start = NOW.timestamp() - MINUTES * 60
    request = {"MetricDataQueries": queries, "StartTime": NOW.fromtimestamp(start, NOW.tzinfo), "EndTime": NOW}
    return {
        result["Label"]: {
            int(at.timestamp() * 1000): value for at, value in zip(result["Timestamps"], result["Values"], strict=True)
        }
        for result in FullDay().get_metric_data(**request)["MetricDataResults"]
    }
