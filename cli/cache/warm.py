"""`fleet cache warm`: compile a model's graphs on one node before they are needed, and follow it to its end."""

from collections.abc import Callable
from functools import partial
from typing import Annotated, Any, Final

import typer

from cli.account import Account, AwsError
from cli.answers import print_json, refuse, say
from cli.cache import compiled, runs
from cli.cache.options import AsJson, Fleet, JobFile, Lengths, Model, ModelVersion, Named, Sdk, Wanted, compiling_fleet
from cli.cache.targets import place_of
from cli.figures import today
from cli.named import Name, answering
from cli.prices.table import newest_or_embedded
from cli.progress import Line, waiting
from environments.fleet_specs import fleet_spec
from environments.model import Environment
from fleet.compile_cache import request as requests
from fleet.compile_cache.readiness import describe
from fleet.compile_cache.request import PrecompileRequest, RequestError
from fleet.prices import price_of
from fleet.prices.wording import UNKNOWN, rate

_POLL_SECONDS: Final = 10.0
# The states of stacks/precompile.py in words; another one is said as it is called.
_WORDS: Final = {
    "Begin": "looks whether it is there",
    "Compile": "waits for a node, or compiles on it",
    "Wait": "waits for another execution that compiles the same",
    "Conclude": "verifies what was compiled",
}


def warm(  # noqa: PLR0913, PLR0917 - one for each option
    environment: Name,
    command: Annotated[
        list[str] | None, typer.Argument(help="A short run that needs every graph, after --. Default: the job file's.")
    ] = None,
    fleet: Fleet = None,
    model: Model = None,
    model_version: ModelVersion = None,
    sdk_version: Sdk = None,
    sequence_lengths: Lengths = None,
    job: JobFile = None,
    no_wait: Annotated[bool, typer.Option("--no-wait", help="Start it and return.")] = False,
    json_: AsJson = False,
) -> None:
    """Make an artifact: exit code 0 when it is there, 1 when it could not be made."""
    named = Named(job, fleet, model, model_version, sdk_version, sequence_lengths)
    tell = _silent if json_ else say
    with answering(environment) as of:
        account = Account(of.region)
        wanted = named.wanted(of, tuple(command or ()))
        if not compiled.why_not(account, of, wanted.artifact):
            _answer(wanted, None, "", as_json_=json_)
            return
        request = _request(wanted)
        tell(f"{describe(request.artifact)}: {_costs(account, of, request.fleet)}")
        arn = _start(account, of, request)
        tell(f"started {arn.rpartition(':')[2]}")
        if no_wait:
            _answer(wanted, runs.look(account, arn), "", as_json_=json_)
            return
        with waiting("compiling") as line:
            run = runs.follow(account, arn, partial(_tell_aside, line, tell), _POLL_SECONDS)
        # What the execution says of itself is not what jobs and rollouts look at.
        why = (
            run.cause or run.status if run.status != runs.SUCCEEDED else compiled.why_not(account, of, wanted.artifact)
        )
    _answer(wanted, run, why, as_json_=json_)


def _tell_aside(line: Line, tell: Callable[[str], None], step: str) -> None:
    with line.aside():
        tell(_WORDS.get(step, step))


def _request(wanted: Wanted) -> PrecompileRequest:
    if not wanted.fleet:
        refuse("--fleet: missing; it is compiled on a node of a training fleet")
    if not wanted.command:
        refuse("there is no command: end with -- and a short run that needs every graph, such as -- python train.py")
    try:
        return requests.read(runs.fields(PrecompileRequest(wanted.fleet, wanted.artifact, wanted.command)))
    except RequestError as error:
        refuse(error)


def _start(account: Account, environment: Environment, request: PrecompileRequest) -> str:
    try:
        return runs.start(account, place_of(account, environment), request)
    except AwsError as error:
        if error.code in runs.ABSENT:
            refuse(f"environment {environment.name} has no precompile pipeline: `cdk deploy -c env={environment.name}`")
        raise


def _costs(account: Account, environment: Environment, fleet: str) -> str:
    spec = newest_or_embedded(account, environment.name, fleet_spec(environment, compiling_fleet(environment, fleet)))
    price = price_of(spec)
    return f"one {spec.instance_type} of {fleet}, {UNKNOWN if price is None else rate(price, today())}"


def _answer(wanted: Wanted, run: runs.Run | None, why: str, *, as_json_: bool) -> None:
    status = "ready" if run is None or (run.status == runs.SUCCEEDED and not why) else run.status.lower()
    if as_json_:
        content: dict[str, Any] = {"artifact": wanted.artifact.identity, "prefix": wanted.artifact.prefix}
        print_json({**content, "execution": run and run.arn, "status": status, "why_not": why or None})
    elif status == "ready":
        say(f"{describe(wanted.artifact)}: ready, {wanted.artifact.prefix}")
    elif not why:
        say("it goes on by itself; `fleet cache status` shows it")
    if why:
        if not as_json_:
            refuse(f"{describe(wanted.artifact)}: not compiled: {why}")
        raise typer.Exit(1)


def _silent(_: str) -> None:
    """JSON is one object and nothing else."""
