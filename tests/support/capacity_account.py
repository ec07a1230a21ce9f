"""An account in memory for the capacity watch, and the watch as it is deployed there."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest

from fleet.instances import Price
from fleet.reserved.observed import Batch, FleetDeployment, Node, Reservation, ScalingGroup, Stack
from lambdas.capacity_watch import handler
from lambdas.capacity_watch.adapters import Dependencies
from tests.support.watched_capacity import batch

CONTEXT: Any = SimpleNamespace(aws_request_id="r")
TICK = {"detail-type": "Scheduled Event", "source": "aws.events"}


@dataclass
class Account:
    """An account in memory: every port of the watch at once, by the fleet's name."""

    held: dict[str, tuple[Reservation, ...]] = field(default_factory=dict)
    made: tuple[tuple[str, Reservation], ...] = ()
    running: dict[str, tuple[Node, ...]] = field(default_factory=dict)
    environments: dict[str, Batch] = field(default_factory=dict)
    scaling: dict[str, ScalingGroup] = field(default_factory=dict)
    waiting: dict[str, frozenset[str]] = field(default_factory=dict)
    stack: Stack = field(default_factory=lambda: Stack(exists=False))
    tags: dict[str, tuple[str, str]] = field(default_factory=dict)
    broken: dict[str, Exception] = field(default_factory=dict)
    joined: list[tuple[str, list[str]]] = field(default_factory=list)
    kept: list[tuple[str, int]] = field(default_factory=list)
    stacks_asked: list[str] = field(default_factory=list)
    changing: tuple[str, ...] = ()
    heard: dict[str, int] = field(default_factory=dict)
    """Agents that speak, where it is not one on each node."""
    apart: dict[str, float] = field(default_factory=dict)
    """Points between the cores of a fleet's jobs, where they are far apart."""
    prices: dict[str, tuple[Price, ...]] = field(default_factory=dict)

    def world(self) -> Dependencies:
        def port(of: Callable[..., Any], **more: Any) -> Any:
            return SimpleNamespace(of=of, **more)

        return Dependencies(
            reservations=port(self._reservations, join=self._join, made_in=self._made_in),
            nodes=port(lambda p: self.running.get(p.fleet, ()), fleet_of=self._fleet_of),
            batches=port(lambda p: self.environments.get(p.fleet, batch()), keep=self._keep),
            groups=port(lambda p: self.scaling[p.fleet], waiting=lambda p: self.waiting[p.fleet]),
            stacks=port(self._stack),
            deployments=port(self._changing),
            heartbeats=port(self._heard),
            paces=port(self._paced),
        )

    def read_prices(self, _settings: object, _places: object) -> dict[str, tuple[Price, ...]]:
        """What the price table holds, by instance type."""
        self._maybe_fail("prices")
        return self.prices

    def _reservations(self, of: FleetDeployment) -> tuple[Reservation, ...]:
        self._maybe_fail(f"see {of.fleet}")
        return self.held.get(of.fleet, ())

    def _made_in(self, environment: str) -> tuple[tuple[str, Reservation], ...]:
        self._maybe_fail(f"see all of {environment}")
        return self.made

    def _join(self, of: FleetDeployment, reservations: Sequence[Reservation]) -> None:
        self._maybe_fail(f"join {of.fleet}")
        self.joined.append((of.fleet, [each.reservation_id for each in reservations]))

    def _keep(self, of: FleetDeployment, vcpus: int) -> None:
        self.kept.append((of.fleet, vcpus))

    def _stack(self, of: FleetDeployment) -> Stack:
        self.stacks_asked.append(of.fleet)
        return self.stack

    def _changing(self, environment: str, _now: object) -> tuple[str, ...]:
        self._maybe_fail(f"deployments of {environment}")
        return self.changing

    def _heard(self, of: FleetDeployment, _now: object) -> int:
        self._maybe_fail(f"hear {of.fleet}")
        return self.heard.get(of.fleet, len(self.running.get(of.fleet, ())))

    def _paced(self, of: FleetDeployment, _now: object) -> float | None:
        self._maybe_fail(f"pace {of.fleet}")
        return self.apart.get(of.fleet)

    def _fleet_of(self, instance_id: str) -> tuple[str, str] | None:
        self._maybe_fail(instance_id)
        return self.tags.get(instance_id)

    def _maybe_fail(self, what: str) -> None:
        if what in self.broken:
            raise self.broken[what]


@dataclass
class Deployed:
    account: Account
    places: tuple[FleetDeployment, ...]
    capsys: pytest.CaptureFixture[str]
    written: list[dict[str, Any]] = field(default_factory=list)

    def invoke(self, event: dict[str, Any] | None = None) -> dict[str, Any]:
        """Call the handler, and keep every line of JSON that it wrote."""
        self.written = []
        try:
            return handler.lambda_handler(event or TICK, CONTEXT)
        finally:
            self.written = [json.loads(line) for line in self.capsys.readouterr().out.splitlines() if line]

    @property
    def capacity(self) -> dict[str, dict[str, Any]]:
        """The capacity events of the last call, by fleet."""
        return {event["fleet"]: event for event in self.written if event.get("kind") == "capacity"}

    @property
    def problems(self) -> float:
        """What the last call counted."""
        count = self.counted("CapacityWatchProblems")
        assert count is not None
        return count

    def counted(self, metric: str) -> float | None:
        """A count that the last call published; None where it published none."""
        found = [event[metric][0] for event in self.written if metric in event]
        assert len(found) <= 1
        return float(found[0]) if found else None


Deploy = Callable[..., Deployed]


def warning(instance_id: str, event_id: str = "e-1") -> dict[str, Any]:
    """EC2's warning that it takes a Spot instance back in two minutes."""
    return {
        "id": event_id,
        "detail-type": "EC2 Spot Instance Interruption Warning",
        "source": "aws.ec2",
        "detail": {"instance-id": instance_id, "instance-action": "terminate"},
    }
