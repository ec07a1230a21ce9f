"""A stand-in for the neuron-monitor program: the same flags, configuration and output, for a node that has no devices.

It takes its script and virtual time from the Unix socket that NEURON_SIMULATION_SOCKET names, and prints a report when
the simulated node tells it that one is due. SIGTERM keeps its default action on purpose: a process that was told to
end can then never answer another command, which lets virtual time wait for its end.
"""

import argparse
import json
import os
import re
import socket
import sys
from pathlib import Path
from typing import Final

import msgspec

from local.simulation.monitor_link import SOCKET_VARIABLE, Answer, Command, Hello, send
from local.simulation.report import FIRST_PERIOD_SECONDS, GARBAGE, LATER_BY_SECONDS, ReportBuilder
from local.simulation.script import PhaseKind, Script

# The real tool's default, which it also falls back to, without a word, when the period is not in whole seconds.
DEFAULT_PERIOD_SECONDS: Final = 5.0


class MonitorDied(Exception):  # noqa: N818 - what happens to it is the name
    """The script says that the tool dies now."""


class Monitor:
    """Answers the simulated node's commands with reports on standard output."""

    def __init__(self, script: Script, period_seconds: float) -> None:
        self._script = script
        self._builder = ReportBuilder(script)
        self._period = period_seconds
        self._printed_before = False

    def answer(self, command: Command) -> Answer:
        """Carry out one command.

        Raises:
            MonitorDied: The script says so for this moment.
        """
        if command.script is not None:
            self._script, self._builder = command.script, ReportBuilder(command.script)
        kind = self._script.phase_at(command.now).kind
        if kind is PhaseKind.MONITOR_DEATH:
            raise MonitorDied
        if not command.emit or kind is PhaseKind.MONITOR_HANG:
            return Answer(0)
        period = self._period + LATER_BY_SECONDS if self._printed_before else FIRST_PERIOD_SECONDS
        self._printed_before = True
        _print_line(GARBAGE if kind is PhaseKind.MONITOR_GARBAGE else self._builder.line(command.now, period))
        return Answer(1)


def period_of(config_file: Path | None) -> float | None:
    """The period that a configuration asks for, with the real tool's habits: None means that it never prints."""
    if config_file is None:
        return DEFAULT_PERIOD_SECONDS
    text = str(json.loads(config_file.read_text(encoding="utf-8")).get("period", "5s"))
    if re.fullmatch(r"\d+ms", text):
        return None
    whole = re.fullmatch(r"(\d+)s", text)
    return float(whole[1]) if whole else DEFAULT_PERIOD_SECONDS


def main() -> int:
    """The program; returns its exit code."""
    parser = argparse.ArgumentParser(prog="neuron-monitor")
    parser.add_argument("-c", "--config-file", type=Path)
    parser.add_argument("--verbose", type=int, default=0, choices=range(5))
    arguments = parser.parse_args()
    path = os.environ.get(SOCKET_VARIABLE)
    if not path:
        return _fail(f"no Neuron device here, and {SOCKET_VARIABLE} names no simulated node")
    try:
        period = period_of(arguments.config_file)
    except (OSError, ValueError) as error:
        return _fail(f"cannot read the configuration file: {error}")
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(path)
        return _serve(connection, period)


def _serve(connection: socket.socket, period: float | None) -> int:
    send(connection, Hello(os.getpid(), period))
    commands = connection.makefile("rb")
    monitor = Monitor(msgspec.json.decode(commands.readline(), type=Script), period or DEFAULT_PERIOD_SECONDS)
    decoder = msgspec.json.Decoder(Command)
    try:
        for line in commands:
            send(connection, monitor.answer(decoder.decode(line)))
    except MonitorDied:
        return _fail("unexpected fault address 0x0: fatal error: fault")
    except (BrokenPipeError, ConnectionResetError):
        return 0
    return 0


def _print_line(line: bytes) -> None:
    sys.stdout.buffer.write(line + b"\n")
    sys.stdout.buffer.flush()


def _fail(message: str) -> int:
    sys.stderr.write(f"neuron-monitor: {message}\n")
    return 1


if __name__ == "__main__":
    sys.exit(main())
