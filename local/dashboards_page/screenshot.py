"""Pictures of the dashboards, for the documentation and for a pull request, by the system's Chromium."""

import shutil
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final
from urllib.parse import quote

from local.dashboards_page.cloud import DashboardsPageError

ARGUMENTS: Final = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    # Virtual milliseconds: they stand still while the page waits for its data.
    "--virtual-time-budget=4000",
)
# Its virtual time has been seen to stand still for good on a machine that is very busy.
LIMIT_SECONDS: Final = 60
ATTEMPTS: Final = 3
WIDTH: Final = 1600
# As the page lays its grid out, in pixels: a row with its gap, and what stands above and below.
ROW_HEIGHT: Final = 48
FRAME_HEIGHT: Final = 150
THEMES: Final = ("light", "dark")
# The first draws the same pages without a browser's window, for half of the work.
BROWSERS: Final = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")


def pictures(url: str, rows: dict[str, int], directory: Path, themes: Sequence[str]) -> Iterator[Path]:
    """Write a PNG of each dashboard as high as it is, and yield its path; ``rows`` are heights in grid rows by name.

    Raises:
        DashboardsPageError: there is no Chromium, the directory cannot be written, or nothing was drawn.
    """
    chromium()
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DashboardsPageError(f"{directory} cannot be written: {error.strerror}") from error
    for name, height in rows.items():
        for theme in themes:
            path = directory / f"{name}-{theme}.png"
            size = (WIDTH, FRAME_HEIGHT + height * ROW_HEIGHT)
            screenshot(f"{url}?still#{name}", path, theme=theme, size=size)
            yield path


def screenshot(url: str, path: Path, *, theme: str = "light", size: tuple[int, int] = (WIDTH, 1000)) -> None:
    """Write a PNG of the page at ``url`` (with ``#dashboard-name``) to ``path``; ``theme`` is light or dark.

    Raises:
        DashboardsPageError: there is no Chromium, or it drew nothing.
    """
    address, _, dashboard = url.partition("#")
    joined = f"{address}{'&' if '?' in address else '?'}theme={theme}#{quote(dashboard)}"
    window = f"--window-size={size[0]},{size[1]}"
    command = [chromium(), *ARGUMENTS, window, f"--screenshot={path}", joined]
    path.unlink(missing_ok=True)
    problem = ""
    for _ in range(ATTEMPTS):
        try:
            subprocess.run(command, capture_output=True, check=True, timeout=LIMIT_SECONDS)
        except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
            problem = type(error).__name__
            continue
        if path.is_file():
            return
        problem = f"it wrote no {path}"
    raise DashboardsPageError(f"chromium made no picture in {ATTEMPTS} attempts: {problem}")


def chromium() -> str:
    """The path of Chromium; ``DashboardsPageError`` where there is none."""
    if path := next(filter(None, map(shutil.which, BROWSERS)), None):
        return path
    raise DashboardsPageError("No chromium on this machine: apt-get install chromium")
