"""The Unix socket between a simulated node and its stand-in neuron-monitor: what both say, and the node's end of it.

One JSON object a line. The stand-in greets, the node answers with the script; after that every command of the node
gets exactly one answer, so that the node knows how many lines to wait for before virtual time may go on.
"""

import socket
from pathlib import Path
from typing import Final, Self

import msgspec

from local.simulation.script import Script

SOCKET_VARIABLE: Final = "NEURON_SIMULATION_SOCKET"
# Real seconds. A stand-in answers in milliseconds; this is for a machine that is busy with something else.
REAL_LIMIT_SECONDS: Final = 30.0


class Hello(msgspec.Struct, frozen=True):
    """The stand-in's first words: its process and the period its configuration asks for (None: it never prints)."""

    pid: int
    period_seconds: float | None


class Command(msgspec.Struct, frozen=True, omit_defaults=True):
    """Virtual time is ``now``; print what is due if ``emit``, else only show that you are alive.

    ``script``: what the node goes through from here on, where that has changed.
    """

    now: float
    emit: bool
    script: Script | None = None


class Answer(msgspec.Struct, frozen=True):
    """How many lines the stand-in printed for the command. Its death is the end of the connection."""

    lines: int


def send(connection: socket.socket, message: msgspec.Struct) -> None:
    """Write one message."""
    connection.sendall(msgspec.json.encode(message) + b"\n")


class SimulationStuckError(RuntimeError):
    """Something that must answer did not: the message says who and for how long."""


class MonitorLink:
    """One connected stand-in."""

    def __init__(self, connection: socket.socket, script: Script) -> None:
        self._connection = connection
        self._reader = connection.makefile("rb")
        self._changed: Script | None = None
        self.hello = msgspec.json.decode(self._reader.readline(), type=Hello)
        send(connection, script)

    def change(self, script: Script) -> None:
        """Tell the stand-in with the next command what the node goes through from now on."""
        self._changed = script

    def ask(self, command: Command) -> int | None:
        """Give a command; the number of lines that were printed for it, or None when the stand-in has ended."""
        told = msgspec.structs.replace(command, script=self._changed) if self._changed else command
        self._changed = None
        try:
            send(self._connection, told)
            line = self._reader.readline()
        except TimeoutError as error:
            raise SimulationStuckError(
                f"neuron-monitor (process {self.hello.pid}) did not answer within {REAL_LIMIT_SECONDS:.0f} s"
            ) from error
        except OSError:
            return None
        return msgspec.json.decode(line, type=Answer).lines if line else None

    def close(self) -> None:
        """Forget the stand-in; one that still runs sees the end of the connection and ends."""
        self._reader.close()
        self._connection.close()


class MonitorDoor:
    """Where stand-ins of one node knock."""

    def __init__(self, path: Path, script: Script) -> None:
        self._script = script
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(path))
        self._listener.listen(4)
        self._listener.settimeout(REAL_LIMIT_SECONDS)
        self._admitted: MonitorLink | None = None

    def admit(self) -> MonitorLink | None:
        """The stand-in that was just started, or None when it ended before it could say a word."""
        try:
            connection, _ = self._listener.accept()
        except TimeoutError as error:
            raise SimulationStuckError(
                f"neuron-monitor was started but did not connect within {REAL_LIMIT_SECONDS:.0f} s"
            ) from error
        connection.settimeout(REAL_LIMIT_SECONDS)
        try:
            self._admitted = MonitorLink(connection, self._script)
        except (OSError, msgspec.DecodeError):
            connection.close()
            self._admitted = None
        return self._admitted

    def change(self, script: Script) -> None:
        """What the node goes through from now on, for the stand-in that runs and for those to come."""
        if script == self._script:
            return
        self._script = script
        if self._admitted is not None:
            self._admitted.change(script)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._admitted is not None:
            self._admitted.close()
        self._listener.close()
