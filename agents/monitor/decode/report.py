"""One line of neuron-monitor as typed values, in which None and a missing key mean not measured."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CoreRates:
    """Core counters of one runtime over ``seconds`` (None: not said). Percent, and FLOP/s where the tool has it."""

    seconds: float | None
    utilization: Mapping[int, float]
    flops: Mapping[int, float]


@dataclass(frozen=True, slots=True)
class CoreBytes:
    """Device memory of one runtime by core. ``holds`` are the cores on which it keeps data of its own."""

    total: Mapping[int, int]
    holds: frozenset[int]


@dataclass(frozen=True, slots=True)
class Executions:
    """Graph executions of one runtime over ``seconds``; ``errors`` by kind, latency in seconds on the device."""

    seconds: float | None
    completed: int | None
    failed: int | None
    errors: Mapping[str, int]
    latency_p99: float | None


@dataclass(frozen=True, slots=True)
class Runtime:
    """One Neuron process. The tag repeats across containers, so the identity needs the host's pid too; 0 is not said.

    ``unread`` says why its core counters could not be read; it is None when they were, or were not due.
    ``executions_unread`` is the same for what it executed, without the reason.
    """

    pid: int
    tag: str
    rates: CoreRates | None
    memory: CoreBytes | None
    executions: Executions | None
    unread: str | None = None
    executions_unread: bool = False

    @property
    def identity(self) -> tuple[int, str]:
        """What tells two runtimes apart."""
        return (self.pid, self.tag)


@dataclass(frozen=True, slots=True)
class Ecc:
    """Error counters of one device by name, as reported; whether per period or cumulative is not documented."""

    device: int
    counters: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Hardware:
    """The devices as the tool sees them; None is not said. ``error`` means no driver."""

    device_type: str | None = None
    core_version: str | None = None
    devices: int | None = None
    device_bytes: int | None = None
    cores_per_device: int | None = None
    lnc: int | None = None
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Report:
    """One line. ``runtimes`` is None when the line does not say, which is not the same as none running.

    ``cpu_percent`` is how much of their time the host's CPUs worked or waited for a disk; ``oddities`` are
    figures that cannot be and were left out, in words.
    """

    runtimes: tuple[Runtime, ...] | None
    ecc: tuple[Ecc, ...] | None
    hardware: Hardware
    instance_id: str | None
    instance_type: str | None
    availability_zone: str | None
    cpu_percent: float | None = None
    oddities: tuple[str, ...] = ()
