"""From the monitor's lines to one batch a minute. No clock, no process, no network: it is told what time it is.

The same pipeline runs on the node, in the simulation and behind ``fleet-agent inspect``.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

import msgspec

from agents.collectors.collector import Contribution, Evidence
from agents.collectors.jobs.job import Job
from agents.collectors.seen_error import combined, worst
from agents.config import AgentConfig, PriceConfig
from agents.errors import UnreadableLineError
from agents.minute.batch import JobShare, Node, NodeMinute, SelfFigures, problems
from agents.minute.job_shares import announced, claims, judged, progress, runs_seen, shares, wasted_by_all, workload
from agents.minute.report_freshness import ReportFreshness
from agents.minute.window import Figures, MinuteWindow, Reading
from agents.monitor import ecc
from agents.monitor.decode.parse import parse
from agents.monitor.decode.report import Hardware, Report
from agents.monitor.layout import Layout, layout_of
from agents.monitor.merge import merge
from fleet.crash_loop import Runs, after, looping
from fleet.hardware_errors import Action
from fleet.job_progress import Known, judge
from fleet.node_state import NodeState, Observation, Verdict, decide

# What these ask for has to happen before the node works again.
_LASTING: Final = (Action.REBOOT, Action.REPLACE)


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What the collectors saw besides neuron-monitor. ``monitor`` is why the monitor is down."""

    collected: Contribution = field(default_factory=Contribution)
    monitor: str | None = None


class Pipeline:
    """Holds what outlives a minute: what the states of node and jobs remember, error counters, the last report.

    ``jobs`` and ``evidence`` are as last seen; ``known`` is what a restart of the agent must not lose.
    """

    def __init__(  # noqa: PLR0913 - keyword-only beyond the third, each with a default
        self,
        config: AgentConfig,
        node: str,
        started: float,
        *,
        boot_id: str = "",
        rate_seconds: float | None = None,
        known: Known | None = None,
        errors: ecc.EccWatch | None = None,
        read: Callable[[bytes], Report] = parse,
    ) -> None:
        """Rates of sections shorter than half of ``rate_seconds`` (default: the period) are discarded.

        ``read`` makes a report of a line, or raises ``UnreadableLineError``.
        """
        self._config = config
        self._read = read
        self._node = node
        self._boot_id = boot_id
        self._rate_seconds = rate_seconds or config.period_seconds
        self._freshness = ReportFreshness(started, config.period_seconds)
        self._report: Report | None = None
        self._hardware = Hardware()
        self._ecc = errors or ecc.EccWatch()
        self.known = known or Known()
        self._window = MinuteWindow()
        self._last: Figures | None = None
        self.jobs: tuple[Job, ...] = ()
        self.evidence = Evidence()
        self._last_ids: tuple[str, ...] = ()

    def price(self, price: PriceConfig | None) -> None:
        """From now on the node costs this much."""
        self._config = msgspec.structs.replace(self._config, price=price)

    @property
    def pids(self) -> tuple[int, ...]:
        """Host pids of the minute's runtimes, the one with the most cores first, those that have ended last."""
        latest = self._window.latest or self._last
        if latest is None:
            return ()
        pids = dict.fromkeys(pid for pid, _ in latest.runtimes)
        by_cores = sorted(pids, key=lambda pid: -latest.cores_by_pid.get(pid, 0))
        return tuple(dict.fromkeys((*by_cores, *sorted(self._window.pids))))

    @property
    def name(self) -> str:
        """The node: as configured or found, else as the report says."""
        return self._node or (self._report.instance_id if self._report else None) or "unknown"

    def published(self) -> None:
        """What was closed is safe on disk: remember the error counters of the devices as they are."""
        self._ecc.keep()

    def line(self, data: bytes, now: float) -> Reading | None:
        """Take in one line; None when it cannot be read, which is counted and never fatal."""
        try:
            report = self._read(data)
        except UnreadableLineError as error:
            self.unreadable(f"{error} ({len(data)} bytes)")
            return None
        if report.hardware.devices:
            self._hardware = report.hardware
        self._report = report
        sample = merge(report, self._layout(), self._rate_seconds)
        errors = (*self._ecc.new_errors(report.ecc or ()), *ecc.from_executions(sample.errors))
        reading = Reading(now, sample, errors, replace(report, runtimes=()))
        self._add(reading)
        return reading

    def unreadable(self, why: str) -> None:
        """Count a line that is not a report."""
        self._freshness.add_unreadable(why)

    def clock_went_forward(self, seconds: float) -> None:
        """Nobody lived through these ``seconds``: the last report is no older for them."""
        self._freshness.clock_went_forward(seconds)

    def restore(self, reading: Reading) -> None:
        """Take in a report that an agent before this one took in; its errors are not found a second time."""
        self._ecc.new_errors(reading.report.ecc or ())
        if reading.report.hardware.devices:
            self._hardware = reading.report.hardware
        self._add(reading)

    def _add(self, reading: Reading) -> None:
        self._report = reading.report
        self._freshness.add(reading)
        self._window.add(reading.sample, reading.report.ecc, reading.errors)

    def close(self, minute: int, now: float, seq: int, around: Surroundings, own: SelfFigures) -> NodeMinute:
        """End the minute that began at ``minute``. ``own.report_age_seconds`` is filled in here."""
        self._freshness.clamp(now)
        figures, seen = self._figures(), around.collected
        self.evidence = Evidence(seen.draining, seen.compiling, seen.checkpoint, seen.waits_for_lock, seen.phases)
        found, notes = claims(self._jobs(around), frozenset(self.pids), figures.holders, is_held=figures.is_held)
        blind = figures.blind or self._freshness.blind(now, around.monitor)
        if blind is None and found and figures.nothing_ran:
            # Nothing ran for a job without a process: that is known, and a hang to whoever waits for it.
            figures = replace(figures, completed=0)
        job, memory = judged(found, self.known.memory, self._last_ids)
        phase = announced(job, seen.phases, [claim.job.job_id for claim in found])
        observed = replace(_observation(minute, figures, around, job, blind), phase=phase, usd_per_hour=self._usd)
        verdict = decide(observed, memory)
        node, state = self._describe(), verdict.state
        jobs = () if state is NodeState.NO_JOB else shares(found, self._window, figures, state, node)
        reported, strays = workload(around.collected.job_metrics, [share.job.job_id for share in jobs])
        parts = progress(jobs, seen.phases, self._usd)
        serves = self._config.purpose == "inference"
        worst_job, of_jobs = judge(parts, observed, verdict, self.known.jobs, serves=serves)
        runs = self._runs(jobs, around, verdict)
        self.known = Known(verdict.memory, of_jobs, runs)
        entry = NodeMinute(
            node=node,
            minute=minute,
            seq=seq,
            figures=figures,
            verdict=verdict,
            jobs=jobs,
            workload=reported,
            wasted_usd_per_hour=wasted_by_all(jobs, figures, state, self._config),
            own=replace(own, report_age_seconds=self._freshness.age(now)),
            problems=(*problems(figures, around.collected, around.monitor, self._freshness, node), *notes, *strays),
            collected=around.collected,
            worst_job=worst_job,
            crash_loops={} if serves or state is NodeState.BLIND else looping(runs, float(minute)),
        )
        self._window, self._freshness.unreadable, self._last = MinuteWindow(), 0, figures
        self._last_ids = tuple(claim.job.job_id for claim in found)
        return entry

    def _runs(self, jobs: tuple[JobShare, ...], around: Surroundings, verdict: Verdict) -> Mapping[str, Runs]:
        if verdict.state is NodeState.BLIND or verdict.memory.at is None:
            return self.known.runs
        seen = around.collected
        compiles = seen.compiling or seen.waits_for_lock
        is_well = verdict.state not in {NodeState.FAULT, NodeState.DRAINING}
        parts = runs_seen(jobs, seen.phases, self._usd, compiles=compiles)
        return after(self.known.runs, parts, verdict.memory.at, is_well=is_well)

    @property
    def _usd(self) -> float | None:
        return None if self._config.price is None else self._config.price.usd_per_hour

    def _figures(self) -> Figures:
        figures = self._window.figures(self._layout())
        if figures.reports or self._last is None:
            return figures
        # A minute between two reports: who holds the cores is as last seen, what they did is not known.
        return replace(
            figures,
            allocated=self._last.allocated,
            runtimes=self._last.runtimes,
            cores_by_pid=self._last.cores_by_pid,
            holders=self._last.holders,
        )

    def _layout(self) -> Layout:
        return layout_of(self._hardware, self._instance_type(), self._config.dtype, self._config.lnc)

    def _instance_type(self) -> str | None:
        return self._config.instance_type or (self._report.instance_type if self._report else None)

    def _describe(self) -> Node:
        zone = self._report.availability_zone if self._report else None
        return Node(self._config, self.name, self._instance_type(), zone, self._boot_id, self._layout())

    def _jobs(self, around: Surroundings) -> tuple[Job, ...]:
        # When nobody could look for jobs, they are as last seen: a job that lost its name would start anew.
        if around.collected.jobs is not None:
            self.jobs = around.collected.jobs
        return self.jobs


def _observation(
    minute: int, figures: Figures, around: Surroundings, job: str | None, blind: str | None
) -> Observation:
    errors = combined((*figures.hardware_errors, *around.collected.hardware_errors))
    return Observation(
        at=float(minute),
        blind=blind,
        fault=worst(error for error in errors if error.action in _LASTING),
        passing_fault=worst(errors),
        draining=around.collected.draining,
        holds_cores=figures.is_held,
        job=job,
        compiling=around.collected.compiling,
        completed=figures.completed,
        checkpoint=around.collected.checkpoint,
        waits_for_lock=around.collected.waits_for_lock,
    )
