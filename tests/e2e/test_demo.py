"""The demo as a person runs it: it pages as its scenario says, and whatever happens to it leaves nothing behind."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

import boto3
import psutil
import pytest

from environments.loader import load as load_environment
from fleet.naming import dashboard_name
from local.dashboards_page.server import at_endpoint
from local.deployment import ENVIRONMENT
from local.emulator_process import aws_environment, pointed_at
from local.simulation.scenario import SCENARIOS
from local.simulation.scenario import load as load_scenario
from tests.support.alarm_replay import replayed
from tests.support.drawn_widgets import empty_graphs
from tests.support.needs import needs

COMMAND = [sys.executable, "-m", "cli", "local", "demo", "--once"]
# Generous: a busy machine takes several times as long, and only a demo that hangs is to fail for it.
LIMIT_SECONDS = 600.0

pytestmark = needs("the CDK command line")


class Demo:
    """One run, and every process that it was seen to start."""

    def __init__(self, output: Path, command: Sequence[str]) -> None:
        self.output = output
        self.seen: dict[int, psutil.Process] = {}
        # A browser that ends at once, for the demo that stays.
        environment = {**os.environ, "BROWSER": "true"}
        with output.open("wb") as log:
            self.process = subprocess.Popen(
                command, stdout=log, stderr=subprocess.STDOUT, start_new_session=True, env=environment
            )

    @property
    def text(self) -> str:
        return self.output.read_text(encoding="utf-8")

    def wait_until(self, condition: Callable[[], bool]) -> None:
        """Return when ``condition`` holds; fail when the demo takes too long for it, or ends before."""
        deadline = time.monotonic() + LIMIT_SECONDS
        while not condition():
            assert time.monotonic() < deadline, self.text
            with suppress(psutil.Error):
                children = psutil.Process(self.process.pid).children(recursive=True)
                self.seen |= {child.pid: child for child in children}
            with suppress(subprocess.TimeoutExpired):
                self.process.wait(0.2)
                assert condition(), self.text
                return

    def ended(self) -> bool:
        return self.process.poll() is not None

    def running(self, module: str) -> list[psutil.Process]:
        """The demo's processes that run ``module`` now."""
        found = []
        for process in self.seen.values():
            with suppress(psutil.Error):
                if module in process.cmdline():
                    found.append(process)
        return found

    def left_behind(self) -> list[psutil.Process]:
        _, alive = psutil.wait_procs(list(self.seen.values()), timeout=30)
        return alive


@contextmanager
def demo(directory: Path, command: Sequence[str] = COMMAND) -> Iterator[Demo]:
    run = Demo(directory / "output", command)
    try:
        yield run
    finally:
        if not run.ended():
            os.kill(run.process.pid, signal.SIGINT)
            run.process.wait(120)


# Minutes of one fleet end as the three hours do, which the next test looks into. The silence of others pages later.
SHORT = """
name: short
title: A damaged device
minutes: 13
seed: 7
fleets:
  trn2-frontier:
    job: {id: frontier-moe-0987, name: frontier-moe, owner: frontier}
    phases:
      - {at: 0, kind: startup}
      - {at: 3, kind: running, tensor_engine_percent: 46, core_percent: 98}
    exceptions:
      1:
        - {at: 7, kind: hardware_error, device: 5}
expected_pages:
  - {fleet: trn2-frontier, alarm: HardwareFault, earliest_minute: 7, latest_minute: 11, nodes: [1]}
"""


def test_the_demo_ends_by_itself_with_the_expected_pages(tmp_path: Path) -> None:
    scenario = tmp_path / "short.yaml"
    scenario.write_text(SHORT, encoding="utf-8")
    with demo(tmp_path, [*COMMAND, "--scenario", str(scenario)]) as run:
        run.wait_until(run.ended)

    assert run.process.returncode == 0, run.text
    assert "pages received = pages expected" in run.text
    assert run.left_behind() == []


@pytest.mark.soak
def test_every_alarm_went_as_its_settings_and_datapoints_ask_for_and_graphs_show_what_happened(tmp_path: Path) -> None:
    environment = load_environment(ENVIRONMENT)
    scenario = load_scenario(SCENARIOS / "demo.yaml")
    with demo(tmp_path, COMMAND[:-1]) as run:
        run.wait_until(lambda: "dashboards:" in run.text)
        (endpoint,) = set(re.findall(r"synthesize the stacks: (http://\S+)", run.text))
        variables = aws_environment(endpoint, environment.account, environment.region)
        with pointed_at(variables):
            found = replayed(boto3.client("cloudwatch"), scenario.minutes)
            cloud = at_endpoint(environment, endpoint)
            end = datetime.fromtimestamp((cloud.control("status") or {})["now"], UTC)
            empty = empty_graphs(cloud, environment.name, end - timedelta(minutes=scenario.minutes), end)
        os.kill(run.process.pid, signal.SIGINT)
        run.wait_until(run.ended)

    assert run.left_behind() == []
    assert "pages received = pages expected" in run.text
    assert len(found.shown) > 40
    assert {"OK", "ALARM"} <= set(found.shown.values())
    assert found.shown == found.expected
    assert found.changes_shown == found.changes_expected
    # Agent-health shows what the platform's own functions wrote, at the machine's time.
    audiences = {name.removeprefix(dashboard_name(environment.name, "")): titles for name, titles in empty.items()}
    assert "agent-health" in audiences
    assert not any(titles for audience, titles in audiences.items() if audience != "agent-health"), audiences


def test_an_interrupted_demo_leaves_no_process(tmp_path: Path) -> None:
    with demo(tmp_path) as run:
        run.wait_until(lambda: bool(run.running("local.emulator")))
        os.kill(run.process.pid, signal.SIGINT)
        run.wait_until(run.ended)

    assert run.process.returncode == 130
    assert "stopped" in run.text
    assert run.left_behind() == []


def test_a_demo_whose_embedded_aws_dies_says_so_and_leaves_no_process(tmp_path: Path) -> None:
    with demo(tmp_path) as run:
        run.wait_until(lambda: len(run.running("local.simulation.neuron_monitor")) == 8)
        run.running("local.emulator")[0].kill()
        run.wait_until(run.ended)

    assert run.process.returncode == 1
    assert "the embedded AWS does not answer" in run.text
    assert "run the command again" in run.text
    assert "Traceback" not in run.text
    assert run.left_behind() == []
