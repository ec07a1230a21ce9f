"""There is one version, and whatever shows it shows that."""

import re
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import agents.main
import cli.main
from agents.minute import log_event
from agents.sinks import otlp_requests
from agents.status import status
from fleet.version import VERSION

ROOT = Path(__file__).parents[2]


def test_it_is_a_version() -> None:
    assert re.fullmatch(r"\d+\.\d+\.\d+", VERSION)


@pytest.mark.parametrize(("app", "program"), [(cli.main.app, "fleet"), (agents.main.app, "fleet-agent")])
def test_the_commands_print_it(app: Any, program: str) -> None:
    answer = CliRunner().invoke(app, ["--version"])

    assert (answer.exit_code, answer.stdout) == (0, f"{program} {VERSION}\n")


@pytest.mark.parametrize("module", [log_event, otlp_requests, status])
def test_what_the_agent_publishes_has_it(module: Any) -> None:
    assert module.VERSION is VERSION


def test_the_newest_entry_of_the_changelog_is_about_it() -> None:
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")

    assert re.findall(r"^## \[?v?(\d+\.\d+\.\d+)", text, re.MULTILINE)[0] == VERSION
