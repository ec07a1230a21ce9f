"""`fleet cache status`: artifacts, leases in the way, precompilations; and `fleet cache check` for one artifact."""

import time
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Final

import typer

from cli.account import Account
from cli.answers import complain, print_json, say
from cli.cache import artifact_bucket, compiled, leases, runs
from cli.cache.artifact_bucket import StoredArtifact
from cli.cache.leases import Lease
from cli.cache.options import AsJson, Fleet, JobFile, Lengths, Model, ModelVersion, Named, Sdk, training_fleet
from cli.cache.runs import Run
from cli.cache.targets import place_of
from cli.named import Name, answering
from cli.tables import Table, print_table
from fleet.compile_cache.lease import Standing
from fleet.compile_cache.readiness import describe, lengths

# A table of all would scroll what matters off the screen; --json has them.
_LEASES_SHOWN: Final = 20


def status(environment: Name, fleet: Fleet = None, json_: AsJson = False) -> None:
    """Show what is compiled, what is being compiled, what failed. --fleet: only that fleet's precompilations."""
    moment = datetime.now(UTC)
    with answering(environment, "reading the compile cache") as of:
        if fleet is not None:
            training_fleet(of, fleet)
        account = Account(of.region)
        place = place_of(account, of)
        artifacts = artifact_bucket.artifacts(account, place)
        held = leases.every(account, place, time.time())
        running = _of_fleet(runs.running(account, place), fleet)
        failed = _of_fleet(runs.failed(account, place), fleet)
    trouble = [each for each in held if each.standing is not Standing.AT_REST]
    if json_:
        print_json(_content(artifacts, held, trouble, running, failed))
        return
    _print_artifacts(artifacts, moment)
    _print_leases(held, trouble, moment)
    _print_runs(running, failed, moment)


def _of_fleet(found: list[Run] | None, fleet: str | None) -> list[Run] | None:
    if found is None or fleet is None:
        return found
    return [run for run in found if run.fleet == fleet]


def _content(
    artifacts: Sequence[StoredArtifact],
    held: Sequence[Lease],
    trouble: Sequence[Lease],
    running: list[Run] | None,
    failed: list[Run] | None,
) -> dict[str, Any]:
    return {
        "artifacts": [
            {
                "hash": each.digest,
                "prefix": each.prefix,
                **(each.artifact.identity if each.artifact else {}),
                "compilers": each.compilers,
                "graphs": each.graphs,
                "graphs_missing": each.missing,
                "bytes": each.size,
                "written": each.written,
                "problem": each.problem or None,
            }
            for each in artifacts
        ],
        "leases": dict(Counter(each.standing.value for each in held)),
        "leases_not_at_rest": [
            {
                "graph": str(each.graph),
                "standing": each.standing,
                "state": each.row.state,
                "holder": each.row.holder,
                "token": each.row.token,
                "changed": datetime.fromtimestamp(each.row.changed, UTC),
                "until": datetime.fromtimestamp(each.row.until, UTC),
                "failures": each.row.failures,
                "reason": each.row.reason,
            }
            for each in trouble
        ],
        "running": None if running is None else [_run(run) for run in running],
        "failed": None if failed is None else [_run(run) for run in failed],
    }


def _run(run: Run) -> dict[str, Any]:
    asked = runs.fields(run.request) if run.request else {"input": run.asked}
    return {"execution": run.arn, "status": run.status, "started": run.started, "stopped": run.stopped, **asked,
            "cause": run.cause or None}  # fmt: skip


def _print_artifacts(artifacts: Sequence[StoredArtifact], now: datetime) -> None:
    if not artifacts:
        say("no artifact: `fleet cache warm` makes one")
        return
    table = Table("artifact", "model", "version", "SDK", "lengths", "compiler", "graphs", "GB", "age", "hash")
    for each in artifacts:
        of = each.artifact
        told = (of.model, of.model_version, of.sdk_version, lengths(of)) if of else ("?", "?", "?", "?")
        state = "damaged" if of is None else f"{each.missing} gone" if each.missing else "ready"
        compilers = ", ".join(name.rpartition("cc-")[2].partition("+")[0] for name in each.compilers)
        size = f"{each.size / 1e9:.2f}"
        table.add_row(state, *told, compilers, str(each.graphs), size, _age(each.written, now), each.digest)
    print_table(table)
    for each in artifacts:
        if each.problem:
            say(each.problem)


def _print_leases(held: Sequence[Lease], trouble: Sequence[Lease], now: datetime) -> None:
    counted = Counter(each.standing for each in held)
    say("leases: " + ", ".join(f"{counted[standing]} {standing}" for standing in Standing))
    if not trouble:
        return
    table = Table("graph", "lease", "since", "failures", "why")
    for each in trouble[:_LEASES_SHOWN]:
        since = _age(datetime.fromtimestamp(each.row.changed, UTC), now)
        table.add_row(str(each.graph), each.standing, since, str(each.row.failures), each.row.reason)
    print_table(table)
    if len(trouble) > _LEASES_SHOWN:
        say(f"and {len(trouble) - _LEASES_SHOWN} more: --json shows all")


def _print_runs(running: list[Run] | None, failed: list[Run] | None, now: datetime) -> None:
    if running is None or failed is None:
        say("no precompile pipeline is deployed")
        return
    if not (running or failed):
        say("no precompilation runs, and none failed")
        return
    table = Table("precompilation", "state", "fleet", "artifact", "began", "why")
    for run in (*running, *failed):
        of = run.request
        what = describe(of.artifact) if of else run.asked
        table.add_row(run.name, run.status.lower(), run.fleet or "-", what, f"{_age(run.started, now)} ago", run.cause)
    print_table(table)


def _age(moment: datetime, now: datetime) -> str:
    hours = max(0.0, (now - moment).total_seconds() / 3600)
    return f"{hours / 24:.0f} d" if hours >= 48 else f"{hours:.0f} h" if hours >= 2 else f"{hours * 60:.0f} min"


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
