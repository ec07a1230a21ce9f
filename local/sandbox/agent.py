"""The installed agent of one node, in virtual time: ``python -m local.sandbox.agent AGENT`` from its unit.

``agents`` and ``fleet`` are the installed ones, which come first on the unit's path. It is
kept in step by ``local.simulation.lockstep``.
"""

import logging
import os
import sys
import threading
from pathlib import Path

import msgspec

import agents.main
from agents.config import read
from local.simulation.lockstep import Turns
from local.simulation.monitor_link import SOCKET_VARIABLE, MonitorDoor
from local.simulation.script import Script
from local.simulation.virtual_clock import VirtualClock


class Agent(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the unit is started with: the installed configuration, where its monitor knocks, and its script so far."""

    config: str
    socket: str
    start: float
    script: Script
    installed: str


def main(argument: str) -> None:
    """Run the agent that ``argument`` (an Agent in JSON) describes."""
    told = msgspec.json.decode(argument, type=Agent)
    logging.basicConfig(level=logging.INFO, stream=sys.stderr)
    if not Path(agents.main.__file__).resolve().is_relative_to(Path(told.installed).resolve()):
        raise SystemExit(f"{agents.main.__file__} is not the agent that was installed in {told.installed}")
    os.environ[SOCKET_VARIABLE] = told.socket
    stop = threading.Event()
    with MonitorDoor(Path(told.socket), told.script) as door:
        clock = VirtualClock(told.start, door, Turns(stop, door.change).next, lambda _now: None)
        agents.main.run(read(Path(told.config)), clock, stop, lockstep=True)


if __name__ == "__main__":
    main(sys.argv[1])
