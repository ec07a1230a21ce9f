"""`fleet jobs submit`: everything wrong with a job file, or what the job takes and costs, and then one submission."""

import secrets
import uuid
from collections.abc import Callable
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Final

import typer

from cli.account import Account, AwsError
from cli.answers import print_json, refuse, say
from cli.jobs import batch_submit, plan_text, pools
from cli.jobs.answers import say_findings
from cli.jobs.request import Prepared, prepare
from cli.jobs.waiting import until_compiled
from cli.named import NAME_HELP
from fleet.diagnostics import refuse as refusal
from fleet.jobs.submission import submitted_name
from fleet.pool.job_spec import order

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
        print_json({"findings": findings, **plan_text.content(prepared), "submitted": submitted})
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
    for line in plan_text.lines(prepared):
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
