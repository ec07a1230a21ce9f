"""What a rollout looks at and acts on. An endpoint is served by ECS or by SageMaker, behind the same four protocols."""

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from fleet.rollout.facts import RolloutPlace, Side, SidePlace
from lambdas.rollout.executions import StateMachine
from lambdas.rollout.objects import ArtifactStore, ShadowReports
from lambdas.rollout.store import Table

Window = tuple[datetime, datetime]
"""From when to when."""


class NotAppliedError(Exception):
    """AWS took a change and shows another state; asked again, it may show it."""


class BusyError(NotAppliedError):
    """AWS is at a change that takes minutes, and takes no other one meanwhile: look again, as often as it takes."""


class NoRoomError(BusyError):
    """A quota of the account has no room for what was asked: it may have later, when others need less."""


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


@dataclass(frozen=True, slots=True)
class Dependencies:
    """All of it. Each call may raise what botocore raises."""

    store: Table
    balancer: Balancer
    services: Services
    nodes: Nodes
    measured: Measured
    artifacts: ArtifactStore
    reports: ShadowReports
    executions: StateMachine
