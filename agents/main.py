"""The ``fleet-agent`` command."""

import json
import logging
import queue
import signal
import sys
import threading
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from agents.clock import Clock, SystemClock
from agents.config import AgentConfig
from agents.config import read as read_config
from agents.errors import ConfigError, GateError, SettingsError
from agents.monitor.process import MonitorEvent
from agents.plain_help import PlainGroup
from agents.sinks.sink import Sink, StdoutSink
from agents.status.status import StatusFile
from fleet.metrics import PERIOD_SECONDS
from fleet.version import VERSION

# A minute of reports at the usual period, 6 MB of the largest that were seen.
_EVENTS = 12

app = typer.Typer(cls=PlainGroup, no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)


def _print_version(is_asked: bool) -> None:
    if is_asked:
        typer.echo(f"fleet-agent {VERSION}")
        raise typer.Exit


@app.callback()
def fleet_agent(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and end.")
    ] = False,
) -> None:
    """The node agent of Neuron Fleet."""


@app.command()
def inspect(
    file: Annotated[Path, typer.Argument(help="JSON Lines, or one JSON object.")],
    instance_type: Annotated[
        str, typer.Option(help="Where the recording does not name it, such as trn1.32xlarge.")
    ] = "",
    period: Annotated[int | None, typer.Option(min=1, max=60, help="Seconds between the lines.")] = None,
    start: Annotated[datetime | None, typer.Option(help="UTC time of the first line; default: now.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Print what recorded neuron-monitor output would publish; exit 1 when nothing in it could be used."""
    # Only here, as below: help and a look at the status do without.
    from agents.inspect import inspect as inspect_file  # noqa: PLC0415 - see above

    begin = SystemClock().now() if start is None else start.replace(tzinfo=UTC).timestamp()
    try:
        answer = inspect_file(file, instance_type, period, int(begin) // PERIOD_SECONDS * PERIOD_SECONDS)
    except OSError as error:
        typer.echo(f"{file}: cannot be read: {error.strerror}", err=True)
        raise typer.Exit(1) from error
    content = asdict(answer)
    del content["usable"]
    if as_json:
        typer.echo(json.dumps(content, indent=2))
    else:
        for state in answer.states:
            typer.echo(f"{state['minute']} {state['state']}: {state['reason']}")
        typer.echo(f"{len(answer.metric_data)} datums, {len(answer.log_events)} log events")
        for problem in answer.problems:
            typer.echo(f"problem: {problem}", err=True)
    if not answer.usable:
        raise typer.Exit(1)


@app.command("run")
def run_command(
    config: Annotated[Path, typer.Option(help="The agent's JSON configuration.")],
    to_stdout: Annotated[bool, typer.Option("--stdout", help="Print batches instead of sending them to AWS.")] = False,
) -> None:
    """Measure this node until SIGTERM; then publish the minute so far and end."""
    try:
        configuration = read_config(config)
    except ConfigError as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(1) from error
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    sinks = (StdoutSink(),) if to_stdout else None
    try:
        run(configuration, SystemClock(stop), stop, sinks, lockstep=to_stdout)
    except SettingsError as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(1) from error


@app.command()
def status(
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    run_directory: Annotated[Path, typer.Option(help="As in the configuration.")] = Path("/run/neuron-fleet"),
) -> None:
    """Say what the agent of this node sees, why, and what it has published.

    Exit 0: healthy; 1: it does not run, or hangs; 2: the node is BLIND or has a FAULT.
    """
    # The table printer is some 10 MB, which a running agent does without.
    from agents.status import view  # noqa: PLC0415 - see above

    answer = view.ask(StatusFile(run_directory), SystemClock().now())
    view.show(answer, as_json=as_json)
    raise typer.Exit(answer.exit_code)


@app.command()
def gate(
    config: Annotated[Path, typer.Option(help="The agent's JSON configuration.")],
    outputs: Annotated[Path, typer.Option(help="Folder with the outputs of the tools.")] = Path(
        "/run/neuron-fleet/gate.outputs"
    ),
    root: Annotated[Path, typer.Option(help="The system whose packages are looked at.")] = Path("/"),
    ranks: Annotated[
        bool, typer.Option("--ranks", help="Print the number of logical cores, and judge nothing.")
    ] = False,
) -> None:
    """Judge whether this node may be given a job, and leave the verdict for the boot and for the agent.

    Exit 0: it passed; 1: it failed; 2: there is nothing to judge it by.
    """
    # Only at boot: a running agent does without.
    from agents.gate import run as health_gate  # noqa: PLC0415 - see above

    try:
        configuration = read_config(config)
        if ranks:
            typer.echo(health_gate.ranks(configuration))
            return
        found = health_gate.judge(configuration, outputs, root, SystemClock().now())
    except (ConfigError, GateError, OSError) as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(2) from error
    for finding in found.findings:
        typer.echo(f"{finding.outcome.value:6} {finding.check}: {finding.detail}")
    if not found.passed:
        raise typer.Exit(1)


def run(
    config: AgentConfig,
    clock: Clock,
    stop: threading.Event,
    sinks: Sequence[Sink] | None = None,
    *,
    lockstep: bool = False,
) -> None:
    """The agent, on ``clock``, until ``stop`` is set. ``sinks`` default to AWS.

    In ``lockstep`` the loop itself sends each batch and waits for a monitor that it ends: time waits for the agent.
    """
    from agents import assemble  # noqa: PLC0415 - as in `inspect`

    # When the loop cannot keep up, neuron-monitor's pipe fills, and not the node's memory.
    events: queue.Queue[MonitorEvent] = queue.Queue(_EVENTS)
    process = assemble.monitor(config, events, lockstep=lockstep)
    destinations = assemble.aws_sinks(config) if sinks is None else sinks
    agent = assemble.agent(config, clock, process, destinations, lockstep=lockstep)
    try:
        agent.run(clock, events, stop)
    finally:
        process.close()


def main() -> None:
    """Console script entry."""
    logging.basicConfig(stream=sys.stderr, level=logging.INFO, format="%(levelname)s %(name)s: %(message)s")
    logging.getLogger("botocore").setLevel(logging.WARNING)
    app(prog_name="fleet-agent")


if __name__ == "__main__":
    main()
