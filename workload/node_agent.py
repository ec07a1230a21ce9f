"""Tells the node's agent what only the workload knows: that it saves a checkpoint, and how an endpoint is loaded.

Without the first, idle cores would be taken for a job that hangs. The lines are those of ``docs/workload-metrics.md``.
Neither training nor an answer waits for its metrics, or ends because of them: sockets do not block, and what cannot be
sent is lost.
"""

import contextlib
import socket
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

SOCKET: Final = Path("/run/neuron-fleet/statsd.sock")
ADDRESS: Final = ("127.0.0.1", 8125)
CHECKPOINT: Final = "neuron_fleet.checkpoint"
STEP: Final = "neuron_fleet.step"
# DogStatsD takes several values of one metric in a line; a datagram of 8 KiB holds far more than these.
_MOST_VALUES: Final = 200


class Hints:
    """``job`` as the scheduler names it, empty where the agent finds it by itself; the Unix socket where it is."""

    def __init__(self, rank: int, job: str = "", unix: Path = SOCKET, address: tuple[str, int] = ADDRESS) -> None:
        self._tags = ",".join(part for part in (f"job:{job}" if job else "", f"rank:{rank}") if part)
        self._unix, self._address = unix, address

    @contextlib.contextmanager
    def saving(self, step: int) -> Iterator[None]:
        """Around a save; the end is told also of one that failed."""
        send(f"{CHECKPOINT}:1|g|#{self._tags}", self._unix, self._address)
        try:
            yield
        finally:
            send(f"{CHECKPOINT}:0|g|#{self._tags}\n{STEP}:{step}|g|#{self._tags}", self._unix, self._address)


class Figures:
    """The Unix socket where it is, else UDP: a task with a network interface of its own does not reach the host's."""

    def __init__(self, unix: Path = SOCKET, address: tuple[str, int] = ADDRESS) -> None:
        self._unix, self._address = unix, address

    def tell(self, *, tokens: int, in_flight: int, queue_seconds: Iterable[float] = ()) -> None:
        """``tokens`` and queue times since the last call; ``in_flight`` now."""
        lines = [f"neuron_fleet.tokens:{tokens}|c", f"neuron_fleet.requests_in_flight:{in_flight}|g"]
        waited = list(queue_seconds)
        for start in range(0, len(waited), _MOST_VALUES):
            packed = ":".join(f"{seconds:.6f}" for seconds in waited[start : start + _MOST_VALUES])
            lines.append(f"neuron_fleet.queue_seconds:{packed}|d")
        for line in lines:
            self._send(line)

    def _send(self, line: str) -> None:
        send(line, self._unix, self._address)


def send(lines: str, unix: Path = SOCKET, address: tuple[str, int] = ADDRESS) -> None:
    """Tell the node's agent: at its Unix socket where there is one, else at its port; lost where nobody listens."""
    with contextlib.suppress(OSError):
        is_unix = unix.is_socket()
        family = socket.AF_UNIX if is_unix else socket.AF_INET
        with socket.socket(family, socket.SOCK_DGRAM) as agent:
            agent.setblocking(False)
            agent.sendto(lines.encode(), str(unix) if is_unix else address)
