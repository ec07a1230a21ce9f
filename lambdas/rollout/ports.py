"""What rollouts need of the world. ``adapters`` speaks to AWS; tests bring a world of their own."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final, Protocol

from fleet.rollout.facts import RolloutPlace, Side, SidePlace
from fleet.rollout.record import Rollout
from fleet.shadow.comparison import Comparison

# Beside the time between two looks: a look with all its retries.
_LATE: Final = timedelta(minutes=5)


Window = tuple[datetime, datetime]
"""From when to when."""


class ConflictError(Exception):
    """The record was changed by somebody else since it was read."""


class NotAppliedError(Exception):
    """AWS took a change and shows another state; asked again, it may show it."""


class BusyError(NotAppliedError):
    """AWS is at a change that takes minutes, and takes no other one meanwhile: look again, as often as it takes."""


class NoRoomError(BusyError):
    """A quota of the account has no room for what was asked: it may have later, when others need less."""


@dataclass(frozen=True, slots=True)
class Record:
    """A rollout as stored. Until ``is_applied``, what it wants may not be true in AWS."""

    rollout: Rollout
    is_applied: bool
    looked_at: datetime
    version: int = 0

    def is_looked_at(self, now: datetime) -> bool:
        """Whether the last look is no older than it may be."""
        return now - self.looked_at < timedelta(seconds=self.rollout.plan.look_seconds) + _LATE

    @property
    def is_settled(self) -> bool:
        """Whether it is over, and what it ended with is true."""
        return self.rollout.is_over and self.is_applied

    def with_rollout(self, rollout: Rollout, *, is_applied: bool) -> "Record":
        """The same record of the rollout as it stands now."""
        return replace(self, rollout=rollout, is_applied=is_applied)


class Store(Protocol):
    """One record for each fleet: the newest rollout, which is the lease of the endpoint until it has ended."""

    def read(self, fleet: str) -> Record | None:
        """The record, as written last."""
        ...

    def write(self, record: Record) -> Record:
        """Store over the version that was read; raises ConflictError."""
        ...


class Balancer(Protocol):
    """The listener's rule and the target groups."""

    def weights(self, place: RolloutPlace) -> tuple[int, int]:
        """Percent of the requests for the stable side and for the candidate, read from the rule."""
        ...

    def set_weights(self, place: RolloutPlace, candidate: int) -> None:
        """Send ``candidate`` percent to the candidate and the rest to the stable side, in one call."""
        ...

    def healthy(self, side: SidePlace) -> int:
        """Targets that the load balancer calls healthy."""
        ...


class Services(Protocol):
    """The two ECS services and the task definitions."""

    def of(self, side: SidePlace) -> Side:
        """What runs there."""
        ...

    def tasks(self, side: SidePlace) -> tuple[str, ...]:
        """Ids of the tasks that run."""
        ...

    def target(self, side: SidePlace) -> str:
        """The task definition that the service is told to run."""
        ...

    def run(self, side: SidePlace, version: str) -> None:
        """Make the service run ``version``."""
        ...

    def newest(self, place: RolloutPlace) -> str:
        """What was deployed last: the newest task definition of the endpoint."""
        ...

    def register(self, place: RolloutPlace, image: str) -> str:
        """The same with another image."""
        ...

    def keep(self, place: RolloutPlace, version: str) -> None:
        """Let deployments leave the stable side at ``version``."""
        ...


class Nodes(Protocol):
    """The two sides' Auto Scaling groups."""

    def ask_for(self, side: SidePlace, nodes: int) -> None:
        """Make ``nodes`` the number that the group should have."""
        ...

    def lacking(self, side: SidePlace) -> str:
        """Why there are fewer than asked for, in AWS's words; empty where nothing failed last."""
        ...

    def wanted(self, side: SidePlace) -> int:
        """How many the group is to have."""
        ...

    def let_scale(self, side: SidePlace, scales: bool) -> None:
        """Let the group follow the load, or keep it as it is."""
        ...

    def stands_still(self, side: SidePlace) -> bool:
        """Whether it is kept as it is, by whomever."""
        ...


class Measured(Protocol):
    """CloudWatch."""

    def add_to(self, side: Side, place: RolloutPlace, of: SidePlace, tasks: tuple[str, ...], during: Window) -> Side:
        """``side`` with its minutes, failed executions and price of tokens in that time."""
        ...

    def alarms(self, place: RolloutPlace, since: datetime) -> tuple[str, ...]:
        """Keys of the fleet's alarms that went off since then and are on."""
        ...


class Artifacts(Protocol):
    """The store of compiled graphs."""

    def has(self, artifact: str) -> bool | None:
        """Whether it is whole; None where there is no store."""
        ...


class Reports(Protocol):
    """What the candidate's tasks have written of recorded requests."""

    def of(self, place: RolloutPlace, version: str, tasks: tuple[str, ...]) -> tuple[Comparison | None, ...]:
        """One for each of ``tasks``; None where there is none, or none that can be read."""
        ...


class Executions(Protocol):
    """The state machine."""

    def start(self, rollout: Rollout) -> None:
        """Drive ``rollout``; an execution for the same fence is started once."""
        ...

    def runs(self, rollout: Rollout) -> bool:
        """Whether the execution for its fence does; one that was started this very moment may not show yet."""
        ...


@dataclass(frozen=True, slots=True)
class World:
    """All of it. Each call may raise what botocore raises."""

    store: Store
    balancer: Balancer
    services: Services
    nodes: Nodes
    measured: Measured
    artifacts: Artifacts
    reports: Reports
    executions: Executions
