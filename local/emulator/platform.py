"""What the embedded AWS holds beside ministack: the clock, CloudWatch by region, generic resources, the inbox."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

from local.alarm_evaluation import Transition
from local.emulator.capacity.account import Capacity
from local.emulator.clock import EmulatorClock
from local.emulator.cloudwatch.service import CloudWatch, Publish
from local.emulator.faults import FaultStore
from local.emulator.resources.store import ResourceStore


class Scaling(Protocol):
    """The groups of a region whose size follows alarms."""

    def measure(self, region: str, service: CloudWatch, now: float) -> None:
        """Before alarms are evaluated."""
        ...

    def act(self, region: str, service: CloudWatch, now: float) -> None:
        """After it."""
        ...


@dataclass(slots=True)
class Platform:
    """One embedded AWS, of one account. ``publish_in(region)`` gives the function that delivers to SNS there."""

    account: str
    publish_in: Callable[[str], Publish]
    capacity: Capacity
    clock: EmulatorClock
    resources: ResourceStore
    faults: FaultStore = field(default_factory=FaultStore)
    inbox: list[dict[str, Any]] = field(default_factory=list)
    scaling: Scaling | None = None
    """What alarms move, beside whom they tell."""
    _regions: dict[str, CloudWatch] = field(default_factory=dict)

    def cloudwatch(self, region: str) -> CloudWatch:
        """CloudWatch of a region; empty when first asked for."""
        if region not in self._regions:
            self._regions[region] = CloudWatch(self.account, region, self.clock, self.publish_in(region))
        return self._regions[region]

    def evaluate(self, now: float) -> list[Transition]:
        """Evaluate the alarms of every region; returns when every notification has been delivered."""
        changes: list[Transition] = []
        for name, region in list(self._regions.items()):
            if self.scaling is not None:
                self.scaling.measure(name, region, now)
            changes += region.evaluate(now)
            if self.scaling is not None:
                self.scaling.act(name, region, now)
        return changes

    def advance(self, now: float) -> list[Transition]:
        """Move the virtual time and evaluate at each whole minute on the way; ``ValueError`` for a step back."""
        return [change for minute in self.clock.advance(now) for change in self.evaluate(minute)]

    def evaluate_now(self) -> None:
        """Evaluate in real time; nothing once a virtual time has been set."""
        if self.clock.virtual_now is None:
            self.evaluate(self.clock.now())

    def datums(self) -> int:
        """How many datums all regions have taken."""
        return sum(region.metrics.datums for region in self._regions.values())
