"""`fleet rollout` and its commands. Exit codes: 0 done or under way, 3 rolled back, 4 held, 1 not done at all.

The deployed rollout function is asked here, and nowhere else.
"""

import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any, Final

import boto3
import typer
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from cli.account import AwsError
from cli.answers import print_json, refuse, say
from cli.functions import ABSENT, FunctionFailedError, call
from cli.named import Name, fleet_among
from environments import loader
from environments.model import Environment
from fleet import naming

# The function may take a minute and a half. A command that is lost may be given again: by its id it is the same one.
_SECONDS: Final = 100.0
_ASKING: Final = Config(connect_timeout=5, read_timeout=20, retries={"mode": "standard", "total_max_attempts": 2})


class EngineError(AwsError):
    """AWS or the function did not do it; one line for the person who asked."""


def ask(environment: Environment, action: str, fleet: str, **more: str) -> dict[str, Any]:
    """Give the function a command; its answer, a report.

    Raises:
        EngineError: it is not deployed, does not answer, or refuses.
    """
    try:
        name = naming.rollout_function(environment.name)
        content = call(environment, name, {"action": action, "fleet": fleet, **more}, _SECONDS, attempts=2)
    except FunctionFailedError as error:
        raise EngineError(f"the rollout function failed: {error}; its log says more") from error
    except AwsError as error:
        if error.code == ABSENT:
            raise EngineError(
                f"environment {environment.name} has no rollout function: deploy it, "
                "with an inference fleet in its file"
            ) from error
        raise EngineError(str(error)) from error
    if "refused" in content:
        raise EngineError(f"refused: {content['refused']}")
    return content


def caller(environment: Environment) -> str:
    """Who asks, for the history; empty where STS does not say."""
    try:
        sts = boto3.client("sts", region_name=environment.region, config=_ASKING)
        return str(sts.get_caller_identity()["Arn"])[:200]
    except (BotoCoreError, ClientError):
        return ""


app = typer.Typer(help="New versions of endpoints: start, status, pause, resume, abort.", no_args_is_help=True)
FleetName = Annotated[str, typer.Argument(help="An inference fleet.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Follow = Annotated[bool, typer.Option("--follow", "-f", help="Show every change until it is over.")]

EXIT: Final = {None: 0, "done": 0, "rolled back": 3, "held": 4}
_LOOK_SECONDS: Final = 5.0


@app.command()
def start(  # noqa: PLR0913, PLR0917 - the command line's own options
    environment: Name,
    fleet: FleetName,
    image: Annotated[str, typer.Option(help="By its digest. Default: what was deployed last.")] = "",
    artifact: Annotated[str, typer.Option(help="Folder of its compiled graphs. Default: what the file declares.")] = "",
    without_shadow: Annotated[
        bool, typer.Option("--without-shadow", help="Do not wait for recorded requests to be compared.")
    ] = False,
    follow: Follow = False,
    as_json: AsJson = False,
) -> None:
    """Roll out what was deployed last, or that with another image."""
    with _answering(environment, fleet) as named:
        more = {"rollout_id": uuid.uuid4().hex[:12], "image": image, "artifact": artifact}
        more |= {"without_shadow": "true"} if without_shadow else {}
        report = ask(named, "start", fleet, who=caller(named), **more)
        _show(named, report, follow, as_json)


@app.command()
def status(environment: Name, fleet: FleetName, follow: Follow = False, as_json: AsJson = False) -> None:
    """Show the newest rollout: where it stands, what it waits for, and what really serves."""
    with _answering(environment, fleet) as named:
        _show(named, ask(named, "status", fleet), follow, as_json)


@app.command()
def pause(environment: Name, fleet: FleetName, as_json: AsJson = False) -> None:
    """Stay at this share. The gates go on, and so does the way back."""
    _change(environment, fleet, "pause", as_json)


@app.command()
def resume(environment: Name, fleet: FleetName, as_json: AsJson = False) -> None:
    """Go on after a pause, after a broken execution, or where it was held."""
    _change(environment, fleet, "resume", as_json)


@app.command()
def abort(environment: Name, fleet: FleetName, as_json: AsJson = False) -> None:
    """Send all requests back to the version that served before."""
    _change(environment, fleet, "abort", as_json)


def _change(environment: str, fleet: str, action: str, as_json: bool) -> None:
    with _answering(environment, fleet) as named:
        report = ask(named, action, fleet, who=caller(named))
        _print(report, as_json)


@contextmanager
def _answering(environment: str, fleet: str) -> Iterator[Environment]:
    try:
        named = loader.load(environment)
        serving = {each.name: each for each in (*named.inference_fleets, *named.hosted_fleets)}
        fleet_among(fleet, serving, f"inference fleet of {named.name}")
        yield named
    except (EngineError, loader.EnvironmentFileError) as error:
        refuse(error)


def _show(environment: Environment, report: dict[str, Any], follow: bool, as_json: bool) -> None:
    told = 0
    while follow and not report["is_over"]:
        told = _tell_events(report, told)
        time.sleep(_LOOK_SECONDS)
        report = ask(environment, "status", report["fleet"])
    if follow and not as_json:
        _tell_events(report, told)
    _print(report, as_json, with_history=not follow)
    raise typer.Exit(EXIT[report["outcome"]])


def _tell_events(report: dict[str, Any], told: int) -> int:
    for event in report["history"][told:]:
        typer.echo(f"{event['at'][:19]}Z  {event['text']}", err=True)
    return len(report["history"])


def _print(report: dict[str, Any], as_json: bool, *, with_history: bool = True) -> None:
    if as_json:
        print_json(report)
        return
    weights, healthy = report["weights"], report["healthy"]
    state = report["outcome"] or f"{report['phase']}, {report['step']} %" + (", paused" if report["is_paused"] else "")
    lines = [
        f"{report['fleet']}  rollout {report['rollout_id']}: {state}",
        f"  stable     {weights['stable']:>3} %  healthy targets: {healthy['stable']}",
        f"  candidate  {weights['candidate']:>3} %  healthy targets: {healthy['candidate']}",
        f"  serves     {', '.join(each.rpartition('/')[2] for each in report['serves']) or 'nothing'}",
    ]
    lines += [f"  shadow     {each['said']}" for each in report.get("shadow", ())]
    lines += [f"  why        {report['reason']}"] if report["reason"] else []
    lines += [f"  waits for  {report['waits_for']}"] if report["waits_for"] and not report["is_over"] else []
    if report.get("stands_still"):
        held = report["outcome"] == "held"
        lines.append(
            f"  scaling    suspended{' until it is resumed or aborted' if held else ''}: no load moves its nodes"
        )
    if not report["is_driven"]:
        lines.append("  nobody looks after it: `fleet rollout resume` or `abort` starts a new execution")
    if not report["is_true"]:
        lines.append("  what serves is not what the rollout has ended with: somebody else has changed it since")
    if with_history:
        lines += [f"  {event['at'][:19]}Z  {event['text']}" for event in report["history"]]
    for line in lines:
        say(line)
