"""What the agent knows about itself and its node, once a minute, for ``fleet-agent status``.

The loop replaces one small file; the command reads it. So the command needs neither the agent's answer nor its
rights, and a loop that hangs shows as a file that gets old.
"""

import contextlib
import logging
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec

from agents.errors import StatusError
from agents.minute.batch import NodeMinute, iso
from agents.status.health import CollectorHealth, MonitorHealth, SinkHealth
from fleet.metrics import PERIOD_SECONDS
from fleet.node_state import NodeState
from fleet.version import VERSION
from workload import durable_file

logger = logging.getLogger(__name__)
FILE_NAME: Final = "status.json"
# One minute may be missed, as when the disk stalls; seconds.
STALE_AFTER: Final = 2 * PERIOD_SECONDS
_PROBLEMS: Final = 20
_UNWELL: Final = frozenset({NodeState.BLIND.value, NodeState.FAULT.value})


@dataclass(frozen=True, slots=True)
class JobStatus:
    """A job of the node."""

    job_id: str
    name: str
    owner: str


@dataclass(frozen=True, slots=True)
class Parts:
    """What the parts of the agent say of themselves."""

    monitor: MonitorHealth
    collectors: tuple[CollectorHealth, ...]
    sinks: tuple[SinkHealth, ...]


@dataclass(frozen=True, slots=True)
class Status:
    """One minute's status. ``written_at`` is unix seconds; None is not known. ``cpu_percent`` is of one core."""

    written_at: float
    pid: int
    version: str
    environment: str
    fleet: str
    node: str
    instance_type: str | None
    minute: str
    state: str
    reason: str
    devices: int | None
    cores: int | None
    cores_allocated: int | None
    runtimes: int | None
    jobs: tuple[JobStatus, ...]
    monitor: MonitorHealth
    collectors: tuple[CollectorHealth, ...]
    sinks: tuple[SinkHealth, ...]
    spool_bytes: int
    cpu_percent: float | None
    rss_bytes: int | None
    problems: tuple[str, ...]
    collectors_off: tuple[str, ...] = ()

    @property
    def is_unwell(self) -> bool:
        """Whether the node is in a state that somebody should look at."""
        return self.state in _UNWELL

    def age(self, now: float) -> float:
        """Seconds since it was written; a clock that was set back makes none negative."""
        return max(0.0, now - self.written_at)


def describe(entry: NodeMinute, parts: Parts, now: float) -> Status:
    """The status at the end of a minute."""
    node, layout, figures = entry.node, entry.node.layout, entry.figures
    return Status(
        written_at=now,
        pid=os.getpid(),
        version=VERSION,
        environment=node.config.environment,
        fleet=node.config.fleet,
        node=node.name,
        instance_type=node.instance_type,
        minute=iso(entry.minute),
        state=entry.verdict.state.value,
        reason=entry.verdict.reason,
        devices=layout.devices,
        cores=layout.cores,
        # Nobody has said yet who holds cores: that is not zero.
        cores_allocated=None if figures.allocated is None else len(figures.allocated),
        runtimes=None if figures.allocated is None else len(figures.runtimes),
        jobs=tuple(JobStatus(share.job.job_id, share.job.name, share.job.owner) for share in entry.jobs),
        monitor=parts.monitor,
        collectors=parts.collectors,
        sinks=parts.sinks,
        spool_bytes=entry.own.spool_bytes or 0,
        cpu_percent=entry.own.cpu_percent,
        rss_bytes=entry.own.rss_bytes,
        problems=tuple(entry.problems[:_PROBLEMS]),
        collectors_off=node.config.collectors_off,
    )


@dataclass(frozen=True, slots=True)
class StatusFile:
    """The file in the agent's run directory."""

    run_directory: Path

    @property
    def path(self) -> Path:
        """Where it lies."""
        return self.run_directory / FILE_NAME

    def write(self, status: Status) -> None:
        """Replace the file; a folder that refuses is logged, for the node is measured all the same."""
        try:
            durable_file.replace_file(self.path, msgspec.json.encode(status), through=False)
        except OSError as error:
            logger.warning("%s: %s", self.path, error)

    def remove(self) -> None:
        """Take it away: an agent that was told to end does not run."""
        with contextlib.suppress(OSError):
            self.path.unlink(missing_ok=True)

    def read(self) -> Status:
        """The last status written.

        Raises:
            StatusError: there is none, it may not be read, or it is damaged.
        """
        try:
            return msgspec.json.decode(self.path.read_bytes(), type=Status)
        except FileNotFoundError as error:
            raise StatusError(f"{self.path}: no such file; the agent does not run, or not yet for a minute") from error
        except OSError as error:
            raise StatusError(f"{self.path}: {error.strerror}") from error
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise StatusError(f"{self.path}: damaged, or of another version of the agent: {error}") from error
