"""A scenario of the backtest: what happens to jobs and machines, and what an operator would want to hear of it.

Read from YAML; minutes count from the scenario's start. The labels say what somebody on call would want, whatever the
alarms do: an incident that no alarm tells of is a miss, a page without an incident is false.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Final, Literal, Self

from pydantic import Field, model_validator

from fleet.alarms import Severity
from fleet.fleet_spec import MarketKind
from fleet.patience import Announced
from local.replay.balancer import Answering
from local.replay.tells import TELLS, IncidentKind
from local.scenario_file import Index, Minute, Part, Percent, Phases, ScriptedPhase, read
from local.simulation.script import PhaseKind

JobPhaseKind = Literal[
    PhaseKind.NO_JOB,
    PhaseKind.STARTUP,
    PhaseKind.COMPILING,
    PhaseKind.RUNNING,
    PhaseKind.DATA_STALL,
    PhaseKind.IDLE,
    PhaseKind.HANG,
    PhaseKind.CHECKPOINT,
    PhaseKind.HOST_WORK,
    PhaseKind.FETCHING,
    PhaseKind.WAITING,
]


class JobPhase(ScriptedPhase):
    """One stretch of a job's life on a node, from minute ``at`` to the next one. ``counts`` are what is counted a
    minute beside executions, by metric name: compile failures of the fleet, NaN losses of the job. ``announces`` is
    what the job itself says that it does, such as validation, and may take ``patience_minutes``; None where it says
    nothing, but that a checkpoint is announced unless it is ``silent``."""

    kind: JobPhaseKind
    announces: Literal["checkpoint", "validation", "evaluation", "data-preparation", "rollout", "waiting"] | None = None
    counts: dict[str, float] = Field(default_factory=dict)
    patience_minutes: Annotated[float, Field(ge=0)] | None = None
    silent: bool = False

    @property
    def announced(self) -> Announced | None:
        """The phase that the job announces."""
        name = self.announces or ("checkpoint" if self.kind is PhaseKind.CHECKPOINT and not self.silent else None)
        return None if name is None else Announced(name, self.patience_minutes)


class Job(Phases[JobPhase]):
    """One job on ``nodes`` (default: all)."""

    id: str
    owner: str = "research"
    nodes: tuple[Index, ...] = ()


CORPUS: Final = Path(__file__).parents[1] / "scenarios" / "corpus"

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


class NodeEvent(Part):
    """What happens to a node's machine between two minutes; the end is the scenario's unless it is given."""

    nodes: Annotated[tuple[Index, ...], Field(min_length=1)]
    at: Minute
    until: Minute = 24 * 60
    kind: EventKind


class Fleet(Part):
    """One fleet, as an environment file would have it. Prices are those of us-east-2."""

    purpose: Literal["training", "inference"] = "training"
    instance_type: str
    nodes: Annotated[int, Field(ge=1, le=64)]
    market: MarketKind = MarketKind.ON_DEMAND
    target_utilization_percent: Percent = 40.0
    alarms: dict[str, float] = Field(default_factory=dict)
    runtimes: Annotated[int, Field(ge=1)] = 2
    jobs: tuple[Job, ...] = ()
    events: tuple[NodeEvent, ...] = ()
    block_ends_at: Minute | None = None
    endpoint: tuple[Answering, ...] = ()
    """What its load balancer sees, stretch by stretch; none has no endpoint's alarms."""
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


class Incident(Part):
    """What must be told: one of ``alarms``, from minute ``at`` and no later than ``by``.

    ``also`` may come along. Without ``alarms`` both are those that tell of its ``kind``. A page for it up to ``until``
    (default: the scenario's end) is not false. What is ``optional`` may be told and need not be. ``usd_per_hour`` is
    what it burns while nobody acts; ``job`` and ``nodes`` say where it is.
    """

    fleet: str
    kind: IncidentKind
    severity: Severity = Severity.PAGE
    alarms: tuple[str, ...] = ()
    also: tuple[str, ...] = ()
    optional: bool = False
    usd_per_hour: Annotated[float, Field(ge=0)] | None = None
    job: str | None = None
    nodes: tuple[Index, ...] = ()
    at: Minute
    by: Minute
    until: Minute = 24 * 60

    @model_validator(mode="before")
    @classmethod
    def _its_kind_says_who_tells(cls, given: object) -> object:
        if not isinstance(given, dict) or given.get("alarms") or given.get("kind") not in TELLS:
            return given
        tells = TELLS[given["kind"]]
        return {**given, "alarms": tells.alarms, "also": (*tells.also, *given.get("also", ()))}


class Change(Part):
    """A deployment or a rollout of the environment, in the minutes from ``at`` up to ``until``."""

    kind: Literal["deployment", "rollout"]
    at: Minute
    until: Minute


class Maintenance(Part):
    """A planned window, as an environment file would have it: alarms of ``fleets`` (default: all) tell nobody."""

    at: Minute
    until: Minute
    fleets: tuple[str, ...] = ()


class Scenario(Part):
    """The whole of it. ``outages`` are minutes (from, to) in which CloudWatch takes nothing from anybody."""

    name: str
    title: str
    minutes: Annotated[int, Field(ge=1, le=24 * 60)]
    seed: int = 1
    fleets: Annotated[dict[str, Fleet], Field(min_length=1)]
    outages: tuple[tuple[Minute, Minute], ...] = ()
    changes: tuple[Change, ...] = ()
    maintenance: tuple[Maintenance, ...] = ()
    incidents: tuple[Incident, ...] = ()
    fast: bool = False
    """Whether it is replayed with every run of the tests."""

    @property
    def node_hours(self) -> float:
        """Virtual hours of all its nodes."""
        return sum(fleet.nodes for fleet in self.fleets.values()) * self.minutes / 60

    @model_validator(mode="after")
    def _what_happens_has_a_place_and_an_end(self) -> Self:
        for where, name in self._named_fleets():
            if name not in self.fleets:
                raise ValueError(f"{where}: no fleet is called {name}; there are {', '.join(self.fleets)}")
        spans = (("changes", self.changes), ("maintenance", self.maintenance))
        for where, at, until in ((where, each.at, each.until) for where, spells in spans for each in spells):
            if not at < until:
                raise ValueError(f"{where}: until is after at, {at}, and not {until}")
        for incident in self.incidents:
            if not incident.at < incident.by <= self.minutes:
                raise ValueError(f"incidents: {incident.at} < by ≤ {self.minutes}, not {incident.by}")
        return self

    def _named_fleets(self) -> Iterator[tuple[str, str]]:
        yield from (("incidents", incident.fleet) for incident in self.incidents)
        yield from (("maintenance", name) for window in self.maintenance for name in window.fleets)


def load(path: Path) -> Scenario:
    """The scenario in ``path``.

    Raises:
        ScenarioFileError: No such file, not YAML, or not a scenario.
    """
    return read(path, Scenario)
