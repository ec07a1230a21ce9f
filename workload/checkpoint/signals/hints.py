"""Tells the node's agent that a checkpoint is being written, so that idle cores are not taken for a job that hangs.

The lines are those of ``docs/workload-metrics.md``. Training must never wait for its metrics, nor end because of them:
sockets do not block, and what cannot be sent is lost.
"""

import contextlib
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Final

SOCKET: Final = Path("/run/neuron-fleet/statsd.sock")
ADDRESS: Final = ("127.0.0.1", 8125)
CHECKPOINT: Final = "neuron_fleet.checkpoint"
STEP: Final = "neuron_fleet.step"


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


def send(lines: str, unix: Path = SOCKET, address: tuple[str, int] = ADDRESS) -> None:
    """Tell the node's agent: at its Unix socket where there is one, else at its port; lost where nobody listens."""
    with contextlib.suppress(OSError):
        is_unix = unix.is_socket()
        family = socket.AF_UNIX if is_unix else socket.AF_INET
        with socket.socket(family, socket.SOCK_DGRAM) as agent:
            agent.setblocking(False)
            agent.sendto(lines.encode(), str(unix) if is_unix else address)
