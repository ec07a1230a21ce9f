"""``fleet-agent inspect``: what recorded neuron-monitor output would have published.

The lines are taken one period apart. A recording does not say which period was asked for, so without one it is the
median of the reports' own: a first report of half a millisecond stands out against the rest, and a lone one does not.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any, Final

import msgspec

from agents.config import AgentConfig
from agents.errors import UnreadableLineError
from agents.minute.aggregate import metric_data
from agents.minute.batch import Datum, Event, SelfFigures, iso
from agents.minute.log_event import log_event
from agents.minute.pipeline import Pipeline, Surroundings
from agents.monitor.decode.parse import parse
from agents.monitor.decode.report import Report
from fleet.metrics import PERIOD_SECONDS

# The shortest period of a section that was measured at all: first reports cover 0.5 to 0.7 ms.
_SHORTEST_SECONDS: Final = 0.001
_NAME: Final = "inspect"
_PROBLEMS_SHOWN: Final = 5


@dataclass
class Inspection:
    """The command's answer. ``usable`` is whether any line could be read."""

    metric_data: list[Datum] = field(default_factory=list)
    log_events: list[Event] = field(default_factory=list)
    states: list[dict[str, Any]] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    usable: bool = False


def default_config(instance_type: str, period: int) -> AgentConfig:
    """The configuration of a node that nobody configured: no price, bf16."""
    return AgentConfig(
        environment=_NAME,
        fleet=_NAME,
        owner=_NAME,
        region="none",
        purpose="training",
        instance_type=instance_type,
        period_seconds=period,
        log_group=_NAME,
    )


def inspect(path: Path, instance_type: str, period: int | None, start: int) -> Inspection:
    """Run ``path`` through the pipeline, its first line at ``start`` (unix seconds of a whole minute)."""
    answer = Inspection()
    lines = list(_readable(path.read_bytes(), answer))
    if not lines:
        answer.problems.append(f"{path.name}: nothing in it is neuron-monitor output{_looks_like(path)}")
        return answer
    answer.usable = True
    typical = _typical_seconds([report for _, report in lines])
    spacing = period or max(1, min(PERIOD_SECONDS, round(typical or 5)))
    # The pipeline discards what is shorter than half its period; for a recording of short reports that is too long.
    gate = float(period) if period else typical or float(spacing)
    pipeline = Pipeline(default_config(instance_type, spacing), "", start, rate_seconds=gate)
    minute = start
    for index, (data, _) in enumerate(lines):
        now = start + index * spacing
        if now >= minute + PERIOD_SECONDS:
            _close(pipeline, minute, minute + PERIOD_SECONDS, answer)
            minute = now // PERIOD_SECONDS * PERIOD_SECONDS
        pipeline.line(data, now)
    _close(pipeline, minute, start + len(lines) * spacing, answer)
    return answer


def _readable(data: bytes, answer: Inspection) -> Iterator[tuple[bytes, Report]]:
    # One pretty-printed object spans lines; a recording has one object on each.
    unreadable: list[str] = []
    try:
        yield data, parse(data)
    except UnreadableLineError as whole:
        lines = [(number, line) for number, line in enumerate(data.splitlines(), 1) if line.strip()]
        if _is_one_value(data):
            answer.problems.append(str(whole))
            return
        for number, line in lines:
            try:
                yield line, parse(line)
            except UnreadableLineError as error:
                unreadable.append(f"line {number}: {error}")
    answer.problems.extend(unreadable[:_PROBLEMS_SHOWN])
    if len(unreadable) > _PROBLEMS_SHOWN:
        answer.problems.append(f"{len(unreadable) - _PROBLEMS_SHOWN} more unreadable lines")


def _looks_like(path: Path) -> str:
    data = path.read_bytes()
    if data.lstrip().startswith(b"[") and b"neuron_device" in data:
        return "; it looks like the device list of neuron-ls"
    if b"# TYPE " in data or b"# HELP " in data:
        return "; it looks like Prometheus text of neuron-monitor-prometheus.py"
    return ""


def _is_one_value(data: bytes) -> bool:
    try:
        msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return False
    return True


def _typical_seconds(reports: list[Report]) -> float | None:
    seconds = [
        section.seconds
        for report in reports
        for runtime in report.runtimes or ()
        for section in (runtime.rates, runtime.executions)
        if section is not None and section.seconds is not None and section.seconds >= _SHORTEST_SECONDS
    ]
    return median(seconds) if seconds else None


def _close(pipeline: Pipeline, minute: int, now: float, answer: Inspection) -> None:
    entry = pipeline.close(minute, now, len(answer.states) + 1, Surroundings(), SelfFigures())
    answer.metric_data.extend(metric_data(entry))
    answer.log_events.append(log_event(entry))
    answer.states.append({"minute": iso(minute), "state": entry.verdict.state.value, "reason": entry.verdict.reason})
    answer.problems.extend(entry.problems)
