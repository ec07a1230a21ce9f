"""Who saves together, in which run and how: what a training script decides once."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from fleet.checkpoints.layout import check_run
from fleet.checkpoints.retention import Retention
from fleet.checkpoints.schedule import Schedule
from workload.errors import CheckpointError


@dataclass(frozen=True, slots=True)
class Member:
    """This process among those that save together. ``run`` is the same on every rank and differs at every start."""

    run: str
    rank: int
    world_size: int
    job: str = ""
    """The job as the scheduler names it, for the agent; empty: the agent finds it by itself, where it is alone."""

    def __post_init__(self) -> None:
        """Refuse a rank that is not one of the world's."""
        if not 0 <= self.rank < self.world_size:
            raise ValueError(f"rank {self.rank} is not one of {self.world_size}")


@dataclass(frozen=True, slots=True)
class Habits:
    """When to save and what to keep; times in seconds. ``retention`` None: nothing is ever deleted."""

    schedule: Schedule = field(default_factory=Schedule)
    retention: Retention | None = field(default_factory=Retention)
    look_seconds: float = 10.0
    """Between two looks for orders. Each is one read by every rank."""
    ahead_seconds: float = 30.0
    """How far ahead a save is ordered: longer than any rank takes to learn of it. On EFS and NFS add their cache's
    time, 60 seconds unless mounted otherwise."""
    complete_seconds: float = 900.0
    """How long rank 0 waits, when the job ends, for the other ranks' parts: AWS Batch ends a multi-node job with its
    main node."""
    failures: int = 3
    """Saves in a row that the store may refuse before training is told; the last one before the end never may."""


@dataclass(frozen=True, slots=True)
class Resumed:
    """What to load: this rank's files of ``step``. Training goes on with the step after it."""

    step: int
    directory: Path


def run_name(environment: Mapping[str, str]) -> str:
    """From what AWS Batch, Slurm or torchrun tell a process; ``NEURON_FLEET_RUN`` comes before them.

    A multi-node job's id ends in ``#<node>``, which is cut off; attempts and restarts count, because the parts of a
    save that was cut off must not be taken for those of its repetition.

    Raises:
        CheckpointError: none of them says anything.
        RunNameError: the name cannot be part of a key.
    """
    said = environment.get("NEURON_FLEET_RUN", "") or _of_scheduler(environment)
    if not said:
        raise CheckpointError(
            "no scheduler says which run this is: set NEURON_FLEET_RUN to a name that is the same on every rank and "
            "another one at every start"
        )
    restarts = environment.get("TORCHELASTIC_RESTART_COUNT", "0")
    run = said if restarts == "0" else f"{said}.t{restarts}"
    check_run(run)
    return run


def _of_scheduler(environment: Mapping[str, str]) -> str:
    if batch := environment.get("AWS_BATCH_JOB_ID"):
        job = batch.partition("#")[0].replace(":", "-")
        return f"{job}.{environment.get('AWS_BATCH_JOB_ATTEMPT', '1')}"
    if slurm := environment.get("SLURM_JOB_ID"):
        return f"{slurm}.{environment.get('SLURM_STEP_ID', '0')}.{environment.get('SLURM_RESTART_COUNT', '0')}"
    return ""
