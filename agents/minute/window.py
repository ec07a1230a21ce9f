"""One UTC minute of a node: reports go in, the figures that are published come out. None is not measured."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Literal

from agents.collectors.seen_error import SeenError
from agents.monitor.decode.report import Ecc, Report
from agents.monitor.layout import Layout
from agents.monitor.node_sample import NodeSample, of_processes

_FULL: Final = 100.0
_TERA: Final = 1e12
_PROBLEMS_KEPT: Final = 10
# Four a second, of a tool that can be asked for one: what comes beyond is not kept in memory.
_MOST_REPORTS: Final = 240
_MOST_ERRORS: Final = 1_000
_FLOOD: Final = f"more than {_MOST_REPORTS} reports in a minute; the rest is not counted"


@dataclass(frozen=True, slots=True)
class Reading:
    """One report as the minute keeps it, small enough for the journal. ``at`` is when its line came, unix seconds.

    ``report`` is without its runtimes, which ``sample`` sums up; ``errors`` are those that were new in it.
    """

    at: float
    sample: NodeSample
    errors: tuple[SeenError, ...]
    report: Report


@dataclass(frozen=True, slots=True)
class Percentages:
    """Percent by core, one value for each report; empty when nothing was measured."""

    by_core: Mapping[int, tuple[float, ...]] = field(default_factory=dict)

    def mean(self) -> float | None:
        """Over all cores and reports, capped at 100 for each."""
        values = [_FULL if value > _FULL else value for series in self.by_core.values() for value in series]
        return sum(values) / len(values) if values else None

    def whole(self) -> dict[int, int]:
        """How often each whole percent occurs. Above 100 counts as 100; ``excess`` tells of it."""
        values = (value for series in self.by_core.values() for value in series)
        counts = Counter([int((_FULL if value > _FULL else value) + 0.5) for value in values])
        return dict(sorted(counts.items()))

    def core_means(self) -> dict[int, float]:
        """Uncapped mean of each core."""
        return {core: sum(series) / len(series) for core, series in self.by_core.items()}

    def excess(self) -> str | None:
        """The worst value above 100 in words: a wrong data type or core version, or a tool's error."""
        above = [(max(series), core) for core, series in self.by_core.items() if max(series) > _FULL]
        if not above:
            return None
        value, core = max(above)
        return f"{len(above)} cores above 100 %, core {core} the most with {value:.1f} %; counted as 100"


@dataclass(frozen=True, slots=True)
class Figures:
    """What a minute comes to. ``device_bytes`` and ``core_bytes`` are each one's highest in the minute.

    ``allocated``, ``runtimes`` and ``holders`` (pids by core) are as last seen.
    ``blind_reports`` are the reasons for which single reports showed no cores; ``blind`` is set when all of them did.
    ``nothing_ran`` is whether all that said which runtimes there are said none; ``problems`` are for people.
    ``cpu_percent`` is the host's, mean.
    """

    reports: int
    blind: str | None
    blind_reports: tuple[str, ...]
    allocated: frozenset[int] | None
    utilization: Percentages
    tensor: Percentages
    flops_by_core: Mapping[int, float]
    tflops: float | None
    core_bytes: Mapping[int, int]
    device_bytes: Mapping[int, int]
    completed: int | None
    failed: int | None
    errors: Mapping[str, int]
    latency_p99: float | None
    hardware_errors: tuple[SeenError, ...]
    hardware_measured: bool
    ecc: tuple[Ecc, ...]
    runtimes: tuple[tuple[int, str], ...]
    cores_by_pid: Mapping[int, int]
    holders: Mapping[int, frozenset[int]]
    nothing_ran: bool = False
    cpu_percent: float | None = None
    problems: tuple[str, ...] = ()

    @property
    def is_held(self) -> bool:
        """Whether somebody holds cores, or may: a runtime whose memory was not read is not nobody."""
        return bool(self.runtimes) if self.allocated is None else bool(self.allocated)


class MinuteWindow:
    """Collects the reports of one minute."""

    def __init__(self) -> None:
        self._samples: list[NodeSample] = []
        self._errors: list[SeenError] = []
        self._ecc: tuple[Ecc, ...] | None = None

    def add(self, sample: NodeSample, ecc: tuple[Ecc, ...] | None, errors: Iterable[SeenError]) -> None:
        """Take in one report."""
        self._errors.extend(errors)
        del self._errors[_MOST_ERRORS:]
        if len(self._samples) >= _MOST_REPORTS:
            self._samples[-1] = replace(self._samples[-1], problems=(_FLOOD,))
            return
        self._samples.append(sample)
        self._ecc = ecc if ecc is not None else self._ecc

    @property
    def latest(self) -> NodeSample | None:
        """The last report that says which runtimes there are; None when there was none in the minute."""
        return next((sample for sample in reversed(self._samples) if sample.is_listed), None)

    @property
    def pids(self) -> frozenset[int]:
        """Processes that had a runtime at any time of the minute."""
        return frozenset(pid for sample in self._samples for pid, _ in sample.runtimes)

    def figures(self, layout: Layout, pids: frozenset[int] | None = None) -> Figures:
        """The minute so far, of all processes or of ``pids`` only."""
        samples = self._samples
        if pids is not None:
            samples = [of_processes(sample, pids, layout.cores_per_device) for sample in samples]
        # A report that does not say which runtimes there are, or whose memory was not read, has nothing new about them.
        last = next((sample for sample in reversed(samples) if sample.is_listed), NodeSample())
        held = next((sample for sample in reversed(samples) if sample.allocated is not None), NodeSample())
        flops = _series(sample.flops for sample in samples)
        totals = [sample.total_flops for sample in samples if sample.total_flops is not None]
        peak = layout.peak_flops
        return Figures(
            reports=len(samples),
            blind=samples[-1].blind if samples and all(sample.blind for sample in samples) else None,
            blind_reports=tuple(dict.fromkeys(sample.blind for sample in samples if sample.blind)),
            allocated=held.allocated,
            utilization=Percentages(_series(sample.utilization for sample in samples)),
            tensor=Percentages(_scaled(flops, _FULL / peak) if peak else {}),
            flops_by_core={core: sum(series) / len(series) for core, series in flops.items()},
            tflops=sum(totals) / len(totals) / _TERA if totals else None,
            core_bytes=_highest(sample.core_bytes for sample in samples),
            device_bytes=_highest(sample.device_bytes for sample in samples),
            completed=_sum(samples, "completed"),
            failed=_sum(samples, "failed"),
            errors=_sum_by_kind(sample.errors for sample in samples),
            latency_p99=max((s.latency_p99 for s in samples if s.latency_p99 is not None), default=None),
            hardware_errors=tuple(self._errors),
            hardware_measured=self._ecc is not None,
            ecc=self._ecc or (),
            runtimes=last.runtimes,
            cores_by_pid=last.cores_by_pid,
            holders=last.holders,
            cpu_percent=_mean([sample.cpu_percent for sample in samples if sample.cpu_percent is not None]),
            nothing_ran=last.is_listed and not any(sample.runtimes for sample in samples),
            problems=tuple(dict.fromkeys(text for sample in samples for text in sample.problems))[:_PROBLEMS_KEPT],
        )


def _series(figures: Iterable[Mapping[int, float]]) -> dict[int, tuple[float, ...]]:
    series: dict[int, list[float]] = {}
    for figure in figures:
        for core, value in figure.items():
            series.setdefault(core, []).append(value)
    return {core: tuple(values) for core, values in sorted(series.items())}


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


def _scaled(series: Mapping[int, tuple[float, ...]], factor: float) -> dict[int, tuple[float, ...]]:
    return {core: tuple(value * factor for value in values) for core, values in series.items()}


def _highest(figures: Iterable[Mapping[int, int] | None]) -> dict[int, int]:
    highest: dict[int, int] = {}
    for figure in figures:
        for index, value in (figure or {}).items():
            highest[index] = max(value, highest.get(index, value))
    return dict(sorted(highest.items()))


def _sum(samples: Iterable[NodeSample], name: Literal["completed", "failed"]) -> int | None:
    # A positive sum is progress; a zero is only known when no report's executions were unreadable.
    figures = list(samples)
    known = [count for sample in figures if (count := getattr(sample, name)) is not None]
    unread = any(sample.executions_unread for sample in figures)
    return sum(known) if known and (sum(known) > 0 or not unread) else None


def _sum_by_kind(figures: Iterable[Mapping[str, int]]) -> dict[str, int]:
    totals: Counter[str] = Counter()
    for figure in figures:
        totals.update(figure)
    return dict(totals)
