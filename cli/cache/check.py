"""`fleet cache check`: whether an artifact is ready, by the rule that jobs and rollouts wait for."""

import typer

from cli.account import Account
from cli.answers import complain, print_json, say
from cli.cache import compiled, runs
from cli.cache.options import AsJson, Fleet, JobFile, Lengths, Model, ModelVersion, Named, Sdk
from cli.named import Name, answering
from fleet.compile_cache.readiness import describe


def check(  # noqa: PLR0913, PLR0917 - one for each option
    environment: Name,
    fleet: Fleet = None,
    model: Model = None,
    model_version: ModelVersion = None,
    sdk_version: Sdk = None,
    sequence_lengths: Lengths = None,
    job: JobFile = None,
    json_: AsJson = False,
) -> None:
    """Say whether an artifact is ready, and if not, why. Exit code 1 when it is not."""
    named = Named(job, fleet, model, model_version, sdk_version, sequence_lengths)
    with answering(environment) as of:
        artifact = named.wanted(of).artifact
        account = Account(of.region)
        why = compiled.why_not(account, of, artifact)
        run = compiled.being_made(account, of, artifact) if why else None
    if json_:
        print_json({"artifact": artifact.identity, "prefix": artifact.prefix, "ready": not why, "why_not": why or None,
                 "being_compiled_by": run and run.arn})  # fmt: skip
    elif why:
        complain(f"{why}{_now(run)}")
    else:
        say(f"{describe(artifact)}: ready, {artifact.prefix}")
    if why:
        raise typer.Exit(1)


def _now(run: runs.Run | None) -> str:
    return "" if run is None else f"; {run.name} compiles it since {run.started:%Y-%m-%d %H:%M} UTC"
