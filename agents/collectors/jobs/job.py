"""A job, as the agent knows it."""

from dataclasses import dataclass
from typing import Final

from fleet.string_enum import StringEnum

UNATTRIBUTED: Final = "unattributed"


class KnownBy(StringEnum):
    """What told of a job."""

    REGISTRATION = "registration"
    BATCH = "batch"
    SLURM = "slurm"
    ECS = "ecs"
    NOTHING = "nothing"


@dataclass(frozen=True, slots=True)
class Job:
    """A job; ``owner`` is empty where the source does not say. ``registered`` jobs exist before they hold a core.

    ``pids`` are its processes on the host; None means every process of the node that no other job claims.
    """

    job_id: str
    name: str
    owner: str
    registered: bool
    pids: tuple[int, ...] | None = None
    known_by: KnownBy = KnownBy.REGISTRATION


def unattributed(pids: tuple[int, ...] | None = None) -> Job:
    """The job of the processes that nothing is known of."""
    return Job(UNATTRIBUTED, UNATTRIBUTED, "", registered=False, pids=pids, known_by=KnownBy.NOTHING)


def dimension_value(text: str) -> str:
    """``text`` as CloudWatch takes it for a dimension: printable ASCII, not empty, no colon in front, 255 long."""
    kept = "".join(letter for letter in text if " " <= letter <= "~").strip().lstrip(":")
    return kept[:255] or UNATTRIBUTED
