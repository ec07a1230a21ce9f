"""How many nodes are missing, with the reason and what a person should do about it.

An Auto Scaling group lacks what the fleet wants, less what is in service, less what is on its way. A Batch fleet scales
to zero between jobs, so without a job that waits it lacks nothing.

Batch says in a RUNNABLE job's statusReason why the job blocks its queue: Batch User Guide, "Jobs stuck in a RUNNABLE
status". A job that is tried again carries the reason of its last attempt instead, which says nothing of capacity.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from fleet.fleet_spec import MarketKind
from fleet.reserved.observed import Activity, Batch, FleetDeployment, Job, ScalingGroup, Seen
from fleet.reserved.reservation_state import GRACE, is_awaited, was_just_deployed


@dataclass(frozen=True, slots=True)
class Shortage:
    """``nodes`` may be 0: then ``reason`` is a remark, of something that people should know and nothing lacks by."""

    nodes: int
    reason: str | None = None
    action: str | None = None


NOTHING = Shortage(0)


def worst(*shortages: Shortage) -> Shortage:
    """The greatest; of equal ones the first that gives a reason. So the root cause goes first."""
    most = max(shortage.nodes for shortage in shortages)
    return next(
        (each for each in shortages if each.nodes == most and each.reason),
        Shortage(most),
    )


def one_line(words: str, limit: int = 400) -> str:
    """AWS's own words on one line, cut where they go on and on."""
    line = " ".join(words.split())
    return line if len(line) <= limit else f"{line[: limit - 1]}…"


# The instance exists and serves, or is kept out of service by somebody: no capacity is missing for it.
_THERE: Final = frozenset({"InService", "Standby", "EnteringStandby"})
# Auto Scaling tries again after each failure, at growing intervals.
_STILL_TRUE: Final = timedelta(hours=1)


def group_shortage(place: FleetDeployment, seen: Seen, now: datetime) -> Shortage:
    """What ``place`` lacks by what Auto Scaling showed; the reason is that of the newest launch that failed."""
    group = seen.group
    if group is None:
        return NOTHING
    # The group is asked for its nodes after the deployment, and by somebody else. A pool that is paid for by the second
    # wants what its jobs want, an endpoint that scales what its load wants, and no reservation is no reason to ask for
    # nodes.
    is_whole = place.is_pool or place.scales or was_just_deployed(place, now)
    wanted = group.desired if is_whole else max(group.desired, place.nodes)
    there = sum(1 for member in group.members if member.state in _THERE)
    missing = wanted - there - _on_the_way(group, seen, now)
    if missing <= 0:
        return NOTHING
    failed = _failed(group, now)
    if failed is not None:
        return Shortage(missing, f"Auto Scaling says: {one_line(failed.words)}", _advice(place))
    return Shortage(
        missing,
        f"{there} of {wanted} nodes are in service, Auto Scaling wants {group.desired} and gives no reason",
        "look at the group's activities and at the nodes that do not come into service",
    )


def _on_the_way(group: ScalingGroup, seen: Seen, now: datetime) -> int:
    # EC2's launch time: Auto Scaling does not say since when a member is pending.
    launched = {node.instance_id: node.launched_at for node in seen.nodes}
    booting = sum(
        1
        for member in group.members
        if member.state.startswith("Pending")
        and member.instance_id in launched
        and now - launched[member.instance_id] < GRACE
    )
    if _failed(group, now) is not None:
        # The next attempt has begun and most likely fails too: counted as hope, the figure would come and go with it.
        return booting
    begun = sum(1 for launch in group.launches if not launch.is_over and now - launch.started_at < GRACE)
    return max(booting, begun)


def _failed(group: ScalingGroup, now: datetime) -> Activity | None:
    # Not only the last one: of several nodes that were launched together some may have failed.
    return next(
        (each for each in group.launches if each.has_failed and now - each.started_at < _STILL_TRUE),
        None,
    )


def _advice(place: FleetDeployment) -> str:
    if place.market is MarketKind.SPOT:
        more = ", or name alternative_types," if place.is_pool else ","
        return f"wait for Spot capacity{more} or buy on demand: market: {{kind: on-demand}}"
    return "wait, or add a zone that offers the type, or reserve the capacity: market: {kind: reservation}"


_WRONG: Final = "MISCONFIGURATION:"
_BLOCKED: Final = ("CAPACITY:", _WRONG, "UNDETERMINED")
# The job is wrong, not the fleet.
_OF_THE_JOB: Final = ("MISCONFIGURATION:COMPUTE_ENVIRONMENT_MAX_RESOURCE", "MISCONFIGURATION:JOB_RESOURCE_REQUIREMENT")
# How long a job may wait, while Batch wants more nodes than run, before silence is no excuse.
PATIENCE: Final = timedelta(minutes=30)


def batch_shortage(place: FleetDeployment, seen: Seen, now: datetime) -> Shortage:
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


def demand(place: FleetDeployment, seen: Seen) -> int:
    """Nodes that the jobs in the queue could use at once and that do not run."""
    waiting = seen.batch.waiting if seen.batch else ()
    wanted = max((job.nodes for job in waiting), default=0)
    return max(0, min(wanted, place.nodes - len(seen.nodes)))


def _disabled(place: FleetDeployment, batch: Batch) -> Shortage:
    if not batch.waiting:
        return NOTHING
    reason = f"{len(batch.waiting)} jobs wait and the compute environment is DISABLED"
    if place.is_block:
        return Shortage(0, f"{reason}, as it is outside a Capacity Block and in its last minutes")
    return Shortage(0, reason, "enable the compute environment when its jobs may start")


def _blocked(place: FleetDeployment, job: Job, running: int) -> Shortage:
    reason = f"Batch says of job {job.job_id}: {one_line(job.words)}"
    if job.words.startswith(_OF_THE_JOB):
        return Shortage(0, reason, "terminate the job and submit it with what the fleet's nodes have")
    missing = max(0, min(job.nodes, place.nodes - running))
    if job.words.startswith("CAPACITY:"):
        return Shortage(missing, reason, _ELSEWHERE)
    return Shortage(missing, reason, "repair what Batch names; the jobs behind this one wait as well")


def _silent(place: FleetDeployment, seen: Seen, batch: Batch, now: datetime) -> Shortage:
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
