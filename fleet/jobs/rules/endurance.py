"""Does the job get to its end, and is its work kept if it does not?"""

import re
from collections.abc import Iterator
from typing import Final

from fleet.blocks.life import JOBS_END, SHORTEST_JOB
from fleet.diagnostics import Diagnostic, note, refuse, warn
from fleet.fleet_spec import MarketKind
from fleet.jobs.rules.case import JobCase, JobRule

# S3 User Guide, bucket naming rules: 3 to 63 letters, digits, dots and dashes.
_S3: Final = re.compile(r"s3://[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](/.*)?")
# Beyond that, a job without checkpoints is a gamble; below, repeating it is cheap.
_LONG_HOURS: Final = 4.0
_FIX: Final = "write checkpoint: {location: s3://bucket/prefix}"
# AWS Batch API reference, JobTimeout.
_SHORTEST_LIMIT_HOURS: Final = 1 / 60


def checkpoints_have_a_place(case: JobCase) -> Iterator[Diagnostic]:
    """Where nodes are taken away, a job without checkpoints begins again and again."""
    place = case.job.checkpoint
    if place and not (_S3.fullmatch(place) or place.startswith("/")):
        yield refuse(
            "checkpoint-location",
            "checkpoint.location",
            place,
            f"{place} is not a place for checkpoints",
            "use s3://bucket/prefix, or the absolute path of a directory that every node mounts",
        )
    elif place.startswith("/") and case.job.nodes > 1:
        yield note(
            "checkpoint-must-be-shared",
            "checkpoint.location",
            place,
            f"{place} must be one file system on all {case.job.nodes} nodes, or no checkpoint is ever complete",
        )
    elif not place and case.spec.market in (MarketKind.SPOT, MarketKind.CAPACITY_BLOCK):
        yield refuse("checkpoint-missing", "checkpoint", "", f"a {case.spec.market} fleet's nodes are taken away", _FIX)
    elif not place and case.forecast is not None and case.forecast.hours > _LONG_HOURS:
        hours = f"{case.forecast.hours:.0f} hours"
        yield warn("checkpoint-missing", "checkpoint", "", f"{hours} of work are lost when a node fails", _FIX)


def checkpoints_may_be_written(case: JobCase) -> Iterator[Diagnostic]:
    """The fleet's entry names the places that its jobs' role has rights to."""
    place, writable = case.job.checkpoint, case.standing.writable
    if writable is None or not _S3.fullmatch(place):
        return
    if not writable:
        yield warn(
            "checkpoint-not-granted",
            "checkpoint.location",
            place,
            f"fleet {case.job.fleet} gives its jobs rights to no place in S3: unless the bucket's own policy does, the "
            "first save fails",
            f"write writes: [{place}] in the fleet's entry and deploy",
        )
    elif not any(f"{place.rstrip('/')}/".startswith(f"{each.rstrip('/')}/") for each in writable):
        yield refuse(
            "checkpoint-not-allowed",
            "checkpoint.location",
            place,
            f"jobs of fleet {case.spec.name} may not write to {place}",
            f"use a place below {' or '.join(writable)}, or add it to the fleet's writes and deploy",
        )


def amounts_are_positive(case: JobCase) -> Iterator[Diagnostic]:
    """Tokens, hours, and what lies between two checkpoints."""
    job = case.job
    amounts = {
        "tokens_wanted": job.tokens_wanted,
        "longest_hours": job.longest_hours,
        "checkpoint.every_steps": job.every_steps,
        "checkpoint.every_minutes": job.every_minutes,
    }
    for path, value in amounts.items():
        if value is not None and not 0 < value < float("inf"):
            yield refuse("amount-not-positive", path, value, f"{path} is {value}", "use a positive number")


def block_lasts(case: JobCase) -> Iterator[Diagnostic]:
    """``fleet.blocks.life``: jobs end 35 minutes before the block, and the last one starts 10 minutes before that."""
    seconds, block = case.seconds_of_block, case.standing.block
    if seconds is None or block is None:
        return
    if seconds == 0:
        minutes = (JOBS_END + SHORTEST_JOB).total_seconds() / 60
        yield refuse(
            "block-ends",
            "fleet",
            case.job.fleet,
            f"the Capacity Block ends at {block.end:%Y-%m-%d %H:%M} UTC, and no job starts in its last {minutes:.0f} "
            "minutes",
            "extend the block, or submit to another fleet",
        )
    elif case.job.nodes > block.instances:
        yield refuse(
            "too-many-nodes",
            "nodes",
            case.job.nodes,
            f"{case.job.nodes} nodes, but the Capacity Block has {block.instances}",
            f"use {block.instances} or fewer",
        )
    elif case.forecast is not None and case.forecast.hours * 3600 > seconds:
        yield warn(
            "block-ends-first",
            "tokens_wanted",
            case.job.tokens_wanted,
            f"{case.forecast.hours:.1f} hours are expected ({case.forecast.throughput.basis} pace), and the block "
            f"leaves {seconds / 3600:.1f}",
            "resume it in another block from its checkpoints, or extend this one",
        )


def limit_is_allowed(case: JobCase) -> Iterator[Diagnostic]:
    """Batch takes no time-out below a minute, and the fleet's owner says what the longest is."""
    limit, longest = case.job.longest_hours, case.standing.longest_hours
    if limit is None:
        return
    if 0 < limit < _SHORTEST_LIMIT_HOURS:
        short = f"{limit * 3600:.0f} seconds are less than AWS Batch's shortest time-out of 60"
        yield refuse("limit-not-allowed", "longest_hours", limit, short, "use 0.02 or more")
    elif longest is not None and limit > longest:
        text = f"{limit:g} hours are more than the {longest:g} that fleet {case.spec.name} gives a job"
        fix = f"use {longest:g} or fewer, or raise longest_job_hours of the fleet"
        yield refuse("limit-not-allowed", "longest_hours", limit, text, fix)


def limit_lasts(case: JobCase) -> Iterator[Diagnostic]:
    """A limit below what is expected ends the job before it is done."""
    limit, expected = case.job.longest_hours, case.forecast
    if limit is not None and expected is not None and 0 < limit < expected.hours:
        yield warn(
            "limit-too-short",
            "longest_hours",
            limit,
            f"{expected.hours:.1f} hours are expected ({expected.throughput.basis} pace), and the job is ended after "
            f"{limit:g}",
            f"use {expected.hours * 1.2:.0f} or more",
        )


RULES: Final[tuple[JobRule, ...]] = (
    checkpoints_have_a_place,
    checkpoints_may_be_written,
    amounts_are_positive,
    block_lasts,
    limit_is_allowed,
    limit_lasts,
)
