"""What the ranks of each job reported in a minute, and what it comes to.

Several ranks report on one node. Work adds up: tokens and samples are sums over ranks, so each must report its own.
The loss is the mean over ranks of each one's last finite value: equal where it was averaged over the job before, and
the mean over the local batches where it was not. A loss that is not finite counts once, however many ranks report it.
"""

import math
from dataclasses import dataclass, field
from typing import Final

from agents.collectors.collector import WorkloadReport
from agents.collectors.workload.statsd import Sample
from agents.errors import TooManyError
from fleet import metrics
from fleet.metrics import MetricSpec

LARGEST_JOBS: Final = 16
LARGEST_RANKS: Final = 256


@dataclass(slots=True)
class _Mean:
    total: float = 0.0
    count: int = 0
    most: float = 0.0

    def add(self, value: float) -> None:
        self.total, self.count, self.most = self.total + value, self.count + 1, max(self.most, value)

    def value(self) -> float:
        return self.total / self.count


@dataclass(slots=True)
class _Rank:
    counters: dict[str, float] = field(default_factory=dict)
    rates: dict[str, _Mean] = field(default_factory=dict)
    loss: float | None = None
    has_loss: bool = False
    bad_losses: int = 0
    step: float | None = None
    step_seconds: _Mean = field(default_factory=_Mean)
    in_flight: _Mean = field(default_factory=_Mean)
    queue_seconds: _Mean = field(default_factory=_Mean)

    @property
    def _means(self) -> dict[str, _Mean]:
        return {
            "step_seconds": self.step_seconds,
            "requests_in_flight": self.in_flight,
            "queue_seconds": self.queue_seconds,
        }

    def take(self, name: str, value: float) -> None:
        if name in {"tokens", "samples"}:
            self.counters[name] = self.counters.get(name, 0.0) + value
        elif name in {"tokens_per_second", "samples_per_second"}:
            self.rates.setdefault(name, _Mean()).add(value)
        elif name == "loss":
            self.has_loss = True
            if math.isfinite(value):
                self.loss = value
            else:
                self.bad_losses += 1
        elif name == "step":
            self.step = value
        elif name in self._means:
            self._means[name].add(value)


class Work:
    """One minute's reports, bounded in jobs and ranks."""

    def __init__(self) -> None:
        self._jobs: dict[str, dict[str, _Rank]] = {}

    def add(self, sample: Sample) -> None:
        """Take in one line.

        Raises:
            TooManyError: one job or rank too many; the line is lost.
        """
        ranks = self._jobs.get(sample.job)
        if ranks is None:
            if len(self._jobs) >= LARGEST_JOBS:
                raise TooManyError(f"more than {LARGEST_JOBS} jobs")
            ranks = self._jobs[sample.job] = {}
        rank = ranks.get(sample.rank)
        if rank is None:
            if len(ranks) >= LARGEST_RANKS:
                raise TooManyError(f"more than {LARGEST_RANKS} ranks")
            rank = ranks[sample.rank] = _Rank()
        for value in sample.values:
            rank.take(sample.name, value)

    def figures(self, seconds: float | None) -> dict[str, dict[MetricSpec, float]]:
        """Metrics by job; counters need to know how many ``seconds`` they cover, and are left out without."""
        found = {job: _figures(tuple(ranks.values()), seconds) for job, ranks in self._jobs.items()}
        return {job: figures for job, figures in found.items() if figures}

    def reports(self) -> tuple[WorkloadReport, ...]:
        """Steps, their duration and the load, by job."""
        return tuple(_report(job, tuple(ranks.values())) for job, ranks in sorted(self._jobs.items()))


def _figures(ranks: tuple[_Rank, ...], seconds: float | None) -> dict[MetricSpec, float]:
    found: dict[MetricSpec, float] = {}
    for counter, spec in (("tokens", metrics.TOKENS_PER_SECOND), ("samples", metrics.SAMPLES_PER_SECOND)):
        rate = _rate(ranks, counter, seconds)
        if rate is not None:
            found[spec] = rate
    losses = [rank.loss for rank in ranks if rank.loss is not None]
    if losses:
        found[metrics.TRAINING_LOSS] = math.fsum(loss / len(losses) for loss in losses)
    if any(rank.has_loss for rank in ranks):
        found[metrics.NON_FINITE_LOSS] = max(rank.bad_losses for rank in ranks)
    return found


def _rate(ranks: tuple[_Rank, ...], counter: str, seconds: float | None) -> float | None:
    counts = [rank.counters[counter] for rank in ranks if counter in rank.counters]
    if counts:
        # Who reports both means the same work twice.
        return sum(counts) / seconds if seconds else None
    rates = [rank.rates[f"{counter}_per_second"].value() for rank in ranks if f"{counter}_per_second" in rank.rates]
    return sum(rates) if rates else None


def _report(job: str, ranks: tuple[_Rank, ...]) -> WorkloadReport:
    step_mean, step_max = _timed([rank.step_seconds for rank in ranks])
    queue_mean, queue_max = _timed([rank.queue_seconds for rank in ranks])
    # Processes serve beside each other, so what they have in flight adds up; each says its own mean of the minute.
    loaded = [rank.in_flight for rank in ranks if rank.in_flight.count]
    return WorkloadReport(
        job=job,
        ranks=len(ranks),
        step=max((int(rank.step) for rank in ranks if rank.step is not None), default=None),
        step_seconds_mean=step_mean,
        step_seconds_max=step_max,
        queue_seconds_mean=queue_mean,
        queue_seconds_max=queue_max,
        requests_in_flight_mean=round(sum(each.value() for each in loaded), 2) if loaded else None,
        requests_in_flight_max=round(sum(each.most for each in loaded), 2) if loaded else None,
    )


def _timed(timings: list[_Mean]) -> tuple[float, float] | tuple[None, None]:
    timed = [each for each in timings if each.count]
    if not timed:
        return None, None
    mean = sum(each.total for each in timed) / sum(each.count for each in timed)
    return round(mean, 4), round(max(each.most for each in timed), 4)
