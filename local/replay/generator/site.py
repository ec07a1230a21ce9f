"""One fleet of a scenario while it is being written: its machine, its jobs, and what was put into it."""

import random
from dataclasses import dataclass, field
from typing import Final

from local.replay.generator.day import Day
from local.replay.generator.machines import Machine
from local.replay.generator.track import Track
from local.replay.scenario import Change, EventKind, Fleet, Incident, Job, Maintenance, NodeEvent

# What an owner calls worth being woken for: of a job, in dollars an hour.
PAGE_USD_PER_HOUR: Final = 10.0


@dataclass(slots=True)
class Placed:
    """A job on its nodes. ``odd`` is the node that may go through something else than its peers."""

    id: str
    nodes: tuple[int, ...]
    day: Day
    track: Track
    odd: int

    def job(self) -> Job:
        """As the scenario has it."""
        return Job.model_validate({"id": self.id, "nodes": self.nodes, **self.track.as_file(self.odd)})


@dataclass(slots=True)
class Site:
    """A fleet, and what is said of it. ``target`` is the utilization that it aims at."""

    rng: random.Random
    name: str
    machine: Machine
    nodes: int
    minutes: int
    target: float
    purpose: str = "training"
    jobs: list[Placed] = field(default_factory=list)
    events: list[NodeEvent] = field(default_factory=list)
    incidents: list[Incident] = field(default_factory=list)
    changes: list[Change] = field(default_factory=list)
    maintenance: list[Maintenance] = field(default_factory=list)
    outages: list[tuple[int, int]] = field(default_factory=list)
    endpoint: list[dict[str, object]] = field(default_factory=list)

    def place(self, job: str, nodes: tuple[int, ...], day: Day) -> Placed:
        """Put a job that has not begun on ``nodes``."""
        placed = Placed(job, nodes, day, Track(self.minutes), self.rng.choice(nodes))
        self.jobs.append(placed)
        return placed

    def event(self, kind: EventKind, nodes: tuple[int, ...], at: int, until: int) -> None:
        """Let something happen to machines."""
        if at < min(until, self.minutes):
            self.events.append(NodeEvent(kind=kind, nodes=nodes, at=at, until=min(until, self.minutes)))

    def fleet(self) -> Fleet:
        """As the scenario has it. Where a bar is of one node, the owner's is spread over the smallest job's."""
        smallest = min((len(placed.nodes) for placed in self.jobs), default=self.nodes)
        serves = self.purpose == "inference"
        return Fleet.model_validate(
            {
                "purpose": self.purpose,
                "instance_type": self.machine.instance_type,
                "nodes": self.nodes,
                "market": self.machine.market,
                "target_utilization_percent": round(self.target, 1),
                "alarms": {
                    "low_utilization_percent": round(self.target / (6 if serves else 2), 1),
                    "wasted_usd_per_node_hour": round(PAGE_USD_PER_HOUR / smallest, 2),
                    "idle_usd_per_hour": PAGE_USD_PER_HOUR,
                },
                "jobs": [placed.job() for placed in self.jobs],
                "events": self.events,
                "endpoint": self.endpoint,
            }
        )
