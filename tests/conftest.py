"""For every test: no AWS account, no deadline on a property that a busy machine could miss, no silent skip."""

import os
from collections import Counter

import pytest
from _pytest.terminal import TerminalReporter
from hypothesis import HealthCheck, settings

settings.register_profile("project", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("project")

# `make agent agent-check` builds the archive and asks for it.
collect_ignore = [] if os.environ.get("AGENT_ARCHIVE") else ["e2e/test_built_agent.py"]


@pytest.fixture(autouse=True)
def _no_account(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "testing")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "testing")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.delenv("AWS_PROFILE", raising=False)


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
