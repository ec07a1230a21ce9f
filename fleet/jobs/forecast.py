"""Hours and dollars of a job, before it starts and while it runs: what it cost so far, and what is still to come.

Every figure says whether its pace was measured.
"""

from dataclasses import dataclass
from datetime import datetime
from math import ceil
from statistics import median

from fleet.fleet_spec import FleetSpec
from fleet.instances import InstanceType, Price, tensor_engine_peak_flops
from fleet.jobs.job import Job
from fleet.prices import price_of
from fleet.string_enum import StringEnum

# Forward and backward pass of a dense transformer, per parameter and token, without attention and recomputation
# (Kaplan et al., "Scaling Laws for Neural Language Models", 2020, section 2.1).
FLOPS_PER_PARAMETER_AND_TOKEN = 6


class Basis(StringEnum):
    """Where a pace comes from."""

    MEASURED = "measured"
    ASSUMED = "assumed"


@dataclass(frozen=True, slots=True)
class Throughput:
    """Tokens a second of the whole job, and in one line where that comes from."""

    tokens_per_second: float
    basis: Basis
    source: str

    def __post_init__(self) -> None:
        """Refuse a pace at which nothing is ever done."""
        if not 0 < self.tokens_per_second < float("inf"):
            raise ValueError(f"tokens_per_second is {self.tokens_per_second}: use a positive, finite number")


@dataclass(frozen=True, slots=True)
class Forecast:
    """``usd`` and ``usd_per_hour`` are None where the price is not known: an unknown price is never guessed.

    Hours are those of steps: starts, compilation, saves and what an interruption makes undone come on top.
    """

    hours: float
    node_hours: float
    throughput: Throughput
    price: Price | None
    usd_per_hour: float | None
    usd: float | None


def forecast(job: Job, spec: FleetSpec, throughput: Throughput) -> Forecast | None:
    """What is left of ``job`` from its first token; None: nobody said how many tokens it wants."""
    if job.tokens_wanted is None:
        return None
    return to_come(job, spec, throughput, tokens_done=0.0)


def to_come(job: Job, spec: FleetSpec, throughput: Throughput, *, tokens_done: float) -> Forecast:
    """What is left after ``tokens_done``; nothing is, when more was done than wanted.

    Raises:
        ValueError: nobody said how many tokens the job wants.
    """
    if job.tokens_wanted is None:
        raise ValueError(f"job {job.name}: tokens_wanted is not set")
    hours = max(0.0, job.tokens_wanted - tokens_done) / throughput.tokens_per_second / 3600
    price = price_of(spec)
    usd_per_hour = None if price is None else price.usd_per_hour * job.nodes
    return Forecast(
        hours=hours,
        node_hours=hours * job.nodes,
        throughput=throughput,
        price=price,
        usd_per_hour=usd_per_hour,
        usd=None if usd_per_hour is None else hours * usd_per_hour,
    )


def usd_so_far(node_minutes: int, price: Price) -> float:
    """USD for the minutes that nodes were held by a job, to the cent. A started minute is a minute.

    A Capacity Block was paid for before: then this is the share of its price that the job used.
    """
    return round(node_minutes * price.usd_per_hour / 60, 2)


def assumed_throughput(
    known: InstanceType, nodes: float, *, parameters: float, utilization_percent: float, dtype: str = "bf16"
) -> Throughput | None:
    """The pace of a dense transformer whose tensor engines are used to ``utilization_percent``.

    ``nodes`` has a fraction where the job uses a part of each node's cores only.

    None where the type's peak for ``dtype`` is not documented. It is an assumption, and says so.
    """
    version = known.accelerator.neuroncore_version
    peak = None if version is None else tensor_engine_peak_flops(version, dtype, 1)
    if peak is None:
        return None
    flops = nodes * known.physical_cores * peak * utilization_percent / 100
    return Throughput(
        flops / (FLOPS_PER_PARAMETER_AND_TOKEN * parameters),
        Basis.ASSUMED,
        f"{utilization_percent:g} % of the tensor engines' {dtype} peak, 6 FLOPs per parameter and token",
    )


ACTIVE = ("SUBMITTED", "PENDING", "RUNNABLE", "STARTING", "RUNNING")
ENDED = ("SUCCEEDED", "FAILED")


@dataclass(frozen=True, slots=True)
class Attempt:
    """One start of one node's container, as Batch tells it; times are UTC."""

    started: datetime | None
    stopped: datetime | None
    exit_code: int | None = None
    reason: str = ""
    log_stream: str = ""

    def minutes(self, now: datetime) -> int:
        """A started minute is a minute; one that never started took none."""
        if self.started is None:
            return 0
        return max(0, ceil(((self.stopped or now) - self.started).total_seconds() / 60))


@dataclass(frozen=True, slots=True)
class NodeRun:
    """One node of a job. ``attempts`` are in their order, and the last may still run."""

    index: int
    status: str
    reason: str
    attempts: tuple[Attempt, ...]
    container_instance: str = ""

    @property
    def log_stream(self) -> str:
        """Of its newest attempt that has one; empty: it wrote nothing yet."""
        return next((each.log_stream for each in reversed(self.attempts) if each.log_stream), "")

    def minutes(self, now: datetime) -> int:
        """Minutes that its containers ran."""
        return sum(each.minutes(now) for each in self.attempts)


@dataclass(frozen=True, slots=True)
class Pace:
    """What the job's nodes reported. ``by_minute`` are tokens a second of all nodes together, the newest last."""

    by_minute: tuple[float, ...]
    tokens_done: float | None
    tensor_engine_percent: float | None

    @property
    def tokens_per_second(self) -> float | None:
        """The median: a batch that was sent twice counts double in its minute, and no other one does."""
        return median(self.by_minute) if self.by_minute else None


@dataclass(frozen=True, slots=True)
class Money:
    """None where a price, a pace or the tokens wanted are not known."""

    node_minutes: int
    usd_so_far: float | None
    to_come: Forecast | None


def money(
    job: Job, spec: FleetSpec, nodes: tuple[NodeRun, ...], pace: Pace, price: Price | None, now: datetime
) -> Money:
    """Containers' minutes at the price of their nodes, and what the measured pace leaves to do."""
    minutes = sum(node.minutes(now) for node in nodes)
    rate, wanted = pace.tokens_per_second, job.tokens_wanted
    left = None
    if rate and wanted is not None and pace.tokens_done is not None:
        measured = Throughput(rate, Basis.MEASURED, f"median of the last {len(pace.by_minute)} minutes")
        left = to_come(job, spec, measured, tokens_done=pace.tokens_done)
    return Money(minutes, None if price is None else usd_so_far(minutes, price), left)
