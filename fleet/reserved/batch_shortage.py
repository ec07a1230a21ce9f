"""What a Batch fleet lacks. It scales to zero between jobs, so without a job that waits it lacks nothing.

Batch says in a RUNNABLE job's statusReason why the job blocks its queue: Batch User Guide, "Jobs stuck in a RUNNABLE
status". A job that is tried again carries the reason of its last attempt instead, which says nothing of capacity.
"""

from datetime import datetime, timedelta
from typing import Final

from fleet.reserved.observed import Batch, Job, Seen
from fleet.reserved.place import Place
from fleet.reserved.reservation_state import GRACE, is_awaited
from fleet.reserved.shortage import NOTHING, Shortage, one_line

_WRONG: Final = "MISCONFIGURATION:"
_BLOCKED: Final = ("CAPACITY:", _WRONG, "UNDETERMINED")
# The job is wrong, not the fleet.
_OF_THE_JOB: Final = ("MISCONFIGURATION:COMPUTE_ENVIRONMENT_MAX_RESOURCE", "MISCONFIGURATION:JOB_RESOURCE_REQUIREMENT")
# How long a job may wait, while Batch wants more nodes than run, before silence is no excuse.
PATIENCE: Final = timedelta(minutes=30)


def batch_shortage(place: Place, seen: Seen, now: datetime) -> Shortage:
    """What ``place`` lacks by what Batch showed."""
    batch = seen.batch
    if batch is None:
        return NOTHING
    running = len(seen.nodes)
    if batch.status == "INVALID":
        return Shortage(
            max(0, place.nodes - running),
            f"Batch says that the compute environment is INVALID: {one_line(batch.words)}",
            "repair what Batch names and deploy again; an environment that stays INVALID launches nothing",
        )
    if batch.state == "DISABLED":
        return _disabled(place, batch)
    blocked = next((job for job in batch.waiting if job.words.startswith(_BLOCKED)), None)
    if is_awaited(place, seen, now) and (blocked is None or not blocked.words.startswith(_WRONG)):
        return NOTHING
    if blocked is not None:
        return _blocked(place, blocked, running)
    return _silent(place, seen, batch, now)


def demand(place: Place, seen: Seen) -> int:
    """Nodes that the jobs in the queue could use at once and that do not run."""
    waiting = seen.batch.waiting if seen.batch else ()
    wanted = max((job.nodes for job in waiting), default=0)
    return max(0, min(wanted, place.nodes - len(seen.nodes)))


def _disabled(place: Place, batch: Batch) -> Shortage:
    if not batch.waiting:
        return NOTHING
    reason = f"{len(batch.waiting)} jobs wait and the compute environment is DISABLED"
    if place.is_block:
        return Shortage(0, f"{reason}, as it is outside a Capacity Block and in its last minutes")
    return Shortage(0, reason, "enable the compute environment when its jobs may start")


def _blocked(place: Place, job: Job, running: int) -> Shortage:
    reason = f"Batch says of job {job.job_id}: {one_line(job.words)}"
    if job.words.startswith(_OF_THE_JOB):
        return Shortage(0, reason, "terminate the job and submit it with what the fleet's nodes have")
    missing = max(0, min(job.nodes, place.nodes - running))
    if job.words.startswith("CAPACITY:"):
        return Shortage(missing, reason, _ELSEWHERE)
    return Shortage(missing, reason, "repair what Batch names; the jobs behind this one wait as well")


def _silent(place: Place, seen: Seen, batch: Batch, now: datetime) -> Shortage:
    running = len(seen.nodes)
    oldest = min(batch.waiting, key=lambda job: job.created_at, default=None)
    if oldest is None or now - oldest.created_at < PATIENCE or batch.desired_vcpus <= running * place.vcpus:
        return NOTHING
    if any(now - node.launched_at < GRACE for node in seen.nodes):
        return NOTHING
    return Shortage(
        demand(place, seen),
        f"job {oldest.job_id} waits since {oldest.created_at:%Y-%m-%d %H:%M} UTC, and Batch does not say why",
        f"look at the activities of the compute environment's Auto Scaling group; {_ELSEWHERE}",
    )


_ELSEWHERE: Final = "wait, or take another zone, fewer nodes, a reservation or a Capacity Block"
