"""Which alarms of this project tell of which kind of incident: where a label does not name them, these are meant.

A generated scenario, or a stranger's, says what is wrong and not who ought to say so. ``also`` are true things that
come with it and that nobody would call a false page.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

IncidentKind = Literal[
    "idle",
    "waste",
    "hang",
    "hardware",
    "blind",
    "straggler",
    "compiler",
    "capacity",
    "spool",
    "endpoint",
    "unused",  # nodes that cost money and have no job
    "crash-loop",  # a job that starts again and again and never gets to a step
    "loss",  # a job that trains on NaN
]


@dataclass(frozen=True, slots=True)
class Tells:
    """``alarms``: any of them will do. ``also``: may come along, and is not enough."""

    alarms: tuple[str, ...]
    also: tuple[str, ...] = ()


# A job that completes nothing for long is told of by either: which one it is depends on how its processes wait.
_NOTHING_DONE: Final = ("IdleAllocated", "JobHang")
# What is left of a job that is given up.
_FREE: Final = ("NodesWithoutJob", "WithoutJobBelowFloor")
TELLS: Final[Mapping[IncidentKind, Tells]] = {
    "idle": Tells(_NOTHING_DONE, ("IdleBelowFloor",)),
    "hang": Tells(("JobHang", "IdleAllocated"), ("IdleBelowFloor",)),
    "waste": Tells(("LowUtilization",), ("Straggler",)),
    # Its peers hang until they give up, and then its nodes have no job: both are so, and follow from the fault.
    "hardware": Tells(("HardwareFault",), (*_NOTHING_DONE, "IdleBelowFloor", *_FREE, "CrashLoop")),
    "blind": Tells(("FleetBlind", "FleetSilent", "NodeBlind", "AgentSilent"), ("SpoolGrowing",)),
    "straggler": Tells(("Straggler",), ("LowUtilization",)),
    "compiler": Tells(("CompileTooLong", "CompileFailing"), ("CrashLoop",)),
    "capacity": Tells(
        ("CapacityMissing", "ReservationUnused", "SpotInterruption", "AgentSilent"), ("NodeBlind", "FleetSilent")
    ),
    "spool": Tells(("SpoolGrowing",)),
    "endpoint": Tells(("NoHealthyTargets", "EndpointErrors", "EndpointLatencyP99")),
    "unused": Tells(("NodesWithoutJob",), _FREE),
    "crash-loop": Tells(("CrashLoop",), _FREE),
    "loss": Tells(("NonFiniteLoss",)),
}
