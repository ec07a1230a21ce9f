"""One UTC minute of a node: reports go in, the figures that are published come out. None is not measured."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from agents.collectors.layout import Layout
from agents.collectors.neuron_monitor import NodeSample
from agents.collectors.process_share import of_processes
from agents.collectors.seen_error import SeenError
from agents.monitor.report import Ecc

_FULL: Final = 100.0
_TERA: Final = 1e12


@dataclass(frozen=True, slots=True)
class Percentages:
    """Percent by core, one value for each report; empty when nothing was measured."""

    by_core: Mapping[int, tuple[float, ...]] = field(default_factory=dict)

    def mean(self) -> float | None:
        """Over all cores and reports, capped at 100 for each."""
        values = [min(value, _FULL) for series in self.by_core.values() for value in series]
        return sum(values) / len(values) if values else None

    def whole(self) -> dict[int, int]:
        """How often each whole percent occurs. Above 100 counts as 100; ``excess`` tells of it."""
        counts = Counter(int(min(value, _FULL) + 0.5) for series in self.by_core.values() for value in series)
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


class Minute:
    """Collects the reports of one minute."""

    def __init__(self) -> None:
        self._samples: list[NodeSample] = []
        self._errors: list[SeenError] = []
        self._ecc: tuple[Ecc, ...] | None = None
        self.unreadable = 0

    def add(self, sample: NodeSample, ecc: tuple[Ecc, ...] | None, errors: Iterable[SeenError]) -> None:
        """Take in one report."""
        self._samples.append(sample)
        self._errors.extend(errors)
        self._ecc = ecc if ecc is not None else self._ecc

    @property
    def latest(self) -> NodeSample | None:
        """The last report that says who holds the cores; None when there was none in the minute."""
        return next((sample for sample in reversed(self._samples) if sample.allocated is not None), None)

    @property
    def pids(self) -> frozenset[int]:
        """Processes that had a runtime at any time of the minute."""
        return frozenset(pid for sample in self._samples for pid, _ in sample.runtimes)

    def figures(self, layout: Layout, pids: frozenset[int] | None = None) -> Figures:
        """The minute so far, of all processes or of ``pids`` only."""
        samples = self._samples
        if pids is not None:
            samples = [of_processes(sample, pids, layout.cores_per_device) for sample in samples]
        # A report that does not say which runtimes there are has nothing new about holders.
        last = next((sample for sample in reversed(samples) if sample.allocated is not None), NodeSample())
        flops = _series(sample.flops for sample in samples)
        totals = [sum(sample.flops.values()) for sample in samples if sample.flops]
        peak = layout.peak_flops
        return Figures(
            reports=len(samples),
            blind=samples[-1].blind if samples and all(sample.blind for sample in samples) else None,
            blind_reports=tuple(dict.fromkeys(sample.blind for sample in samples if sample.blind)),
            allocated=last.allocated,
            utilization=Percentages(_series(sample.utilization for sample in samples)),
            tensor=Percentages(_scaled(flops, _FULL / peak) if peak else {}),
            flops_by_core={core: sum(series) / len(series) for core, series in flops.items()},
            tflops=sum(totals) / len(totals) / _TERA if totals else None,
            core_bytes=_highest(sample.core_bytes for sample in samples),
            device_bytes=_highest(sample.device_bytes for sample in samples),
            completed=_sum(sample.completed for sample in samples),
            failed=_sum(sample.failed for sample in samples),
            errors=_sum_by_kind(sample.errors for sample in samples),
            latency_p99=max((s.latency_p99 for s in samples if s.latency_p99 is not None), default=None),
            hardware_errors=tuple(self._errors),
            hardware_measured=self._ecc is not None,
            ecc=self._ecc or (),
            runtimes=last.runtimes,
            cores_by_pid=last.cores_by_pid,
            holders=last.holders,
        )


def _series(figures: Iterable[Mapping[int, float]]) -> dict[int, tuple[float, ...]]:
    series: dict[int, list[float]] = {}
    for figure in figures:
        for core, value in figure.items():
            series.setdefault(core, []).append(value)
    return {core: tuple(values) for core, values in sorted(series.items())}


def _scaled(series: Mapping[int, tuple[float, ...]], factor: float) -> dict[int, tuple[float, ...]]:
    return {core: tuple(value * factor for value in values) for core, values in series.items()}


def _highest(figures: Iterable[Mapping[int, int] | None]) -> dict[int, int]:
    highest: dict[int, int] = {}
    for figure in figures:
        for index, value in (figure or {}).items():
            highest[index] = max(value, highest.get(index, value))
    return dict(sorted(highest.items()))


def _sum(counts: Iterable[int | None]) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if known else None


def _sum_by_kind(figures: Iterable[Mapping[str, int]]) -> dict[str, int]:
    totals: Counter[str] = Counter()
    for figure in figures:
        totals.update(figure)
    return dict(totals)
