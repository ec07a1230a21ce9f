"""The demo: the whole platform on this machine, and a three-hour incident that must page as its scenario says."""

import math
import os
import tempfile
import threading
import time
import webbrowser
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from environments import loader
from environments.model import Environment
from local.control import EmulatorControl, Transition
from local.demo import pages
from local.demo.incident import Incident, alarm_topics
from local.demo.pages import unexpected_tickets
from local.deployment import ENVIRONMENT, DeploymentError, deploy, missing_tools
from local.directory import only_one, prepare
from local.emulator_process import EmulatorProcess, aws_environment, listen, pointed_at, refuse_taken
from local.simulation.placement import place
from local.simulation.scenario import SCENARIOS
from local.simulation.scenario import load as load_scenario
from local.steps import Steps

DIRECTORY: Final = Path(".local/demo")
# Real seconds for notifications that are still on their way when the scenario has ended.
_LATE_SECONDS: Final = 10.0


@dataclass(frozen=True, slots=True)
class DemoOptions:
    """``once``: end by itself, without the dashboards page. A port of None or 0 is any that is free."""

    once: bool = False
    port: int | None = None
    page_port: int = 0
    scenario: Path = SCENARIOS / "demo.yaml"


def run(options: DemoOptions, console: Console) -> int:
    """Run the demo; 0 when the pages that arrived are the pages that the scenario expects."""
    steps = Steps(console)
    scenario = load_scenario(options.scenario)
    environment = loader.load(ENVIRONMENT)
    if problem := missing_tools():
        raise DeploymentError(problem)
    if options.page_port and not options.once:
        refuse_taken(options.page_port, "--page-port")
    with ExitStack() as stack:
        listener = stack.enter_context(listen(options.port))
        stack.enter_context(only_one(DIRECTORY.with_name("demo.lock")))
        prepare(DIRECTORY)
        machines = stack.enter_context(tempfile.TemporaryDirectory(prefix="nodes-"))
        emulator = EmulatorProcess(listener, DIRECTORY / "emulator", parent=os.getpid())
        stack.callback(emulator.stop)
        control = emulator.control
        stack.enter_context(pointed_at(aws_environment(control.endpoint_url, environment.account, environment.region)))
        # The virtual hours end about now: CloudWatch takes no data from the future, and none older than two weeks.
        start = math.floor((time.time() - scenario.minutes * 60) / 60) * 60.0
        stacks = deploy(environment, emulator, DIRECTORY, steps, start)
        console.print(pages.stacks_table(stacks, steps.seconds))
        specs = place(scenario, environment, start, Path(machines))
        good = _play(Incident(scenario, environment, specs, start, control), console)
        verdict = "[green]pages received = pages expected[/green]" if good else "[red]not the expected pages[/red]"
        console.print(f"{verdict}, {steps.seconds:.0f} s in all", highlight=False)
        if not options.once:
            _show_dashboards(environment, control, options, console)
        return 0 if good else 1


def _play(incident: Incident, console: Console) -> bool:
    scenario = incident.scenario
    console.print(f"[bold]{scenario.title}[/bold]: {len(incident.specs)} nodes", highlight=False)
    began = time.monotonic()
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("minute 0", total=scenario.minutes)

        def tell(minute: int, transitions: list[Transition]) -> None:
            progress.update(task, completed=minute, description=f"minute {minute}")
            for one in transitions:
                if "INSUFFICIENT_DATA" not in (one.before, one.after):
                    color = "red" if one.after == "ALARM" else "green"
                    progress.console.print(f"  minute {minute:>3}  [{color}]{one.after:<5}[/{color}] {one.alarm}")

        transitions = incident.play(DIRECTORY / "nodes", tell)
    seconds = time.monotonic() - began
    matches = incident.pages(_LATE_SECONDS)
    topics = alarm_topics(incident.environment.name)
    status = incident.control.status()
    numbers = (len(incident.specs), status.datums if status else 0, len(topics), len(transitions))
    console.print(pages.measured_table(*numbers, scenario.minutes, seconds))
    pages.print_pages(console, matches)
    pages.print_verdicts(console, matches)
    _tell_tickets(incident, transitions, topics, console)
    return not any(match.problems for match in matches)


def _tell_tickets(incident: Incident, transitions: list[Transition], topics: dict[str, str], console: Console) -> None:
    raised = [one.alarm for one in transitions if one.after == "ALARM"]
    tickets = [alarm for alarm in raised if "ticket" in topics.get(alarm, "").lower()]
    surprising = unexpected_tickets(incident.scenario, incident.environment.name, tickets)
    named = ", ".join(dict.fromkeys(tickets)) or "none"
    console.print(f"tickets, which wake nobody: {named}", highlight=False, soft_wrap=True)
    if surprising:
        console.print(f"[yellow]not in the scenario: {', '.join(surprising)}[/yellow]", highlight=False, soft_wrap=True)


def _show_dashboards(
    environment: Environment, control: EmulatorControl, options: DemoOptions, console: Console
) -> None:
    # Only here: a demo that ends by itself needs no web server.
    from local.dashboards_page.server import running  # noqa: PLC0415 - see above

    with running(environment, control.endpoint_url, options.page_port) as url:
        console.print(f"dashboards: {url}   pages: {control.inbox_address}   (Ctrl-C ends the demo)", soft_wrap=True)
        webbrowser.open(url)
        threading.Event().wait()
