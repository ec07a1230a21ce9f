"""What nodes live through: the agent's own pipeline, fed by lines and by what the machine would show its collectors.

The pipeline, the state machine and the datums are those of production. Left out are processes, files and sockets: what
the collectors would find is said by the scenario. Nodes that go through the same live once for all of them.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from agents.collectors.collector import Contribution
from agents.collectors.seen_error import SeenError, Source
from agents.config import AgentConfig, PriceConfig
from agents.minute.aggregate import metric_data
from agents.minute.batch import Datum, NodeMinute, SelfFigures
from agents.minute.pipeline import Pipeline, Surroundings
from fleet.hardware_errors import HANG_ON_COLLECTIVES, Action
from fleet.instances import instance_type
from fleet.metrics import CATALOGUE, MetricSpec
from fleet.prices import price_for
from fleet.without_job import patience_minutes
from local.replay.life import REGION, Life
from local.replay.printer import Printer, parsed
from local.replay.store import MINUTE
from local.simulation.report import GARBAGE
from local.simulation.script import PhaseKind

ENVIRONMENT: Final = "replay"
# Of 1.4 to 2.4 KB a minute for each of two sinks.
_SPOOLED_BYTES: Final = 4_000
Lines = Callable[[int], Sequence[tuple[float, bytes]]]


def config(name: str, life: Life, period_seconds: int) -> AgentConfig:
    """The agent's configuration on a node of fleet ``name``, as the platform would deploy it."""
    fleet = life.fleet
    price = price_for(instance_type(fleet.instance_type), REGION, fleet.market)
    return AgentConfig(
        environment=ENVIRONMENT,
        fleet=name,
        owner="replay",
        region=REGION,
        purpose=fleet.purpose,
        node=f"{name}-{life.index}",
        instance_type=fleet.instance_type,
        target_utilization_percent=fleet.target_utilization_percent,
        without_job_minutes=int(fleet.alarms.get("without_job_minutes", patience_minutes(fleet.market))),
        price=None
        if price is None
        else PriceConfig(price.usd_per_hour, price.kind.value, price.source, str(price.as_of)),
        period_seconds=period_seconds,
        log_group=ENVIRONMENT,
    )


class Living:
    """What nodes that go through the same live through, once for all of them: lines, collectors, and the pipeline.

    Minutes are asked for one after the other, each by every one of the nodes.
    """

    def __init__(
        self, name: str, life: Life, start: int, printer: Printer, period_seconds: int, recorded: Lines | None = None
    ) -> None:
        self.life = life
        self._start = start
        self._printer = printer
        self._period = period_seconds
        self._recorded = recorded
        self.config = config(name, life, period_seconds)
        self._pipeline = self._booted(start)
        self._monitor_runs = False
        self._sequence = 0
        self._index = -1
        self._lived: NodeMinute | None = None
        self._datums: dict[int, tuple[Datum, ...]] = {}

    def minute(self, index: int, waiting: int) -> tuple[NodeMinute, tuple[Datum, ...]] | None:
        """Minute ``index`` of a node with so many batches ``waiting``, and its datums; None without an agent."""
        if index != self._index:
            self._index, self._lived, self._datums = index, self._live(index, waiting), {}
        if self._lived is None:
            return None
        lived = replace(self._lived, own=replace(self._lived.own, spool_bytes=waiting * _SPOOLED_BYTES))
        if waiting not in self._datums:
            self._datums[waiting] = metric_data(lived)
        return lived, self._datums[waiting]

    def _live(self, index: int, waiting: int) -> NodeMinute | None:
        begin = self._start + index * MINUTE
        if self.life.happens("node-gone", index):
            # Another machine comes, if one comes: it remembers nothing.
            self._pipeline, self._monitor_runs = self._booted(begin + MINUTE), False
            return None
        if self.life.happens("agent-down", index):
            self._monitor_runs = False
            return None
        self._read_lines(index, begin)
        self._sequence += 1
        own = SelfFigures(spool_bytes=waiting * _SPOOLED_BYTES, cpu_percent=0.5, rss_bytes=60_000_000)
        return self._pipeline.close(begin, begin + MINUTE, self._sequence, Surroundings(self._collected(index)), own)

    def _booted(self, now: int) -> Pipeline:
        return Pipeline(self.config, self.config.node, now, boot_id=f"boot-{now}", read=parsed)

    def _read_lines(self, index: int, begin: int) -> None:
        if self._recorded is not None:
            for now, line in self._recorded(index):
                self._pipeline.line(line, now)
            return
        if self.life.happens("monitor-death", index):
            self._monitor_runs = False
            return
        garbled = self.life.happens("monitor-garbage", index)
        if not self._monitor_runs:
            self._pipeline.line(self._printer.first(self.life.script, begin), begin)
            self._monitor_runs = True
        for tick, now in enumerate(range(begin + self._period, begin + MINUTE + 1, self._period)):
            # The report at the minute's end arrives with the minute that begins then.
            at = min(float(now), begin + MINUTE - 0.001)
            line = GARBAGE if garbled else self._line(at, index, tick)
            self._pipeline.line(line, at)

    def _line(self, now: float, index: int, tick: int) -> bytes:
        return self._printer.line(self.life.script, now, index * (MINUTE // self._period) + tick + self.life.index)

    def _collected(self, index: int) -> Contribution:
        phases = self.life.phases(index)
        kinds = {phase.kind for phase in phases}
        errors: tuple[SeenError, ...] = ()
        if self.life.happens("collective-timeout", index):
            errors = (SeenError(HANG_ON_COLLECTIVES, None, 1, (Source.KERNEL_LOG,), Action.NONE),)
        told = self.life.happens("draining", index) or self.life.happens("interruption", index)
        return Contribution(
            metrics=_counted([phase.counts for phase in phases], per_job=False),
            job_metrics={
                job.id: _counted([phase.counts], per_job=True)
                for job, phase in zip(self.life.tenants, phases, strict=True)
                if _counted([phase.counts], per_job=True)
            },
            hardware_errors=errors,
            jobs=self.life.jobs(index),
            draining="told to drain" if told else None,
            compiling=PhaseKind.COMPILING in kinds,
            # The burst of writing, which needs no word of the job.
            checkpoint=PhaseKind.CHECKPOINT in kinds,
            phases=tuple(
                replace(announced, job=job.id)
                for job, phase in zip(self.life.tenants, phases, strict=True)
                if (announced := phase.announced) is not None
            ),
        )


def _counted(counts: Sequence[Mapping[str, float]], *, per_job: bool) -> dict[MetricSpec, float]:
    """The counts that a job's own processes tell, or those that the node makes."""
    found: dict[MetricSpec, float] = {}
    for each in counts:
        for name, value in each.items():
            spec = CATALOGUE[name]
            if per_job == spec.from_workload:
                found[spec] = found.get(spec, 0.0) + value
    return found
