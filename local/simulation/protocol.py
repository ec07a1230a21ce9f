"""What a simulated node and its stand-in neuron-monitor say to each other over a Unix socket.

One JSON object a line. The stand-in greets, the node answers with the script; after that every command of the node
gets exactly one answer, so that the node knows how many lines to wait for before virtual time may go on.
"""

import socket
from enum import StrEnum
from typing import Final

import msgspec

SOCKET_VARIABLE: Final = "NEURON_SIMULATION_SOCKET"


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


class Hello(msgspec.Struct, frozen=True):
    """The stand-in's first words: its process and the period its configuration asks for (None: it never prints)."""

    pid: int
    period_seconds: float | None


class Command(msgspec.Struct, frozen=True, omit_defaults=True):
    """Virtual time is ``now``; print what is due if ``emit``, else only show that you are alive.

    ``script``: what the node goes through from here on, where that has changed.
    """

    now: float
    emit: bool
    script: Script | None = None


class Answer(msgspec.Struct, frozen=True):
    """How many lines the stand-in printed for the command. Its death is the end of the connection."""

    lines: int


def send(connection: socket.socket, message: msgspec.Struct) -> None:
    """Write one message."""
    connection.sendall(msgspec.json.encode(message) + b"\n")
