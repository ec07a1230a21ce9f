"""What the end of an attempt means: done, start again, or nothing to be done about it.

The same line as AWS Batch's retry strategy draws in ``stacks.constructs.training_job``: hosts that fail, images that
cannot be pulled and exit code 75 start the job again; whatever else its own program ends with, ends the job.
"""

from dataclasses import dataclass
from typing import Final

from fleet.pool.job import Attempt, Rank

# EX_TEMPFAIL of sysexits.h: the job saved its checkpoint, or lost a peer, and wants to be started again.
RESUME_EXIT_CODE: Final = 75
# ECS API reference, Task, stopCode.
_STOPPED_BY_US: Final = "UserInitiated"
_EXITED: Final = "EssentialContainerExited"


@dataclass(frozen=True, slots=True)
class Outcome:
    """``is_success`` and ``is_retried`` False: the job has failed."""

    reason: str
    is_success: bool = False
    is_retried: bool = False


def outcome(attempt: Attempt) -> Outcome | None:
    """What ``attempt`` came to, by the ranks that ended of themselves; None: none did that means anything.

    A rank that is alone because its peer's host is gone often ends with an error of its own, so a host that failed
    counts for more than any exit code.
    """
    ended = [rank for rank in attempt.ranks if rank.is_over and rank.stop_code != _STOPPED_BY_US]
    lost = next((rank for rank in ended if _is_lost(rank)), None)
    if lost is not None:
        return Outcome(f"node {lost.index} ({lost.instance_id}): {lost.reason or lost.stop_code}", is_retried=True)
    resumed = next((rank for rank in ended if rank.exit_code == RESUME_EXIT_CODE), None)
    if resumed is not None:
        return Outcome(f"node {resumed.index} asked to be started again", is_retried=True)
    failed = next((rank for rank in ended if rank.exit_code), None)
    if failed is not None:
        return Outcome(f"node {failed.index} ended with exit code {failed.exit_code}")
    # As on Batch, the main node's end is the job's; another one may have nothing left to do.
    return Outcome("", is_success=True) if any(rank.index == 0 for rank in ended) else None


def _is_lost(rank: Rank) -> bool:
    return rank.stop_code != _EXITED or rank.exit_code is None
