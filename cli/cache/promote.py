"""`fleet cache promote`: bring an artifact from S3 into the shared tier, as after an eviction."""

from collections.abc import Callable
from typing import Annotated, Final

import typer

from cli.account import Account
from cli.answers import print_json, refuse, say
from cli.cache import compiled, maintenance_job
from cli.cache.options import AsJson, Fleet, JobFile, Lengths, Model, ModelVersion, Named, Sdk, Yes, compiling_fleet
from cli.named import Name, answering
from fleet.compile_cache.readiness import describe, lengths

_POLL_SECONDS: Final = 10.0


def promote(  # noqa: PLR0913, PLR0917 - one for each option
    environment: Name,
    fleet: Fleet = None,
    model: Model = None,
    model_version: ModelVersion = None,
    sdk_version: Sdk = None,
    sequence_lengths: Lengths = None,
    job: JobFile = None,
    no_wait: Annotated[bool, typer.Option("--no-wait", help="Start it and return.")] = False,
    yes: Yes = False,
    json_: AsJson = False,
) -> None:
    """Put an artifact's graphs into the shared tier, by a job on one node of the fleet. Nothing is compiled."""
    if json_ and not yes:
        refuse("--json asks nothing back: add --yes")
    named = Named(job, fleet, model, model_version, sdk_version, sequence_lengths)
    with answering(environment) as of:
        wanted = named.wanted(of)
        if not wanted.fleet:
            refuse("--fleet: missing; a node of a training fleet does it")
        compiling_fleet(of, wanted.fleet)
        account, artifact = Account(of.region), wanted.artifact
        why = compiled.why_not(account, of, artifact)
        if why:
            refuse(f"{why}: there is nothing to promote")
        if not yes:
            typer.confirm(f"Promote {describe(artifact)} on one node of {wanted.fleet}?", abort=True)
        names = [artifact.model, artifact.model_version, artifact.sdk_version, lengths(artifact)]
        job_id = maintenance_job.start(account, of, wanted.fleet, "restore", names)
        done = (
            maintenance_job.look(account, job_id)
            if no_wait
            else maintenance_job.follow(account, job_id, saying(json_=json_), _POLL_SECONDS)
        )
    tell(done, json_=json_)


def tell(done: maintenance_job.MaintenanceJob, *, json_: bool) -> None:
    """How the job stands or ended; exit code 1 when it failed."""
    has_failed = done.is_over and done.status != maintenance_job.SUCCEEDED
    if json_:
        print_json(
            {"job_id": done.job_id, "status": done.status, "reason": done.reason or None, "log": done.log or None}
        )
    elif has_failed:
        refuse(f"job {done.job_id} failed: {done.reason or 'no reason'}; its log stream is {done.log or 'not there'}")
    else:
        say(f"job {done.job_id}: {done.status.lower()}")
    if has_failed:
        raise typer.Exit(1)


def saying(*, json_: bool) -> Callable[[str], None]:
    """Who hears how a job goes on: nobody where JSON is to be the only answer."""
    return (lambda _: None) if json_ else say
