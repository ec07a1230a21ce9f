"""What a run of a load tool comes to: latencies, throughput, tokens, and what a million of them cost.

A latency is counted from when its request was due and not from when it could be sent: with a fixed rate, an endpoint
that stands still for a second is late for all requests of that second, and not for the one that it held.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Final

from fleet import FleetError

SECONDS_PER_HOUR: Final = 3600.0
PERCENTILES: Final = (50, 95, 99)


class MeasurementError(FleetError, ValueError):
    """Nothing can be said of the run; the message says why."""


@dataclass(frozen=True, slots=True)
class Sample:
    """One request: when it was ``due`` and ``ended``, seconds of one monotonic clock; ``error`` is empty if answered.

    ``tokens_in`` were read and ``tokens_out`` generated, as the endpoint says.
    """

    due: float
    ended: float
    error: str = ""
    tokens_in: int = 0
    tokens_out: int = 0

    @property
    def seconds(self) -> float:
        """How long whoever asked has waited."""
        return self.ended - self.due


@dataclass(frozen=True, slots=True)
class Measurement:
    """Rates are of answers that came in the window; latencies of requests that were due in it, and were answered."""

    seconds: float
    answered: int
    errors: Mapping[str, int]
    latency_seconds: Mapping[str, float]
    requests_per_second: float
    tokens_in_per_second: float
    tokens_out_per_second: float

    @property
    def tokens_per_second(self) -> float:
        """What is sold: generated tokens, and those that were read where none are generated."""
        return self.tokens_out_per_second or self.tokens_in_per_second


@dataclass(frozen=True, slots=True)
class Second:
    """One second of the run, for a plot. Latencies in seconds; None where nothing was answered."""

    at: int
    requests: int
    errors: int
    p50: float | None
    p99: float | None


def measure(samples: Sequence[Sample], begin: float, end: float) -> Measurement:
    """The window from ``begin`` to ``end``, seconds of the samples' clock.

    Raises:
        MeasurementError: nothing was answered in it.
    """
    due = [sample for sample in samples if begin <= sample.due < end]
    ended = [sample for sample in samples if begin <= sample.ended < end and not sample.error]
    latencies = sorted(sample.seconds for sample in due if not sample.error)
    errors = Counter(sample.error for sample in due if sample.error)
    if not latencies or not ended:
        why = ", ".join(f"{kind}: {count}" for kind, count in errors.most_common(3)) or "no request was made"
        raise MeasurementError(f"nothing was answered in {end - begin:g} s ({why})")
    seconds = end - begin
    return Measurement(
        seconds=seconds,
        answered=len(ended),
        errors=dict(errors),
        latency_seconds={
            **{f"p{percent}": percentile(latencies, percent) for percent in PERCENTILES},
            "mean": sum(latencies) / len(latencies),
            "max": latencies[-1],
        },
        requests_per_second=len(ended) / seconds,
        tokens_in_per_second=sum(sample.tokens_in for sample in ended) / seconds,
        tokens_out_per_second=sum(sample.tokens_out for sample in ended) / seconds,
    )


def percentile(rising: Sequence[float], percent: float) -> float:
    """The smallest value that so many percent of the values do not exceed: one that was measured, not one between."""
    return rising[max(0, ceil(round(percent / 100 * len(rising), 9)) - 1)]


def by_second(samples: Sequence[Sample], begin: float, end: float) -> list[Second]:
    """The window in seconds, by when answers came."""
    # Rounded first: the end may be a hair later than whole seconds, and the plot would end in an empty one.
    count = ceil(round(end - begin, 6))
    groups: dict[int, list[Sample]] = {at: [] for at in range(count)}
    for sample in samples:
        if begin <= sample.ended < end:
            groups[min(int(sample.ended - begin), count - 1)].append(sample)
    return [_second(at, group) for at, group in groups.items()]


def usd_per_million_tokens(measurement: Measurement, usd_per_hour: float) -> float | None:
    """At ``usd_per_hour`` for all that served; None where the endpoint reports no tokens."""
    rate = measurement.tokens_per_second
    return usd_per_hour / (rate * SECONDS_PER_HOUR) * 1e6 if rate else None


def _second(at: int, group: Sequence[Sample]) -> Second:
    latencies = sorted(sample.seconds for sample in group if not sample.error)
    return Second(
        at=at,
        requests=len(latencies),
        errors=len(group) - len(latencies),
        p50=percentile(latencies, 50) if latencies else None,
        p99=percentile(latencies, 99) if latencies else None,
    )
