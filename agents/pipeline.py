"""From the monitor's lines to one batch a minute. No clock, no process, no network: it is told what time it is.

The same pipeline runs on the node, in the simulation and behind ``fleet-agent inspect``.
"""

import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from agents.batch import Node, NodeMinute, SelfFigures
from agents.collectors import ecc, neuron_monitor
from agents.collectors import layout as node_layout
from agents.collectors.collector import Contribution
from agents.collectors.job import UNATTRIBUTED, Job
from agents.collectors.seen_error import combined, worst
from agents.config import AgentConfig
from agents.job_shares import Claim, claims, shares, wasted_by_all, workload
from agents.minute import Figures, Minute
from agents.monitor.parse import UnreadableLineError, parse
from agents.monitor.report import Hardware, Report
from agents.problems import problems
from fleet.metrics import PERIOD_SECONDS
from fleet.node_state import Memory, NodeState, Observation, decide

logger = logging.getLogger(__name__)
_BLIND_PERIODS = 3


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What the collectors saw besides neuron-monitor. ``monitor`` is why the monitor is down."""

    collected: Contribution = field(default_factory=Contribution)
    monitor: str | None = None


class Pipeline:
    """Holds what must outlive a minute: the node's state memory, error counters, the last report."""

    def __init__(
        self,
        config: AgentConfig,
        node: str,
        started: float,
        *,
        boot_id: str = "",
        rate_seconds: float | None = None,
        memory: Memory | None = None,
    ) -> None:
        """Rates of sections shorter than half of ``rate_seconds`` (default: the period) are discarded."""
        self._config = config
        self._node = node
        self._boot_id = boot_id
        self._rate_seconds = rate_seconds or config.period_seconds
        self._report_at = self._measured_at = started
        self._report: Report | None = None
        self._hardware = Hardware()
        self._ecc = ecc.EccWatch()
        self._memory = memory or Memory()
        self._minute = Minute()
        self._last: Figures | None = None
        self._unreadable: list[str] = []
        self._last_jobs: tuple[Job, ...] = ()
        self._last_ids: tuple[str, ...] = ()

    @property
    def pids(self) -> tuple[int, ...]:
        """Host pids of the minute's runtimes, the one with the most cores first, those that have ended last."""
        latest = self._minute.latest or self._last
        if latest is None:
            return ()
        by_cores = sorted(latest.runtimes, key=lambda identity: -latest.cores_by_pid.get(identity[0], 0))
        return tuple(dict.fromkeys((*(pid for pid, _ in by_cores), *sorted(self._minute.pids))))

    @property
    def name(self) -> str:
        """The node: as configured or found, else as the report says."""
        return self._node or (self._report.instance_id if self._report else None) or "unknown"

    def line(self, data: bytes, now: float) -> bool:
        """Take in one line; False when it cannot be read, which is counted and never fatal."""
        try:
            report = parse(data)
        except UnreadableLineError as error:
            logger.warning("unreadable line of %d bytes: %s", len(data), error)
            self._unreadable.append(str(error))
            return False
        self._report, self._report_at = report, now
        if report.hardware.devices:
            self._hardware = report.hardware
        sample = neuron_monitor.sample(report, self._layout(), self._rate_seconds)
        self._measured_at = now if sample.is_measured else self._measured_at
        errors = (*self._ecc.new_errors(report.ecc or ()), *ecc.from_executions(sample.errors))
        self._minute.add(sample, report.ecc, errors)
        return True

    def close(self, minute: int, now: float, seq: int, around: Surroundings, own: SelfFigures) -> NodeMinute:
        """End the minute that began at ``minute``. ``own.report_age_seconds`` is filled in here."""
        # A clock that was set back must not make the last report come from the future.
        self._report_at, self._measured_at = min(self._report_at, now), min(self._measured_at, now)
        figures = self._figures()
        found, notes = claims(
            self._jobs(around), frozenset(self.pids), figures.holders, is_held=bool(figures.allocated)
        )
        blind = self._blind(figures, now, around)
        if blind is None and found and figures.reports and not figures.runtimes:
            # Nothing ran for a job without a process: that is known, and a hang to whoever waits for it.
            figures = replace(figures, completed=0)
        verdict = decide(_observation(minute, figures, around, self._judged_job(found), blind), self._memory)
        self._memory = verdict.memory
        node, state = self._describe(), verdict.state
        jobs = () if state is NodeState.NO_JOB else shares(found, self._minute, figures, state, node)
        reported, strays = workload(around.collected.job_metrics, [share.job.job_id for share in jobs])
        entry = NodeMinute(
            node=node,
            minute=minute,
            seq=seq,
            figures=figures,
            verdict=verdict,
            jobs=jobs,
            workload=reported,
            wasted_usd_per_hour=wasted_by_all(jobs, figures, state, self._config),
            own=replace(own, report_age_seconds=max(0.0, now - self._report_at)),
            problems=(*self._problems(figures, around, node), *notes, *strays),
            collected=around.collected,
        )
        self._minute, self._unreadable, self._last = Minute(), [], figures
        self._last_ids = tuple(claim.job.job_id for claim in found)
        return entry

    def _figures(self) -> Figures:
        figures = self._minute.figures(self._layout())
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

    def _layout(self) -> node_layout.Layout:
        return node_layout.of(self._hardware, self._instance_type(), self._config.dtype, self._config.lnc)

    def _instance_type(self) -> str | None:
        return self._config.instance_type or (self._report.instance_type if self._report else None)

    def _describe(self) -> Node:
        zone = self._report.availability_zone if self._report else None
        return Node(self._config, self.name, self._instance_type(), zone, self._boot_id, self._layout())

    def _blind(self, figures: Figures, now: float, around: Surroundings) -> str | None:
        if figures.blind is not None:
            return figures.blind
        age = now - self._report_at
        if self._report is not None and age <= _BLIND_PERIODS * self._config.period_seconds:
            # A monitor that dies after each first report prints enough, and measures nothing.
            age = now - self._measured_at
            if age <= max(_BLIND_PERIODS * self._config.period_seconds, PERIOD_SECONDS):
                return None
            return f"no report covered enough time for {age:.0f} s: {around.monitor or 'only first reports came'}"
        why = around.monitor or (self._unreadable[-1] if self._unreadable else "neuron-monitor is silent")
        return f"no readable report {'for' if self._report else 'yet, after'} {age:.0f} s: {why}"

    def _jobs(self, around: Surroundings) -> tuple[Job, ...]:
        # When nobody could look for jobs, they are as last seen: a job that lost its name would start anew.
        if around.collected.jobs is not None:
            self._last_jobs = around.collected.jobs
        return self._last_jobs

    def _judged_job(self, found: Sequence[Claim]) -> str | None:
        # The node's state is about one job at a time, and stays with it while it is there: of two jobs of the same
        # size now this one and now that one is first. Not knowing whose the cores are is not a new job.
        ids = [claim.job.job_id for claim in found if claim.job.job_id != UNATTRIBUTED]
        if not ids or self._memory.job in ids:
            return self._memory.job if ids else None
        if ids[0] in self._last_ids:
            # It was there before, beside the one that has gone, and is not starting up.
            self._memory = replace(self._memory, job=ids[0])
        return ids[0]

    def _problems(self, figures: Figures, around: Surroundings, node: Node) -> Iterable[str]:
        why = self._unreadable[-1] if self._unreadable else ""
        return problems(figures, around.collected, around.monitor, len(self._unreadable), why, node)


def _observation(
    minute: int, figures: Figures, around: Surroundings, job: str | None, blind: str | None
) -> Observation:
    return Observation(
        at=float(minute),
        blind=blind,
        fault=worst(combined((*figures.hardware_errors, *around.collected.hardware_errors))),
        draining=around.collected.draining,
        holds_cores=bool(figures.allocated),
        job=job,
        compiling=around.collected.compiling,
        completed=figures.completed,
        checkpoint=around.collected.checkpoint,
    )
