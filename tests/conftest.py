"""For every test: no AWS account, no deadline on a property that a busy machine could miss, no silent skip."""

import gc
import os
from collections import Counter
from functools import cache

import botocore.session
import pytest
import typer.testing
from _pytest.terminal import TerminalReporter
from hypothesis import HealthCheck, settings

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


@pytest.fixture(autouse=True)
def _no_account(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "testing")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "testing")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.delenv("AWS_PROFILE", raising=False)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--soak", action="store_true", help="run the long tests, those with the marker soak, and no other")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    wanted = bool(config.getoption("--soak"))
    left_out = [item for item in items if ("soak" in item.keywords) is not wanted]
    items[:] = [item for item in items if ("soak" in item.keywords) is wanted]
    config.hook.pytest_deselected(items=left_out)


def pytest_collection_finish() -> None:
    """What was imported and collected stays to the end: the garbage collector need not look through it ever again."""
    gc.enable()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)


def pytest_unconfigure() -> None:
    """Extension modules look at exit whether their objects are gone."""
    gc.unfreeze()


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
