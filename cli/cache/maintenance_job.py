"""Work on the shared tier, which only jobs with the precompile role mount with the right to write.

It is a job of one node in a training fleet's queue, that runs a command of ``workload.compile_cache``. All of
them can be repeated, so one whose answer is lost is simply started again by whoever asked.
"""

import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from cli.account import Account, AwsError
from cli.cache.targets import maintenance_target_of
from cli.jobs.job_lookup import describe
from environments.model import Environment
from fleet import container_overrides
from fleet.jobs.forecast import ENDED
from fleet.jobs.submission import JOB_TAG

SUCCEEDED: Final = "SUCCEEDED"
_PROGRAM: Final = ("python", "-m", "workload.compile_cache")


@dataclass(frozen=True, slots=True)
class MaintenanceJob:
    """One job. ``reason`` is Batch's and the container's exit code; ``log`` its log stream, empty: there is none."""

    job_id: str
    status: str
    reason: str = ""
    log: str = ""

    @property
    def is_over(self) -> bool:
        """Whether nothing becomes of it any more."""
        return self.status in ENDED


def start(account: Account, environment: Environment, fleet: str, verb: str, names: Sequence[str]) -> str:
    """Submit it; the job's id.

    Raises:
        NotDeployedError: the pipeline is not deployed.
        AwsError: Batch refused, or its answer was lost.
    """
    place = maintenance_target_of(account, environment, fleet)
    command = [*_PROGRAM, verb, *names]
    if container_overrides.length(command) > container_overrides.LONGEST:
        raise AwsError(f"{len(names)} names are too many for one job: give some of them at a time")
    answer = account.once.batch.submit_job(
        jobName=f"compile-cache-{verb}-{secrets.token_hex(4)}",
        jobQueue=place.queue,
        jobDefinition=place.definition,
        shareIdentifier=place.share,
        containerOverrides={"command": command},
        tags={**place.tags, JOB_TAG: f"compile-cache-{verb}"},
    )
    return str(answer["jobId"])


def look(account: Account, job_id: str) -> MaintenanceJob:
    """The job as it is now. Raises AwsError."""
    found = describe(account, [job_id])
    if not found:
        raise AwsError(f"Batch does not show job {job_id}")
    container: Mapping[str, Any] = found[0].get("container") or {}
    code = container.get("exitCode")
    said = [str(container.get("reason") or found[0].get("statusReason") or ""), f"exit code {code}" if code else ""]
    return MaintenanceJob(
        job_id, str(found[0]["status"]), ", ".join(filter(None, said)), str(container.get("logStreamName") or "")
    )


def follow(
    account: Account,
    job_id: str,
    say: Callable[[str], None],
    seconds: float,
    pause: Callable[[float], None] = time.sleep,
) -> MaintenanceJob:
    """Wait for its end, looking every ``seconds``; ``say`` hears each state once. Raises AwsError."""
    before = ""
    while True:
        work = look(account, job_id)
        if work.is_over:
            return work
        if work.status != before:
            say(work.status.lower())
            before = work.status
        pause(seconds)
