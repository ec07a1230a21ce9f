"""Chromium for the browser tests: the system's own, never a download."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect, sync_playwright

from local.dashboards_page import screenshot
from tests.support.needs import require

ARGUMENTS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]

# A busy machine takes several times as long; only a page that never comes is to fail for it.
PATIENCE_MILLISECONDS = 120_000


@pytest.fixture(scope="session")
def chromium() -> str:
    """The path of the one that pictures are made with."""
    require("chromium")
    return screenshot.chromium()


@pytest.fixture(scope="package")
def browser(chromium: str) -> Iterator[Browser]:
    """Ends with this folder's tests: while Playwright lives, no other test of this thread can run an event loop."""
    expect.set_options(timeout=PATIENCE_MILLISECONDS)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=ARGUMENTS, timeout=PATIENCE_MILLISECONDS)
        yield browser
        browser.close()
