"""For every test: no AWS account, no deadline on a property that a busy machine could miss, no silent skip."""

import gc
import os
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any, Final

import botocore.session
import pytest
import typer.testing
from _pytest.terminal import TerminalReporter
from hypothesis import HealthCheck, settings
from xdist.scheduler import LoadScopeScheduling  # type: ignore[import-untyped]

# To import and collect makes a million objects and next to no garbage: pytest_collection_finish turns it on again.
gc.disable()
settings.register_profile("project", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("project")
# Click's commands are what they are, however often a test runs one: Typer would make all of them for every run.
typer.testing._get_command = cache(typer.testing._get_command)  # type: ignore[attr-defined]  # imported there
# Every boto3 session would read the JSON of its services again, which takes ten times as long as to make a client.
botocore.session.create_loader = cache(botocore.session.create_loader)

# `make agent agent-check` builds the archive and asks for it.
collect_ignore = [] if os.environ.get("AGENT_ARCHIVE") else ["e2e/test_built_agent.py"]
END_TO_END: Final = Path(__file__).with_name("e2e")


@pytest.fixture(autouse=True)
def _no_account(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "testing")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "testing")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.delenv("AWS_PROFILE", raising=False)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--soak", action="store_true", help="run the long tests, those with the marker soak, and no other")


def pytest_configure(config: pytest.Config) -> None:
    """The long tests leave out those that use the snapshots, so they say nothing of which are unused."""
    if config.getoption("--soak"):
        config.option.disable_unused_snapshots = True


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    wanted = bool(config.getoption("--soak"))
    left_out = [item for item in items if ("soak" in item.keywords) is not wanted]
    items[:] = [item for item in items if ("soak" in item.keywords) is wanted]
    config.hook.pytest_deselected(items=left_out)
    if wanted:
        # A worker that began the longest at the end would be waited for.
        items.sort(key=lambda item: not item.path.is_relative_to(END_TO_END))


class LongTests(LoadScopeScheduling):  # type: ignore[misc]  # it has no types
    """One by one to whichever worker is free; end-to-end tests by their file, for which something was deployed."""

    def _split_scope(self, nodeid: str) -> str:
        file = nodeid.partition("::")[0]
        return file if END_TO_END.name in file.split("/") else nodeid


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> LoadScopeScheduling | None:
    return LongTests(config, log) if config.getoption("--soak") else None


def pytest_collection_finish() -> None:
    """What was imported and collected stays to the end, so to look through all of it is seldom worth the time."""
    gc.enable()
    gc.set_threshold(20_000, 20, 20)


def pytest_terminal_summary(terminalreporter: TerminalReporter) -> None:
    """What was not tried, and the command that brings what it needs."""
    skipped = _skipped(terminalreporter)
    if skipped:
        terminalreporter.section("not tried")
    for reason, tests in sorted(skipped.items()):
        terminalreporter.write_line(f"{reason}  # tests: {tests}")


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Where CI runs, a test that was not tried has failed. Workers leave that to the process that hears of all."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    is_worker = hasattr(session.config, "workerinput")
    if os.environ.get("CI") == "true" and not is_worker and reporter is not None and _skipped(reporter):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def _skipped(reporter: TerminalReporter) -> Counter[str]:
    """Tests by the reason that ``tests.support.needs`` gave."""
    reports = reporter.stats.get("skipped", [])
    return Counter(str(report.longrepr[2]).removeprefix("Skipped: ") for report in reports)
