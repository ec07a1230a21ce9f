"""Tells the node's agent what only the workload knows: what it does besides training, and how an endpoint is loaded.

Without the first, idle cores would be taken for a job that hangs or was forgotten. The lines are those of
``docs/workload-metrics.md``. Neither training nor an answer waits for its metrics, or ends because of them: sockets do
not block, and what cannot be sent is lost.
"""

import contextlib
import socket
import threading
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final, Literal

SOCKET: Final = Path("/run/neuron-fleet/statsd.sock")
ADDRESS: Final = ("127.0.0.1", 8125)
CHECKPOINT: Final = "neuron_fleet.checkpoint"
PHASE: Final = "neuron_fleet.phase"
STEP: Final = "neuron_fleet.step"
PhaseName = Literal["validation", "evaluation", "data-preparation", "rollout", "waiting"]
# An agent that was restarted meanwhile hears of it in its first minute.
_REPEAT_SECONDS: Final = 30.0
# DogStatsD takes several values of one metric in a line; a datagram of 8 KiB holds far more than these.
_MOST_VALUES: Final = 200


class Hints:
    """``job`` as the scheduler names it, empty where the agent finds it by itself; the Unix socket where it is."""

    def __init__(self, rank: int, job: str = "", unix: Path = SOCKET, address: tuple[str, int] = ADDRESS) -> None:
        self._tags = ",".join(part for part in (f"job:{job}" if job else "", f"rank:{rank}") if part)
        self._unix, self._address = unix, address

    @contextlib.contextmanager
    def saving(self, step: int, minutes: float | None = None) -> Iterator[None]:
        """Around a save, which may take ``minutes``; the end is told also of one that failed."""
        with self._announced(CHECKPOINT, "", minutes, after=f"\n{STEP}:{step}|g|#{self._tags}"):
            yield

    @contextlib.contextmanager
    def phase(self, name: PhaseName, minutes: float | None = None) -> Iterator[None]:
        """Around what is not training: for ``minutes`` (default: 30) nobody is told that the cores rest."""
        with self._announced(PHASE, f"phase:{name}", minutes):
            yield

    @contextlib.contextmanager
    def _announced(self, metric: str, phase: str, minutes: float | None, after: str = "") -> Iterator[None]:
        asked = "" if minutes is None else f"minutes:{minutes:g}"
        tags = ",".join(part for part in (self._tags, phase, asked) if part)
        over = threading.Event()

        def repeat() -> None:
            while not over.wait(_REPEAT_SECONDS):
                send(f"{metric}:1|g|#{tags}", self._unix, self._address)

        send(f"{metric}:1|g|#{tags}", self._unix, self._address)
        repeater = threading.Thread(target=repeat, name="announcing", daemon=True)
        repeater.start()
        try:
            yield
        finally:
            over.set()
            # A line that begins must not come behind the one that ends.
            repeater.join()
            send(f"{metric}:0|g|#{tags}{after}", self._unix, self._address)


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
