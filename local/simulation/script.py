"""The model of a simulated node: what it is, which job it has, and what it goes through, phase by phase.

Simulation, replay and training run all make their nodes from it, and one stand-in for neuron-monitor reads it. Loads no
agent.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

import msgspec


class PhaseKind(StrEnum):
    """What a node goes through, as its own hardware and processes would show it."""

    NO_JOB = "no_job"
    STARTUP = "startup"
    COMPILING = "compiling"
    RUNNING = "running"
    DATA_STALL = "data_stall"
    IDLE = "idle"
    HANG = "hang"
    CHECKPOINT = "checkpoint"
    HOST_WORK = "host_work"  # the job works on the CPUs and holds its cores: validation, rollouts, tokenizing
    FETCHING = "fetching"  # it waits for storage and holds its cores
    WAITING = "waiting"  # it waits for a peer, on spinning cores or on resting ones
    HARDWARE_ERROR = "hardware_error"
    MONITOR_DEATH = "monitor_death"
    MONITOR_HANG = "monitor_hang"
    MONITOR_GARBAGE = "monitor_garbage"


EXECUTING: Final = frozenset(
    {
        PhaseKind.RUNNING,
        PhaseKind.DATA_STALL,
        PhaseKind.MONITOR_DEATH,
        PhaseKind.MONITOR_HANG,
        PhaseKind.MONITOR_GARBAGE,
    }
)
"""Phases in which graphs are executed, seen or unseen."""
# What is looked at when a minute ends is that minute's: a phase that begins at that very second is not.
_CHANGE_SECONDS: Final = 1.0


class Phase(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One stretch of a node's script. ``start`` is virtual unix seconds, percentages are of one core."""

    start: float
    kind: PhaseKind
    tensor_engine_percent: float
    core_percent: float
    device: int = 0


class Script(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """All that the stand-in needs to know of its node.

    ``neighbors`` are the phases of further jobs on the node: all jobs have an equal share of its runtimes and cores.
    """

    node: str
    instance_type: str
    availability_zone: str
    availability_zone_id: str
    region: str
    lnc: int
    dtype: str
    runtimes: int
    seed: int
    phases: tuple[Phase, ...]
    neighbors: tuple[tuple[Phase, ...], ...] = ()

    def phase_at(self, now: float) -> Phase:
        """The phase that virtual second ``now`` lies in."""
        return _at(self.phases, now)

    def phase_before(self, now: float) -> Phase:
        """The phase of the time that ends at virtual second ``now``."""
        return self.phase_at(now - _CHANGE_SECONDS)

    def all_phases_at(self, now: float) -> tuple[Phase, ...]:
        """The phase of every job on the node, the first job's first."""
        return tuple(_at(phases, now) for phases in (self.phases, *self.neighbors))


def _at(phases: tuple[Phase, ...], now: float) -> Phase:
    current = phases[0]
    for phase in phases:
        if phase.start <= now:
            current = phase
    return current


@dataclass(frozen=True, slots=True)
class JobRegistration:
    """What the job's launcher writes into the agent's run directory."""

    job_id: str
    name: str
    owner: str


class FleetPart(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """``requests_per_minute`` are this node's own, None where the fleet trains; ``efa_devices`` is 0 without EFA."""

    index: int = 0
    nodes: int = 1
    requests_per_minute: float | None = None
    efa_devices: int = 0


class NodeSpec(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the coordinator tells a node: its place in the environment, its machine's directory, its script."""

    environment: str
    fleet: str
    root: str
    start: float
    script: Script
    job: JobRegistration | None
    part: FleetPart = FleetPart()
