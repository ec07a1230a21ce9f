"""What the coordinator tells a simulated node, and what the node answers. Loads no agent."""

import msgspec

from local.simulation.fleet_part import FleetPart
from local.simulation.machine import JobRegistration
from local.simulation.protocol import Script


class NodeSpec(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the coordinator tells a node: its place in the environment, its machine's directory, its story."""

    environment: str
    fleet: str
    root: str
    start: float
    script: Script
    job: JobRegistration | None
    part: FleetPart = FleetPart()


class Arrived(msgspec.Struct, frozen=True):
    """Time has come to the horizon ``now``."""

    now: float
