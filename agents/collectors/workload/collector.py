"""The minute of the workloads' own metrics."""

import logging
from pathlib import Path
from typing import Any, Final

from agents.collectors.collector import Contribution, Request
from agents.collectors.workload.phases import Phases
from agents.collectors.workload.receiver import Receiver
from agents.collectors.workload.statsd import ANNOUNCING, parse
from agents.collectors.workload.work import Work
from agents.errors import MalformedLineError, TooManyError

logger = logging.getLogger(__name__)
SOCKET_NAME: Final = "statsd.sock"
# Seconds between two calls within which a count makes a rate.
_SHORTEST: Final = 1.0
_LONGEST: Final = 600.0


class WorkloadCollector:
    """Reads from when it is made; a socket that could not be opened is tried again every minute.

    Metrics of lines without a ``job`` tag are under the job id ``""``: they belong to the node's only job, which
    another collector knows.
    """

    name = "workload"

    def __init__(self, port: int | None, run_directory: Path, proc: Path) -> None:
        """Without a ``port`` the Unix socket alone is read."""
        self._proc = proc
        self._work = Work()
        self._phases = Phases()
        self._rejected = self._ignored = 0
        self._why = ""
        self._last: float | None = None
        self._drops = 0
        self.receiver = Receiver(port, run_directory / SOCKET_NAME, self._accept)
        for problem in self.receiver.open():
            logger.warning("%s", problem)

    def collect(self, request: Request) -> Contribution:
        """What was reported since the last call."""
        problems = self.receiver.open()
        return self.receiver.exchange(lambda: self._minute(request.now, problems))

    def _accept(self, data: bytes) -> None:
        for line in data.split(b"\n"):
            if not line.strip():
                continue
            try:
                sample = parse(line)
                if sample is None:
                    self._ignored += 1
                elif sample.name in ANNOUNCING:
                    self._phases.add(sample)
                else:
                    self._work.add(sample)
            except (MalformedLineError, TooManyError) as error:
                self._rejected += 1
                self._why = str(error)

    def _minute(self, now: float, problems: tuple[str, ...]) -> Contribution:
        seconds = None if self._last is None else now - self._last
        if seconds is not None and not _SHORTEST <= seconds <= _LONGEST:
            # The clock was set; how long the counts took is not known.
            seconds = None
        work, self._work, self._last = self._work, Work(), now
        reports = work.reports()
        event: dict[str, Any] = {
            "jobs": [report.properties() for report in reports],
            "rejected": self._rejected,
            "oversized": self.receiver.oversized,
            "discarded": self.receiver.discarded,
            "ignored": self._ignored,
            "kernel_drops": self._kernel_drops(),
        }
        if self._rejected:
            problems = (*problems, f"workload: {self._rejected} lines rejected, the last: {self._why}")
        self._rejected = self._ignored = 0
        said = {name: value for name, value in event.items() if value}
        return Contribution(
            job_metrics=work.figures(seconds),
            event={"workload": said} if said else {},
            workload_reports=reports,
            phases=self._phases.in_minute(now),
            problems=problems,
        )

    def _kernel_drops(self) -> int:
        total = dropped(self._proc, self.receiver.port)
        rise, self._drops = max(0, total - self._drops), total
        return rise


def dropped(proc: Path, port: int | None) -> int:
    """Datagrams that the kernel threw away because the socket's buffer was full; 0 where that cannot be read."""
    if port is None:
        return 0
    # 127.0.0.1 in the byte order of the machines that the accelerators are in.
    wanted = f"0100007F:{port:04X}"
    try:
        lines = (proc / "net/udp").read_text(encoding="ascii").splitlines()[1:]
    except (OSError, UnicodeDecodeError):
        return 0
    for fields in (line.split() for line in lines):
        if len(fields) > 2 and fields[1] == wanted and fields[-1].isdecimal():
            return int(fields[-1])
    return 0
