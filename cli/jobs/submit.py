"""`fleet jobs submit`: everything wrong with a job file, or what the job takes and costs, and then one submission.

Where somebody compiles the graphs that the job needs, it waits for them if it is told to.
"""

import secrets
import uuid
from collections.abc import Callable
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from cli.account import Account, AwsError
from cli.answers import complain, print_json, refuse, say
from cli.cache import compiled, runs
from cli.figures import dollars, priced
from cli.jobs import batch_submit, pools
from cli.jobs.found import say_findings
from cli.jobs.request import GRAPHS_NOT_READY, Prepared, prepare
from cli.named import NAME_HELP
from fleet.diagnostics import refuse as refusal
from fleet.fleet_spec import Engine
from fleet.jobs import JobPlan
from fleet.jobs.submission import JobQueue, order, request, submitted_name


def until_compiled(
    prepared: Prepared, again: Callable[[], Prepared], say: Callable[[str], None], seconds: float
) -> Prepared:
    """``prepared``, or what ``again`` prepares once the precompilation that runs is over, looked at every ``seconds``.

    Only graphs are waited for, and only while an execution compiles them: nobody would end the wait otherwise.

    Raises:
        AwsError: AWS does not say how it goes on.
    """
    environment, artifact = prepared.environment, prepared.artifact
    if environment is None or artifact is None or {each.code for each in prepared.errors} != {GRAPHS_NOT_READY}:
        return prepared
    account = Account(environment.region)
    run = compiled.being_made(account, environment, artifact)
    if run is None:
        # It may have ended between the two looks.
        return again()
    say(f"waits for {run.name}, which compiles the job's graphs since {run.started:%Y-%m-%d %H:%M} UTC")
    ended = runs.follow(account, run.arn, lambda _: None, seconds)
    if ended.status != runs.SUCCEEDED:
        complain(f"{ended.name}: {ended.status.lower()}: {ended.cause or 'without a cause'}")
    return again()


def content(prepared: Prepared) -> dict[str, Any]:
    """The plan, the memory that it takes, and the very request."""
    plan, environment = prepared.plan, prepared.environment
    if plan is None or environment is None:
        return {"plan": None}
    fit, place = prepared.fit, prepared.place
    unknown = JobQueue(queue="", definition="", image=plan.job.image, nodes=plan.job.nodes)
    asked = request(plan, environment=environment.name, place=place or unknown, name=plan.job.name)
    if prepared.spec is not None and prepared.spec.engine is Engine.POOL:
        # What is told to a pool is in the plan.
        asked = {}
    return {
        "environment": environment.name,
        "plan": {key: value for key, value in asdict(plan).items() if key != "notes"},
        "hbm_bytes_per_core": fit and {"used": fit.used_bytes, "headroom": fit.headroom_bytes, "hbm": fit.hbm_bytes},
        "request": asked,
    }


def lines(prepared: Prepared) -> list[str]:
    """Empty where there is no plan."""
    plan, spec, environment = prepared.plan, prepared.spec, prepared.environment
    if plan is None or spec is None or environment is None:
        return []
    job, split = plan.job, plan.job.parallel
    where = f"{environment.name}/{job.fleet}: {job.nodes} x {spec.instance_type}"
    ranks = f"tensor {split.tensor} x pipeline {split.pipeline} x data {plan.data_parallel}"
    said = [f"{job.name} for {job.owner} on {where}, {plan.world_size} ranks = {ranks}", f"image: {job.image}"]
    if prepared.place is not None and job.image != prepared.place.image:
        name = batch_submit.definition_name(environment.name, prepared.place, job.image)
        said.append(
            f"it is not the fleet's image: job definition {name}, a copy of the fleet's with this image, is registered "
            "unless it is there"
        )
    if prepared.fit is not None:
        fit = prepared.fit
        sizes = (fit.used_bytes / 1e9, fit.hbm_bytes / 1e9, fit.free_bytes / 1e9)
        said.append("memory: {:.2f} of {:.2f} GB a core, {:.2f} free beside the head-room".format(*sizes))
    return [*said, *_forecast_lines(plan), f"ends: {_end(plan)}"]


def _forecast_lines(plan: JobPlan) -> list[str]:
    expected = plan.forecast
    if expected is None:
        return ["expected: not known, without tokens_wanted and a pace (throughput, or model)"]
    pace = expected.throughput
    hours = f"expected: {expected.hours:,.1f} h at {pace.tokens_per_second:,.0f} tokens/s ({pace.basis}: {pace.source})"
    if expected.usd is None:
        return [hours, "cost: no price is known"]
    rate = f"{dollars(expected.usd_per_hour)} an hour"
    return [hours, f"cost: ${dollars(expected.usd)} at ${rate} for all nodes; {priced(expected.price)}"]


def _end(plan: JobPlan) -> str:
    if plan.timeout_seconds is None:
        return "each attempt after the fleet's longest_job_hours at the latest"
    return f"each attempt after {plan.timeout_seconds / 3600:.2f} h at the latest"


_POLL_SECONDS: Final = 30.0


def submit(
    file: Annotated[Path, typer.Argument(help="A job file, such as examples/pretraining/job.yaml.")],
    env: Annotated[str | None, typer.Option(help=f"{NAME_HELP} Default: the job file's.")] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask back.")] = False,
    json_: Annotated[bool, typer.Option("--json", help="Print JSON; needs --yes or --dry-run.")] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Judge it by the files alone: AWS is asked nothing, nothing is submitted.")
    ] = False,
    wait_for_graphs: Annotated[
        bool,
        typer.Option("--wait-for-graphs", help="Wait for a precompilation that runs, where the file says `compiled`."),
    ] = False,
) -> None:
    """Submit a training job, after its file was judged. Exit code 1 when it has a mistake: nothing is submitted."""
    _check(json_=json_, yes=yes, dry_run=dry_run, waits=wait_for_graphs)
    prepared = _prepare(file, env, dry_run=dry_run, say=_quiet if json_ else say, waits=wait_for_graphs)
    if not json_:
        _print(file, prepared)
    submitted = None
    if prepared.plan is not None and not dry_run:
        if not yes:
            typer.confirm("Submit it?", abort=True)
        submitted = _send(prepared)
    if json_:
        findings = [asdict(each) for each in prepared.diagnostics]
        print_json({"findings": findings, **content(prepared), "submitted": submitted})
    elif submitted:
        say("submitted {job_name}, {job_id}".format(**submitted))
    if prepared.plan is None:
        raise typer.Exit(1)


def _check(*, json_: bool, yes: bool, dry_run: bool, waits: bool) -> None:
    if json_ and not (yes or dry_run):
        refuse("--json asks nothing back: add --yes or --dry-run")
    if waits and dry_run:
        refuse("--dry-run asks AWS nothing, and so waits for nothing: leave --wait-for-graphs out")


def _prepare(file: Path, env: str | None, *, dry_run: bool, say: Callable[[str], None], waits: bool) -> Prepared:
    def look() -> Prepared:
        return prepare(file, env, datetime.now(UTC), offline=dry_run)

    try:
        return until_compiled(look(), look, say, _POLL_SECONDS) if waits else look()
    except AwsError as error:
        return Prepared((refusal("not-looked-up", "", "", str(error)),))


def _quiet(_: str) -> None:
    """JSON is one object and nothing else."""


def _print(file: Path, prepared: Prepared) -> None:
    say_findings(file, prepared.diagnostics)
    for line in lines(prepared):
        say(line)


def _send(prepared: Prepared) -> dict[str, str]:
    plan, environment, place = prepared.plan, prepared.environment, prepared.place
    if plan is None or environment is None or (place is None and prepared.pool is None):
        refuse("nobody looked up where the fleet's jobs go")
    account = Account(environment.region)
    name = submitted_name(plan.job.name, secrets.token_hex(4))
    try:
        if prepared.pool is not None:
            asked = order(plan, prepared.pool, name=name, job_id=str(uuid.uuid4()), now=datetime.now(UTC))
            return {"job_id": pools.send(account, environment, asked), "job_name": name}
        assert place is not None  # noqa: S101 - refused above
        ready = batch_submit.with_image(account, environment.name, place, plan.job.image)
        return {"job_id": batch_submit.send(account, plan, environment.name, ready, name), "job_name": name}
    except AwsError as error:
        refuse(error)
