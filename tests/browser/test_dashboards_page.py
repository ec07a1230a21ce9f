"""The dashboards page in a real browser, over an endpoint in memory."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from botocore.exceptions import EndpointConnectionError
from playwright.sync_api import Browser, Page, expect

from local.dashboards_page.app import create_app
from local.dashboards_page.cloud import Cloud
from local.dashboards_page.screenshot import screenshot
from local.dashboards_page.server import serving
from tests.browser.conftest import PATIENCE_MILLISECONDS
from tests.support.dashboards import OPERATOR, FakeCloudWatch, fake_cloud

pytestmark = pytest.mark.browser


@contextmanager
def opened(browser: Browser, cloud: Cloud, scheme: str = "light") -> Iterator[tuple[Page, list[str]]]:
    """The page, and the errors that its console showed."""
    errors: list[str] = []
    with serving(create_app(cloud, "local"), 0) as url:
        context = browser.new_context(
            viewport={"width": 1500, "height": 1000}, color_scheme="dark" if scheme == "dark" else "light"
        )
        context.set_default_timeout(PATIENCE_MILLISECONDS)
        page = context.new_page()
        page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(url)
        yield page, errors
        context.close()


@pytest.fixture(scope="module")
def drawn(browser: Browser) -> Iterator[tuple[Page, list[str]]]:
    """A page that its tests only look at."""
    with opened(browser, fake_cloud()) as (page, errors):
        page.wait_for_selector("body[data-ready]")
        yield page, errors


def widget(page: Page, title: str) -> str:
    return page.get_by_role("region", name=title, exact=True).inner_text()


def test_every_widget_is_drawn_and_the_console_is_quiet(drawn: tuple[Page, list[str]]) -> None:
    page, errors = drawn

    states = [box.get_attribute("data-state") for box in page.locator(".widget").all()]
    assert states == ["drawn"] * (len(OPERATOR["widgets"]) - 1) + ["error"]
    assert page.locator(".widget canvas").count() == 3
    assert "This page does not draw widgets of type explorer" in widget(page, "Of another kind")
    assert "No data in this time range" in widget(page, "Never sent")
    assert errors == []


def test_values_are_the_data(drawn: tuple[Page, list[str]]) -> None:
    page, _ = drawn

    figures = widget(page, "Money, USD an hour").split("\n")[1:]
    assert figures == ["86", "Cost", "61.3", "Wasted", "71.2", "Share wasted %"]
    label = page.locator(".widget", has_text="Node states").get_by_role("img").get_attribute("aria-label")
    assert label == "Newest values. RUNNING: 3; COMPILING: 0; FAULT: 1; BLIND: 0"
    assert "i-0c41d2a7e3b9f0001\tllama-pretrain\tFAULT\t21.5" in widget(page, "Worst nodes")
    assert "<b>not markup</b>" in widget(page, "Worst nodes")


def test_a_line_stops_where_nothing_was_measured(drawn: tuple[Page, list[str]]) -> None:
    page, _ = drawn

    points = page.evaluate(
        "echarts.getInstanceByDom(document.querySelector('[aria-label=\"Tensor-engine utilization\"] .chart'))"
        ".getOption().series[0].data.map(point => (point.value || point)[1])"
    )
    assert points.count(None) == 1
    assert min(point for point in points if point is not None) > 0


def test_alarms_and_pages_are_told(browser: Browser) -> None:
    with opened(browser, fake_cloud()) as (page, _):
        page.wait_for_selector("body[data-ready]")

        states = page.get_by_role("region", name="Alarm states").inner_text()
        # Counted as drawn: what tells nobody, as a composite's part, is neither.
        assert "2 in alarm" in states
        assert page.locator(".alarms .tag").count() == 2
        assert "HardwareFault" in states
        assert "trn1-pretrain · for 43 min" in widget(page, "Alarms that page")
        assert "not deployed" in widget(page, "Alarms that page")
        pages = page.get_by_role("complementary", name="Pages received")
        expect(pages).to_contain_text("3 received")
        pages.get_by_text("Low utilization").click()
        expect(pages).to_contain_text("llama-pretrain (llama-8), owner foundation-models")


def test_widgets_lie_where_the_dashboard_says(browser: Browser) -> None:
    with opened(browser, fake_cloud(has_inbox=False)) as (page, _):
        page.wait_for_selector("body[data-ready]")

        boxes = [box.bounding_box() for box in page.locator(".widget").all()]
        left, right, below = boxes[0], boxes[1], boxes[2]
        assert left is not None
        assert right is not None
        assert below is not None
        assert left["y"] == right["y"]
        assert left["x"] + left["width"] < right["x"]
        assert below["y"] > left["y"] + left["height"]
        assert page.locator("#inbox").is_hidden()


def test_range_tab_and_theme_can_be_changed(browser: Browser) -> None:
    cloudwatch = FakeCloudWatch()
    with opened(browser, fake_cloud(cloudwatch), "dark") as (page, errors):
        page.wait_for_selector("body[data-ready]")
        assert page.locator("html").get_attribute("data-theme") == "dark"

        page.get_by_role("button", name="Switch between light and dark").click()
        page.get_by_role("button", name="1h", exact=True).click()
        expect(page.locator("#status")).to_contain_text("2026-11-21 02:40 to 2026-11-21 03:40 UTC")
        page.get_by_role("button", name="Training").click()
        expect(page.locator("main h1")).to_have_text("Training")

        assert page.locator("html").get_attribute("data-theme") == "light"
        last = cloudwatch.metric_requests[-1]
        assert (last["EndTime"] - last["StartTime"]).total_seconds() == 3600
        assert errors == []


@pytest.mark.parametrize(
    ("cloudwatch", "line"),
    [
        (
            FakeCloudWatch(error=EndpointConnectionError(endpoint_url="http://127.0.0.1:4599")),
            "No AWS answers at http://127.0.0.1:4599: start it (fleet local up) or give another endpoint",
        ),
        (FakeCloudWatch(dashboards={}), "No dashboard of local at http://127.0.0.1:4599: deploy first"),
    ],
)
def test_a_problem_is_one_clear_line(browser: Browser, cloudwatch: FakeCloudWatch, line: str) -> None:
    with opened(browser, fake_cloud(cloudwatch)) as (page, errors):
        expect(page.get_by_role("alert")).to_have_text(line)

        assert errors == []


def test_a_picture_for_the_documentation_shows_the_page(chromium: str, tmp_path: Path) -> None:
    assert chromium
    picture = tmp_path / "page.png"

    with serving(create_app(fake_cloud(), "local"), 0) as url:
        screenshot(url, picture, theme="dark", size=(1200, 800))

    assert picture.read_bytes().startswith(b"\x89PNG")
    assert picture.stat().st_size > 40_000
