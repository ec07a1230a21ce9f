"""How far a job that was submitted is: its nodes and attempts, what they cost so far, and what is still to come."""

from dataclasses import dataclass
from datetime import datetime
from math import ceil
from statistics import median

from fleet.fleet_spec import FleetSpec
from fleet.instances import Price
from fleet.jobs.forecast import Basis, Forecast, Throughput, to_come, usd_so_far
from fleet.jobs.job import Job

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
