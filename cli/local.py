"""`fleet local`: the whole platform on this machine."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Annotated, Final

import typer
from botocore.exceptions import BotoCoreError, ClientError

from cli.answers import COLORED, print_json, refuse
from cli.jobs.submit import submit
from environments.loader import EnvironmentFileError
from local import platform_state
from local.control import EmulatorGoneError
from local.dashboards_page.cloud import DashboardsPageError
from local.demo.run import DemoOptions
from local.demo.run import run as run_demo
from local.deployment import DeploymentError
from local.directory import DirectoryError
from local.emulator_process import EmulatorStartError
from local.sandbox.machine import BootError
from local.scenario_file import ScenarioFileError
from local.simulation.host_report import UnknownReportError
from local.simulation.lockstep import NodeFailedError
from local.simulation.placement import ScenarioMismatchError
from local.simulation.scenario import SCENARIOS
from local.training.run import RunError
from local.training.scenario import run as run_training

# What can go wrong on a person's machine.
EXPECTED: Final = (
    BootError,
    BotoCoreError,
    ClientError,
    DashboardsPageError,
    DeploymentError,
    DirectoryError,
    EmulatorGoneError,
    EmulatorStartError,
    EnvironmentFileError,
    NodeFailedError,
    RunError,
    ScenarioFileError,
    ScenarioMismatchError,
    UnknownReportError,
)


def explain(error: BaseException) -> str:
    """The error's own words, and what to do where they do not say it."""
    match error:
        case EmulatorGoneError() | BotoCoreError():
            return f"{error}\nit may have ended: read emulator.log below .local, then run the command again"
        case ClientError():
            return f"the embedded AWS refused: {error}"
        case _:
            return str(error)


DEMO: Final = SCENARIOS / "demo.yaml"
app = typer.Typer(help="The whole platform on this machine.", no_args_is_help=True)
Port = Annotated[int | None, typer.Option(help="Port of the embedded AWS; default: the first free one from 4566.")]


@app.command()
def demo(
    once: Annotated[bool, typer.Option("--once", help="End by itself; 0 only if the expected pages arrived.")] = False,
    port: Port = None,
    page_port: Annotated[int, typer.Option(help="Port of the dashboards page; 0: any that is free.")] = 0,
    scenario: Annotated[
        Path, typer.Option(help="What happens, and which pages must come of it.", show_default="the demo's own")
    ] = DEMO,
) -> None:
    """Deploy everything to an embedded AWS and let a three-hour incident happen."""
    with _failures_in_one_line():
        code = run_demo(DemoOptions(once, port, page_port, scenario), COLORED)
    raise typer.Exit(code)


@app.command()
def training(port: Port = None) -> None:
    """Deploy everything to an embedded AWS and run the example job there: nodes boot, fail, go; it resumes and ends."""
    with _failures_in_one_line():
        code = run_training(lambda file: submit(file, yes=True), COLORED, port)
    raise typer.Exit(code)


@app.command()
def up(port: Port = None) -> None:
    """Start the embedded AWS, deploy environment `local` to it, and leave it running."""
    with _failures_in_one_line():
        platform_state.up(port, COLORED)


@app.command()
def down() -> None:
    """End the embedded AWS that `fleet local up` left running."""
    ended = platform_state.down()
    COLORED.print(f"ended {ended.endpoint_url}" if ended else "nothing was running")


@app.command()
def status(as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False) -> None:
    """Say whether the embedded AWS runs, and where."""
    state = platform_state.running()
    if state is None:
        refuse("no embedded AWS runs here: start one with `fleet local up`")
    if as_json:
        print_json({"endpoint_url": state.endpoint_url, "process": state.pid, "resources": state.resources()})
        return
    COLORED.print(f"{state.endpoint_url} (process {state.pid}, {state.resources()} resources)")


@contextmanager
def _failures_in_one_line() -> Iterator[None]:
    def interrupted(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    # SIGINT too: a program that a script starts in the background inherits it ignored.
    before = {number: signal.signal(number, interrupted) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    except KeyboardInterrupt:
        COLORED.print("\nstopped; everything that was started has been ended")
        raise typer.Exit(130) from None
    except EXPECTED as error:
        refuse(explain(error))
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
