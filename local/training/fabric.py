"""What collectives are among real nodes: nobody goes on before all have come; a lost peer is everybody's error.

It also gives training its virtual time: so many steps a virtual minute, and no more until they are allowed.
"""

import json
import socket
import socketserver
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final

from local.processes import in_thread

# Between two looks whether a rank that waits is still there.
_LOOK_SECONDS: Final = 0.1


@dataclass(frozen=True, slots=True)
class Step:
    """One step that every rank of a run has done; ``totals`` by rank, of all that the model has seen so far."""

    run: str
    number: int
    totals: tuple[int, ...]


@dataclass(slots=True)
class _Ranks:
    """The ranks of one run: those that wait for the next step, and what each says of the one that it has done."""

    size: int
    waiting: dict[int, tuple[int, int]] = field(default_factory=dict)
    released: int = 0
    broken: str = ""


class Fabric:
    """All runs' collectives. ``steps`` are those that were done, in their order."""

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self.address = ""
        self._runs: dict[str, _Ranks] = {}
        self._allowed = 0
        self._changed = threading.Condition()

    def allow(self, steps: int) -> None:
        """Let so many more steps be done, by whatever run comes to them."""
        with self._changed:
            self._allowed += steps
            self._changed.notify_all()

    @property
    def is_idle(self) -> bool:
        """Whether every rank of some run waits for steps to be allowed."""
        with self._changed:
            full = [ranks for ranks in self._runs.values() if not ranks.broken and len(ranks.waiting) == ranks.size]
            return self._allowed == 0 and bool(full)

    @property
    def done(self) -> int:
        """How many steps were done so far, those that were done twice counted twice."""
        return len(self.steps)

    def meet(self, said: dict[str, Any], is_gone: Callable[[], bool]) -> str:
        """A rank has done a step and comes to the collective; why it fails, or nothing when all have come."""
        run, rank, step, total = said["run"], int(said["rank"]), int(said["step"]), int(said["total"])
        with self._changed:
            ranks = self._runs.setdefault(run, _Ranks(int(said["world"])))
            ranks.waiting[rank] = (step, total)
            turn = ranks.released
            while not ranks.broken and ranks.released == turn:
                if len(ranks.waiting) == ranks.size and self._allowed > 0:
                    self._release(run, ranks)
                elif is_gone():
                    ranks.broken = f"rank {rank} has left"
                    self._changed.notify_all()
                else:
                    self._changed.wait(_LOOK_SECONDS)
            return ranks.broken

    def _release(self, run: str, ranks: _Ranks) -> None:
        numbers = {step for step, _ in ranks.waiting.values()}
        if len(numbers) != 1:
            ranks.broken = f"ranks are at different steps: {sorted(numbers)}"
        else:
            totals = tuple(total for _, (_, total) in sorted(ranks.waiting.items()))
            self.steps.append(Step(run, numbers.pop(), totals))
            self._allowed -= 1
        ranks.waiting, ranks.released = {}, ranks.released + 1
        self._changed.notify_all()

    def leave(self, run: str, rank: int) -> None:
        """A rank's connection has ended: whoever waits for it, or comes later, fails."""
        with self._changed:
            ranks = self._runs.get(run)
            if ranks is not None and not ranks.broken:
                ranks.broken = f"rank {rank} has left"
                self._changed.notify_all()

    def forbid(self) -> None:
        """Take back what was allowed and not used."""
        with self._changed:
            self._allowed = 0


@contextmanager
def serving() -> Iterator[Fabric]:
    """On a free port of 127.0.0.1 until the block ends."""
    fabric = Fabric()

    class Handler(socketserver.StreamRequestHandler):
        disable_nagle_algorithm = True

        def handle(self) -> None:
            run, rank = "", 0
            try:
                for line in self.rfile:
                    said = json.loads(line)
                    run, rank = said["run"], int(said["rank"])
                    self.wfile.write(json.dumps({"why": fabric.meet(said, self._is_gone)}).encode() + b"\n")
            except (OSError, ValueError):
                pass
            fabric.leave(run, rank)

        def _is_gone(self) -> bool:
            """Whether the rank has ended while it waits."""
            try:
                return not self.connection.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT)
            except BlockingIOError:
                return False
            except OSError:
                return True

    class Server(socketserver.ThreadingTCPServer):
        daemon_threads = True
        allow_reuse_address = True

    server = Server(("127.0.0.1", 0), Handler)
    fabric.address = f"127.0.0.1:{server.server_address[1]}"
    with in_thread(server):
        yield fabric
