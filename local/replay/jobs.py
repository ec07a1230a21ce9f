"""What a scenario's jobs go through, phase by phase, on each node that they run on."""

from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from local.simulation.protocol import PhaseKind

Percent = Annotated[float, Field(ge=0, le=100)]
Minute = Annotated[int, Field(ge=0)]
"""Counted from the scenario's start."""
Index = Annotated[int, Field(ge=0)]
"""A node's number in its fleet."""


class Part(BaseModel):
    """A part of a scenario's file: what is not known in it is a mistake."""

    model_config = ConfigDict(frozen=True, extra="forbid")


JobPhaseKind = Literal[
    PhaseKind.NO_JOB,
    PhaseKind.STARTUP,
    PhaseKind.COMPILING,
    PhaseKind.RUNNING,
    PhaseKind.DATA_STALL,
    PhaseKind.IDLE,
    PhaseKind.HANG,
    PhaseKind.CHECKPOINT,
]


class JobPhase(Part):
    """One stretch of a job's life on a node, from minute ``at`` to the next one. ``counts`` are what is counted a
    minute beside executions, by metric name: compile failures of the fleet, NaN losses of the job."""

    at: Minute
    kind: JobPhaseKind
    tensor_engine_percent: Percent = 0.0
    core_percent: Percent = 0.0
    counts: dict[str, float] = {}


class Job(Part):
    """One job on ``nodes`` (default: all). ``exceptions`` replace, for a node, the phases from their first one on."""

    id: str
    owner: str = "research"
    nodes: tuple[Index, ...] = ()
    phases: Annotated[tuple[JobPhase, ...], Field(min_length=1)]
    exceptions: dict[int, tuple[JobPhase, ...]] = {}

    def phases_of(self, node: int) -> tuple[JobPhase, ...]:
        """What the job goes through on ``node``."""
        exception = self.exceptions.get(node, ())
        if not exception:
            return self.phases
        return (*(phase for phase in self.phases if phase.at < exception[0].at), *exception)

    @model_validator(mode="after")
    def _phases_are_in_order(self) -> Self:
        if self.phases[0].at != 0:
            raise ValueError(f"phases[0].at: the first phase starts at minute 0, not {self.phases[0].at}")
        for phases in (self.phases, *self.exceptions.values()):
            minutes = [phase.at for phase in phases]
            if minutes != sorted(set(minutes)):
                raise ValueError(f"phases: each starts after the one before, not at minutes {minutes}")
        return self
