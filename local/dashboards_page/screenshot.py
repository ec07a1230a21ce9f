"""A picture of the page for the documentation, by the system's Chromium."""

import shutil
import subprocess
from pathlib import Path
from typing import Final

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
LIMIT_SECONDS: Final = 180


def screenshot(url: str, path: Path, *, theme: str = "light", size: tuple[int, int] = (1600, 1000)) -> None:
    """Write a PNG of the page at ``url`` (with ``#dashboard-name``) to ``path``; ``theme`` is light or dark.

    Raises:
        DashboardsPageError: there is no Chromium, or it drew nothing.
    """
    chromium = shutil.which("chromium")
    if chromium is None:
        raise DashboardsPageError("No chromium on this machine: apt-get install chromium")
    address, _, dashboard = url.partition("#")
    window = f"--window-size={size[0]},{size[1]}"
    command = [chromium, *ARGUMENTS, window, f"--screenshot={path}", f"{address}?theme={theme}#{dashboard}"]
    path.unlink(missing_ok=True)
    try:
        subprocess.run(command, capture_output=True, check=True, timeout=LIMIT_SECONDS)
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
        raise DashboardsPageError(f"chromium made no picture: {type(error).__name__}") from error
    if not path.is_file():
        raise DashboardsPageError(f"chromium wrote no {path}")
