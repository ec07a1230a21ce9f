"""Steps, bakes and gates of a rollout, as data."""

import math
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final

from fleet import FleetError
from fleet.shadow.gate import ShadowGate

DEFAULT_STEPS: Final = (5, 25, 50, 100)
# Two dozen minutes of launch, 40 of start-up (stacks.constructs.endpoint_service.START_UP), and some patience.
_READY_MINUTES: Final = 90.0
# A service takes its new version node by node, each with its start-up: half a dozen of them.
_PROMOTION_MINUTES: Final = 240.0


class PlanError(FleetError, ValueError):
    """Steps or limits that no rollout can follow; the message names the field, its value and what would be right."""


@dataclass(frozen=True, slots=True)
class Gates:
    """What the candidate must keep to. None: this is not judged."""

    error_percent: float | None = 1.0
    """Answers with a 5xx, of all that the candidate gave in a bake."""
    latency_ratio: float | None = 1.5
    """The candidate's p99 over the stable side's in the same minutes."""
    latency_slack_seconds: float = 0.05
    """Added to what the ratio allows: twice two milliseconds is no reason to go back."""
    runtime_errors: int | None = 0
    """Executions that failed on the candidate's cores in a bake."""
    cost_increase_percent: float | None = None
    """Dollars for a million tokens, candidate over stable."""
    alarms: tuple[str, ...] = ("EndpointErrors", "EndpointLatencyP99", "NoHealthyTargets", "HardwareFault")
    """Alarms of the fleet that end a rollout when they go off during it."""


@dataclass(frozen=True, slots=True)
class Plan:
    """One endpoint's rollout. Times are minutes, or in the unit that their name says.

    Raises:
        PlanError: the steps do not rise to 100, or a limit is not a positive number.
    """

    steps: tuple[int, ...] = DEFAULT_STEPS
    """Percent of the requests that go to the candidate."""
    bake_minutes: float = 10.0
    min_requests: int = 300
    """The candidate must have answered so many in a bake before it is judged good."""
    gates: Gates = field(default_factory=Gates)
    shadow: ShadowGate | None = None
    """What recorded requests must show before the first step; None: the first step comes without it."""
    artifact_minutes: float = 60.0
    """How long compiled graphs are waited for."""
    ready_minutes: float = _READY_MINUTES
    """How long nodes and health are waited for, at each step."""
    traffic_minutes: float = 60.0
    """How long requests and figures are waited for after a bake."""
    pause_hours: float = 12.0
    promotion_minutes: float = _PROMOTION_MINUTES
    drain_seconds: float = 150.0
    """From the last request of a side to the end of its nodes: longer than the deregistration delay."""
    look_seconds: int = 30

    def __post_init__(self) -> None:
        steps = self.steps
        if not steps or steps[-1] != 100 or steps[0] < 1 or any(a >= b for a, b in pairwise(steps)):
            raise PlanError(f"steps {list(steps)}: percents must rise and end at 100, such as {list(DEFAULT_STEPS)}")
        for name in ("bake_minutes", "ready_minutes", "traffic_minutes", "pause_hours", "promotion_minutes"):
            value = getattr(self, name)
            if not (math.isfinite(value) and value > 0):
                raise PlanError(f"{name} {value}: must be a positive number")
        if self.min_requests < 1 or self.look_seconds < 1:
            raise PlanError("min_requests and look_seconds must be at least 1")

    def nodes_at(self, step: int, nodes: int) -> int:
        """Nodes that the candidate needs for its share at ``step``, of ``nodes`` that serve everything."""
        return max(1, math.ceil(nodes * self.steps[step] / 100))
