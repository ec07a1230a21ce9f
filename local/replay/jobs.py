"""What a scenario's jobs go through, phase by phase, on each node that they run on."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from local.phases import check_phases, phases_of_node
from local.scenario_file import Minute, Part, Percent
from local.simulation.protocol import PhaseKind

Index = Annotated[int, Field(ge=0)]
"""A node's number in its fleet."""

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
    counts: dict[str, float] = Field(default_factory=dict)


class Job(Part):
    """One job on ``nodes`` (default: all). ``exceptions`` replace, for a node, the phases from their first one on."""

    id: str
    owner: str = "research"
    nodes: tuple[Index, ...] = ()
    phases: Annotated[tuple[JobPhase, ...], Field(min_length=1)]
    exceptions: dict[int, tuple[JobPhase, ...]] = Field(default_factory=dict)

    def phases_of(self, node: int) -> tuple[JobPhase, ...]:
        """What the job goes through on ``node``."""
        return phases_of_node(self.phases, self.exceptions, node)

    @model_validator(mode="after")
    def _phases_are_in_order(self) -> Self:
        check_phases(self.phases, self.exceptions)
        return self
