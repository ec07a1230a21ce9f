"""The installed agent of one node, in virtual time: ``python -m local.sandbox.agent AGENT`` from its unit.

``agents`` and ``fleet`` are the installed ones, which come first on the unit's path. Each line of standard input is a
Turn; ``arrived`` is printed when time has come to its horizon. The end of input ends the node.
"""

import logging
import os
import sys
import threading
from pathlib import Path

import msgspec

import agents.main
from agents.config import read
from local.simulation.monitor_link import MonitorDoor
from local.simulation.node_spec import Arrived
from local.simulation.protocol import SOCKET_VARIABLE, Script
from local.simulation.virtual_clock import VirtualClock


class Agent(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the unit is started with: the installed configuration, where its monitor knocks, and its story so far."""

    config: str
    socket: str
    start: float
    script: Script
    installed: str


class Turn(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Time may go on to ``horizon``; what the node goes through from now on."""

    horizon: float
    script: Script


class Turns:
    """The other side of the clock: standard input and output."""

    def __init__(self, door: MonitorDoor, stop: threading.Event) -> None:
        self._door, self._stop = door, stop

    def next(self, now: float) -> float | None:
        """Report the arrival; the new horizon, or None when there is none."""
        sys.stdout.buffer.write(msgspec.json.encode(Arrived(now)) + b"\n")
        sys.stdout.buffer.flush()
        line = sys.stdin.buffer.readline()
        if not line.strip():
            self._stop.set()
            return None
        turn = msgspec.json.decode(line, type=Turn)
        self._door.change(turn.script)
        return turn.horizon


def main(argument: str) -> None:
    """Run the agent that ``argument`` (an Agent in JSON) describes."""
    told = msgspec.json.decode(argument, type=Agent)
    logging.basicConfig(level=logging.INFO, stream=sys.stderr)
    if not Path(agents.main.__file__).resolve().is_relative_to(Path(told.installed).resolve()):
        raise SystemExit(f"{agents.main.__file__} is not the agent that was installed in {told.installed}")
    os.environ[SOCKET_VARIABLE] = told.socket
    stop = threading.Event()
    with MonitorDoor(Path(told.socket), told.script) as door:
        clock = VirtualClock(told.start, door, Turns(door, stop).next, lambda _now: None)
        agents.main.run(read(Path(told.config)), clock, stop, lockstep=True)


if __name__ == "__main__":
    main(sys.argv[1])
