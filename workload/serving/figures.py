"""Tells the node's agent how the endpoint is loaded: tokens, requests in flight, time in the queue.

The lines are those of ``docs/workload-metrics.md``. An answer never waits for them: sockets do not block, and what
cannot be sent is lost.
"""

import contextlib
import socket
from collections.abc import Iterable
from pathlib import Path
from typing import Final

SOCKET: Final = Path("/run/neuron-fleet/statsd.sock")
ADDRESS: Final = ("127.0.0.1", 8125)
# DogStatsD takes several values of one metric in a line; a datagram of 8 KiB holds far more than these.
_MOST_VALUES: Final = 200


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
        with contextlib.suppress(OSError):
            is_unix = self._unix.is_socket()
            family = socket.AF_UNIX if is_unix else socket.AF_INET
            with socket.socket(family, socket.SOCK_DGRAM) as agent:
                agent.setblocking(False)
                agent.sendto(line.encode(), str(self._unix) if is_unix else self._address)
