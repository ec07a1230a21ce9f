"""The two decisions of a precompilation: what an execution does about an artifact, and what came of its job.

Both may be asked twice, because Step Functions repeats a call whose answer was lost.
"""

import json
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from fleet.compile_cache import precompilation
from fleet.compile_cache.artifact import Artifact, of_identity
from fleet.compile_cache.precompilation import Stage, Step
from fleet.compile_cache.request import PrecompileRequest, RequestError, read

if TYPE_CHECKING:
    from lambdas.compile_cache.adapters import Dependencies, JobQueue

# What runs in the container: workload/precompile.
_PROGRAM: Final = ("python", "-m", "workload.precompile")
_UNSAFE: Final = re.compile(r"[^0-9A-Za-z_-]+")
_LONGEST_NAME: Final = 128
_LONGEST_REASON: Final = 1000


def begin(aws: "Dependencies", execution: str, request: object, before: object, now: float) -> dict[str, Any]:
    """What ``execution`` does next; ``before`` is what it was answered the last time, if it has waited."""
    try:
        wanted = _request(aws, request)
    except RequestError as error:
        return {"step": "refused", "reason": str(error)}
    if wanted.fleet not in aws.queues.fleets:
        known = ", ".join(aws.queues.fleets) or "none"
        return {"step": "refused", "reason": f"fleet: there is no training fleet {wanted.fleet} here; known: {known}"}
    artifact = wanted.artifact
    missing = aws.artifacts.missing(artifact)
    if not missing:
        return _ready(aws, artifact, compiled=False)
    seen = aws.runs.read(artifact)
    lives = seen is not None and seen.stage is Stage.COMPILING and aws.runs.lives(seen, now)
    step = precompilation.advise(seen, execution, lives=lives, waited_for=_waited_for(before))
    if step is Step.WAIT:
        return {"step": "wait", **_identity(artifact), "token": seen.token if seen else 0, "reason": missing}
    if step is Step.GIVE_UP:
        return {"step": "failed", "reason": seen.reason if seen else missing}
    held = precompilation.take(seen, execution, now)
    if held != seen:
        aws.runs.write(artifact, seen, held)
    return {
        "step": "compile",
        **_identity(artifact),
        "token": held.token,
        "job": _job(wanted, aws.queues.of(wanted.fleet)),
    }


def conclude(aws: "Dependencies", execution: str, begun: Mapping[str, Any], now: float) -> dict[str, Any]:
    """What came of the job of ``execution``, which ``begin`` has answered with ``begun``."""
    artifact = of_identity(begun["artifact"])
    # Whatever the job said of itself: what counts is what lies in the bucket.
    reason = _failure(aws, artifact, begun["failure"]) if "failure" in begun else aws.artifacts.missing(artifact)
    held = aws.runs.read(artifact)
    if held is not None and held.holder == execution and held.stage is Stage.COMPILING:
        aws.runs.write(artifact, held, precompilation.conclude(held, reason, now))
    if reason:
        return {"step": "failed", **_identity(artifact), "reason": reason}
    return _ready(aws, artifact, compiled=True)


def _request(aws: "Dependencies", request: object) -> PrecompileRequest:
    if isinstance(request, Mapping) and set(request) == {"object"}:
        return aws.artifacts.request(str(request["object"]))
    return read(request)


def _waited_for(before: object) -> int | None:
    is_answer = isinstance(before, Mapping) and before.get("step") == "wait"
    return before.get("token") if is_answer and isinstance(before, Mapping) else None


def _identity(artifact: Artifact) -> dict[str, Any]:
    return {"artifact": artifact.identity, "prefix": artifact.prefix}


def _ready(aws: "Dependencies", artifact: Artifact, *, compiled: bool) -> dict[str, Any]:
    return {"step": "ready", **_identity(artifact), "graphs": aws.artifacts.graphs(artifact), "compiled": compiled}


def _job(request: PrecompileRequest, queue: "JobQueue") -> dict[str, Any]:
    artifact = request.artifact
    digest = artifact.prefix.rpartition("/")[2]
    name = _UNSAFE.sub("-", artifact.model)[: _LONGEST_NAME - len(f"precompile--{digest}")]
    what = (artifact.model, artifact.model_version, artifact.sdk_version, artifact.shapes)
    return {
        "name": f"precompile-{name}-{digest}",
        "queue": queue.queue,
        "definition": queue.definition,
        "share": queue.share,
        "tags": queue.tags,
        "command": [*_PROGRAM, *what, "--", *request.command],
    }


def _failure(aws: "Dependencies", artifact: Artifact, failure: Mapping[str, Any]) -> str:
    """In one line: what the job left, else what AWS Batch says, else what Step Functions says."""
    error, cause = str(failure.get("Error", "")), str(failure.get("Cause", ""))
    try:
        job = json.loads(cause)
        job_id, status = str(job["JobId"]), str(job.get("StatusReason", ""))
    except (ValueError, KeyError, TypeError):
        return _line(f"{error}: {cause}" if cause else error)
    code = (job.get("Container") or {}).get("ExitCode")
    status = f"{status or error} (exit code {code})" if code is not None else status
    words = aws.artifacts.last_words(artifact, job_id) or status or error
    return _line(f"job {job_id}: {words}")


def _line(text: str) -> str:
    return " ".join(text.split())[:_LONGEST_REASON]
