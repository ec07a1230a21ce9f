"""A scenario of the backtest: what happens to jobs and machines, and what an operator would want to hear of it.

Read from YAML; minutes count from the scenario's start. The labels say what somebody on call would want, whatever the
alarms do: an incident that no alarm tells of is a miss, a page without an incident is false.
"""

from pathlib import Path
from typing import Annotated, Final, Literal, Self

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from fleet.alarms import Severity
from fleet.fleet_spec import MarketKind
from local.simulation.protocol import PhaseKind

CORPUS: Final = Path(__file__).parents[1] / "scenarios" / "corpus"
Percent = Annotated[float, Field(ge=0, le=100)]
Minute = Annotated[int, Field(ge=0)]
Index = Annotated[int, Field(ge=0)]


class ScenarioFileError(ValueError):
    """A scenario that cannot be replayed; the message is one line with the file, the path in it and the mistake."""


class _Model(BaseModel):
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


class JobPhase(_Model):
    """One stretch of a job's life on a node, from minute ``at`` to the next one. ``counts`` are what is counted a
    minute beside executions, by metric name: compile failures of the fleet, NaN losses of the job."""

    at: Minute
    kind: JobPhaseKind
    tensor_engine_percent: Percent = 0.0
    core_percent: Percent = 0.0
    counts: dict[str, float] = {}


class Job(_Model):
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


EventKind = Literal[
    "memory-error",  # an uncorrectable ECC error of a device
    "collective-timeout",  # NEURON_HW_ERR of a worker whose peer is stuck: no action on this node
    "node-gone",  # EC2 does not show it any more
    "agent-down",  # the machine runs, its agent does not
    "monitor-death",
    "monitor-garbage",
    "no-route",  # the agent works and cannot reach CloudWatch
    "draining",
    "interruption",  # EC2 announces that it takes a Spot node back
]


class NodeEvent(_Model):
    """What happens to a node's machine between two minutes; the end is the scenario's unless it is given."""

    nodes: Annotated[tuple[Index, ...], Field(min_length=1)]
    at: Minute
    until: Minute = 24 * 60
    kind: EventKind


class Fleet(_Model):
    """One fleet, as an environment file would have it. Prices are those of us-east-2."""

    purpose: Literal["training", "inference"] = "training"
    instance_type: str
    nodes: Annotated[int, Field(ge=1, le=64)]
    market: MarketKind = MarketKind.ON_DEMAND
    target_utilization_percent: Percent = 40.0
    alarms: dict[str, float] = {}
    runtimes: Annotated[int, Field(ge=1)] = 2
    jobs: tuple[Job, ...] = ()
    events: tuple[NodeEvent, ...] = ()
    block_ends_at: Minute | None = None
    recording: str | None = None
    """A file of recorded neuron-monitor lines, beside the scenario, in place of what the jobs would print."""

    def tenants(self, node: int) -> tuple[Job, ...]:
        """The jobs that this node has at some time."""
        return tuple(job for job in self.jobs if not job.nodes or node in job.nodes)

    @model_validator(mode="after")
    def _nodes_exist(self) -> Self:
        named = [node for job in self.jobs for node in (*job.nodes, *job.exceptions)]
        outside = [node for node in (*named, *(n for event in self.events for n in event.nodes)) if node >= self.nodes]
        if outside:
            raise ValueError(f"nodes: the fleet has {self.nodes}, counted from 0, so none is {outside[0]}")
        return self


class Incident(_Model):
    """What must be told: one of ``alarms``, from minute ``at`` and no later than ``by``.

    ``also`` may come along. A page for it up to ``until`` (default: the scenario's end) is not false.
    """

    fleet: str
    kind: Literal["idle", "waste", "hang", "hardware", "blind", "straggler", "compiler", "capacity", "spool"]
    severity: Severity = Severity.PAGE
    alarms: Annotated[tuple[str, ...], Field(min_length=1)]
    also: tuple[str, ...] = ()
    at: Minute
    by: Minute
    until: Minute = 24 * 60


class Scenario(_Model):
    """The whole story. ``outages`` are minutes (from, to) in which CloudWatch takes nothing from anybody."""

    name: str
    title: str
    minutes: Annotated[int, Field(ge=1, le=24 * 60)]
    seed: int = 1
    fleets: Annotated[dict[str, Fleet], Field(min_length=1)]
    outages: tuple[tuple[Minute, Minute], ...] = ()
    incidents: tuple[Incident, ...] = ()
    fast: bool = False
    """Whether it is replayed with every run of the tests."""

    @property
    def node_hours(self) -> float:
        """Virtual hours of all its nodes."""
        return sum(fleet.nodes for fleet in self.fleets.values()) * self.minutes / 60

    @model_validator(mode="after")
    def _incidents_name_fleets(self) -> Self:
        for incident in self.incidents:
            if incident.fleet not in self.fleets:
                raise ValueError(f"incidents: no fleet is called {incident.fleet}; there are {', '.join(self.fleets)}")
            if not incident.at < incident.by <= self.minutes:
                raise ValueError(f"incidents: {incident.at} < by ≤ {self.minutes}, not {incident.by}")
        return self


def load(path: Path) -> Scenario:
    """The scenario in ``path``.

    Raises:
        ScenarioFileError: No such file, not YAML, or not a scenario.
    """
    try:
        return Scenario.model_validate(yaml.safe_load(path.read_text(encoding="utf-8")))
    except OSError as error:
        raise ScenarioFileError(f"{path}: {error.strerror}") from error
    except yaml.YAMLError as error:
        raise ScenarioFileError(f"{path}: not YAML: {' '.join(str(error).split())}") from error
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise ScenarioFileError(f"{path}: {place or 'the file'}: {first['msg']}") from error
