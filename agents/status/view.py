"""How ``fleet-agent status`` answers: a verdict with its exit code, tables for people, one JSON object for machines."""

import json
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import Final

import msgspec
import psutil
import typer
from rich.console import Console, Group
from rich.table import Table

from agents.errors import StatusError
from agents.minute.batch import iso
from agents.status.status import STALE_AFTER, Status, StatusFile

HEALTHY: Final = 0
NOT_RUNNING: Final = 1
UNWELL: Final = 2
_MIB: Final = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Answer:
    """``verdict`` is one line; there is no ``status`` where no file could be read. Ages are seconds."""

    exit_code: int
    verdict: str
    age_seconds: float | None = None
    status: Status | None = None


def ask(file: StatusFile, now: float, is_alive: Callable[[int], bool] = psutil.pid_exists) -> Answer:
    """The verdict on what ``file`` holds at ``now``, unix seconds. ``is_alive`` is asked about the writer's pid."""
    try:
        status = file.read()
    except StatusError as error:
        return Answer(NOT_RUNNING, str(error))
    age = status.age(now)
    if not is_alive(status.pid):
        return Answer(
            NOT_RUNNING, f"{file.path}: written {_ago(age)} by process {status.pid}, which is gone", age, status
        )
    if age > STALE_AFTER:
        line = f"{file.path}: written {_ago(age)}; the agent does not run, or hangs"
        return Answer(NOT_RUNNING, line, age, status)
    return Answer(UNWELL if status.is_unwell else HEALTHY, f"{status.state}: {status.reason}", age, status)


def show(answer: Answer, *, as_json: bool) -> None:
    """Print ``answer``; where there is nothing but a verdict, that is an error message."""
    if as_json:
        typer.echo(json.dumps(msgspec.to_builtins(asdict(answer)), indent=2))
    elif answer.status is None or answer.age_seconds is None:
        typer.echo(answer.verdict, err=True)
    else:
        now = answer.status.written_at + answer.age_seconds
        Console(highlight=False, markup=False).print(Group(*_tables(answer, answer.status, now)))


def _tables(answer: Answer, status: Status, now: float) -> Iterator[Table]:
    yield _overview(answer, status, now)
    sinks = Table("sink", "last publish", "waiting", "oldest", "last problem", box=None, header_style="bold")
    for sink in status.sinks:
        oldest = "-" if sink.oldest_minute is None else iso(sink.oldest_minute)
        sinks.add_row(sink.name, _since(sink.confirmed_at, now), str(sink.waiting), oldest, sink.last_problem or "-")
    yield sinks
    collectors = Table("collector", "last answer", "failures", box=None, header_style="bold")
    for collector in status.collectors:
        collectors.add_row(collector.name, _since(collector.answered_at, now), str(collector.failures))
    for name in status.collectors_off:
        collectors.add_row(name, "switched off", "-")
    yield collectors


def _overview(answer: Answer, status: Status, now: float) -> Table:
    overview = Table.grid(padding=(0, 2))
    overview.add_column(style="bold")
    overview.add_column(overflow="fold")
    for name, value in _facts(answer, status, now):
        overview.add_row(name, value)
    return overview


def _facts(answer: Answer, status: Status, now: float) -> Iterator[tuple[str, str]]:
    yield "state", answer.verdict if answer.exit_code != NOT_RUNNING else f"{answer.verdict} (was {status.state})"
    yield "minute", f"{status.minute}, written {_ago(status.age(now))}"
    yield "node", f"{status.node} ({status.instance_type or 'type unknown'}), {status.environment}/{status.fleet}"
    yield (
        "devices",
        f"{_known(status.devices)}, {_known(status.cores)} cores, {_known(status.cores_allocated)} allocated",
    )
    yield "runtimes", _known(status.runtimes)
    yield "jobs", ", ".join(f"{job.job_id} ({job.owner or 'no owner'})" for job in status.jobs) or "none"
    monitor = status.monitor
    running = "runs" if monitor.running else "does not run"
    trouble = "" if not monitor.last_problem else f"; {'now' if monitor.problem else 'last'}: {monitor.last_problem}"
    yield "neuron-monitor", f"{running}, {max(0, monitor.starts - 1)} restarts{trouble}"
    cpu = "unknown" if status.cpu_percent is None else f"{status.cpu_percent:.1f} % of a core"
    memory = "unknown" if status.rss_bytes is None else f"{status.rss_bytes / _MIB:.0f} MiB"
    yield "agent", f"{status.version}, pid {status.pid}, CPU {cpu}, memory {memory}"
    yield "spool", f"{status.spool_bytes} bytes"
    for problem in status.problems:
        yield "problem", problem


def _known(count: int | None) -> str:
    return "unknown" if count is None else str(count)


def _since(at: float | None, now: float) -> str:
    return "never" if at is None else _ago(max(0.0, now - at))


def _ago(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s ago"
    return f"{seconds / 60:.0f} min ago" if seconds < 7200 else f"{seconds / 3600:.0f} h ago"
