"""What some tests need beside the Python packages, and the one way to say so.

``tests/conftest.py`` lists at the end what was not tried, and makes any skip a failure where CI runs.
"""

import os
import shutil
import sys
from collections.abc import Callable
from typing import Final, NamedTuple

import pytest

from local.dashboards_page.screenshot import BROWSERS
from local.deployment import missing_tools


class Need(NamedTuple):
    """Whether it is here, and what brings it."""

    is_here: Callable[[], bool]
    install: str


# Of these the agent's archive has wheels.
NODE_PYTHONS: Final = ((3, 11), (3, 13))
NEEDS: Final = {
    "chromium": Need(lambda: any(map(shutil.which, BROWSERS)), "apt-get install chromium-headless-shell"),
    "promtool": Need(lambda: shutil.which("promtool") is not None, "apt-get install prometheus"),
    "wrk": Need(lambda: shutil.which("wrk") is not None, "apt-get install wrk"),
    "systemd-analyze": Need(lambda: shutil.which("systemd-analyze") is not None, "apt-get install systemd"),
    "the CDK command line": Need(lambda: missing_tools() is None, "make demo ARGS=--once"),
    "recordings of neuron-monitor": Need(
        lambda: bool(os.environ.get("NEURON_MONITOR_SAMPLES")), "export NEURON_MONITOR_SAMPLES=FOLDER"
    ),
    "a Python that nodes have": Need(
        lambda: NODE_PYTHONS[0] <= sys.version_info[:2] <= NODE_PYTHONS[1],
        "make clean agent agent-check PYTHON=python3.13",
    ),
}


def needs(name: str) -> pytest.MarkDecorator:
    """For a test, or a module's ``pytestmark``: skipped where ``name`` is not there."""
    return pytest.mark.skipif(not NEEDS[name].is_here(), reason=missing(name))


def require(name: str) -> None:
    """The same from within a fixture or a helper."""
    if not NEEDS[name].is_here():
        pytest.skip(missing(name))


def missing(name: str) -> str:
    """The reason of a skip, as the summary shows it."""
    return f"{name}: {NEEDS[name].install}"
