"""What is due at which moment of a block that was bought.

``due`` looks at the clock and at what was done, and at nothing else: a step whose event was lost is due at the next
look, one that was done is not due again, and one whose time is over, because a later step replaces it, is left out.
So events may be late, doubled, lost or out of order. What must hold even when nobody looks at all is not here but in
the job itself: ``seconds_for_job`` is the time-out that every job on a block is started with.
"""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from fleet.string_enum import StringEnum

# EC2 begins to terminate instances 30 minutes before a block's end (EC2 User Guide, "Capacity Blocks for ML").
TERMINATION: Final = timedelta(minutes=30)
# A job is ended this long before the block's end whatever happens: 5 minutes before EC2 begins.
JOBS_END: Final = timedelta(minutes=35)
# A job that could not run for this long is not started.
SHORTEST_JOB: Final = timedelta(minutes=10)


class Step(StringEnum):
    """What is to be done, in the order of time."""

    SCALE_UP = "scale-up"
    PROPOSE_EXTENSION = "propose-extension"
    CHECKPOINT = "checkpoint"
    DRAIN = "drain"
    STOP = "stop"
    POST_MORTEM = "post-mortem"


# How long before the end each step is due. An extension is bought for whole days, so it is proposed with time to
# decide; that the end comes near is told by alarms on the minutes that are left. The drain lets a job write its last
# checkpoint, and five minutes later whatever still runs is stopped.
BEFORE_END: Final = {
    Step.PROPOSE_EXTENSION: timedelta(hours=48),
    Step.CHECKPOINT: timedelta(minutes=60),
    Step.DRAIN: timedelta(minutes=40),
    Step.STOP: JOBS_END,
    Step.POST_MORTEM: timedelta(0),
}
# Due at every look while its time lasts: a deployment in between may have set the fleet's size back.
KEPT_UP: Final = frozenset({Step.SCALE_UP})
# A later step of the same kind makes the earlier one pointless.
_REPLACED_BY: Final = {
    Step.SCALE_UP: Step.DRAIN,
    Step.PROPOSE_EXTENSION: Step.CHECKPOINT,
    Step.CHECKPOINT: Step.STOP,
    Step.DRAIN: Step.STOP,
}


@dataclass(frozen=True, slots=True)
class Block:
    """A block as EC2 has it now. ``is_delivered`` is whether its capacity can be used; times are UTC."""

    reservation_id: str
    fleet: str
    instances: int
    start: datetime
    end: datetime
    is_delivered: bool


def key(step: Step, block: Block) -> str:
    """What is stored when ``step`` was done. An extension moves the end, and with it every step before the end."""
    return f"{step}@{block.end:%Y-%m-%dT%H:%M:%SZ}"


def due(block: Block, done: Collection[str], now: datetime) -> tuple[Step, ...]:
    """The steps to take now, in their order."""
    begun = {step for step, before in BEFORE_END.items() if now >= block.end - before}
    if block.is_delivered and now >= block.start:
        begun.add(Step.SCALE_UP)
    return tuple(
        step for step in Step if step in begun and _REPLACED_BY.get(step) not in begun and key(step, block) not in done
    )


def next_look(block: Block, now: datetime) -> datetime | None:
    """When the next step becomes due, for a schedule; None after the last."""
    moments = [block.start, *(block.end - before for before in BEFORE_END.values())]
    return min((moment for moment in moments if moment > now), default=None)


def seconds_for_job(block: Block, now: datetime) -> int | None:
    """The time-out of a job that starts at ``now``, in seconds; None when it must not start any more."""
    left = block.end - JOBS_END - now
    return int(left.total_seconds()) if left >= SHORTEST_JOB else None
