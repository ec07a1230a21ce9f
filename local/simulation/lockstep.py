"""The conversation that keeps agents in step: none enters a minute before every agent has ended the one before.

An agent's process prints ``Arrived`` on standard output when virtual time has come to its horizon, and reads its next
``Turn`` from standard input; the end of input ends it. Loads no agent.
"""

import selectors
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

import msgspec

from local.simulation.script import Script

# Virtual seconds after a minute's end in which the agents publish that minute; the alarms look at it afterwards.
SETTLE_SECONDS: Final = 10
# Real seconds for one virtual minute of all agents; the first one includes starting eight interpreters.
REAL_LIMIT_SECONDS: Final = 90.0


class NodeFailedError(RuntimeError):
    """A simulated node ended or does not answer; the message names the node, its log and the log's last lines."""


class Arrived(msgspec.Struct, frozen=True):
    """Time has come to the horizon ``now``."""

    now: float


class Turn(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Time may go on to ``horizon``; ``script``: what the node goes through from now on, where that may change."""

    horizon: float
    script: Script | None = None


class Turns:
    """The agent's side, on standard input and output; ``change`` is given each script that comes with a turn."""

    def __init__(self, stop: threading.Event, change: Callable[[Script], None]) -> None:
        self._stop, self._change = stop, change

    def next(self, now: float) -> float | None:
        """Report the arrival; the new horizon, or None when there is none."""
        sys.stdout.buffer.write(msgspec.json.encode(Arrived(now)) + b"\n")
        sys.stdout.buffer.flush()
        line = sys.stdin.buffer.readline()
        if not line.strip():
            self._stop.set()
            return None
        turn = msgspec.json.decode(line, type=Turn)
        if turn.script is not None:
            self._change(turn.script)
        return turn.horizon


@dataclass(frozen=True, slots=True)
class AgentProcess:
    """Our side of one agent's process; errors call the node ``name`` and quote the end of ``log_file``."""

    name: str
    process: subprocess.Popen[bytes]
    log_file: Path

    @property
    def output(self) -> IO[bytes]:
        """Where the agent reports its arrivals."""
        if self.process.stdout is None:
            raise RuntimeError("the agent was started without a pipe")
        return self.process.stdout

    def release(self, turn: Turn) -> None:
        """Let the agent's time go on."""
        self.write(msgspec.json.encode(turn))

    def write(self, line: bytes) -> None:
        """Send one line to the agent's standard input."""
        if self.process.stdin is None:
            raise RuntimeError("the agent was started without a pipe")
        try:
            self.process.stdin.write(line + b"\n")
            self.process.stdin.flush()
        except OSError as error:
            raise self.failure("ended") from error

    def take_arrival(self) -> None:
        """Read the arrival that is waiting in the pipe."""
        line = self.output.readline()
        if not line:
            raise self.failure("ended")
        msgspec.json.decode(line, type=Arrived)

    def failure(self, what: str) -> NodeFailedError:
        """The error that says what happened to this node."""
        tail = self.log_file.read_text(encoding="utf-8", errors="replace").splitlines()[-12:]
        return NodeFailedError("\n".join([f"{self.name} {what}; the end of its log, {self.log_file}:", *tail]))


def wait_for_all(agents: Sequence[AgentProcess]) -> None:
    """Return when every agent's time has come to its horizon.

    Raises:
        NodeFailedError: one has ended, or takes longer than the real-time limit.
    """
    with selectors.DefaultSelector() as selector:
        for agent in agents:
            selector.register(agent.output, selectors.EVENT_READ, agent)
        while waiting := selector.get_map():
            ready = selector.select(REAL_LIMIT_SECONDS)
            if not ready:
                late: AgentProcess = next(iter(waiting.values())).data
                raise late.failure(f"did not finish its minute within {REAL_LIMIT_SECONDS:.0f} s")
            for key, _ in ready:
                key.data.take_arrival()
                selector.unregister(key.fileobj)
