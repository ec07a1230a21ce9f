"""Playing a scenario: nodes, load balancers and alarms, minute by minute, in virtual time."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import boto3

from environments.model import Environment
from local.control import EmulatorControl, Transition
from local.demo import service_metrics
from local.demo.pages import Match, compare, received_pages
from local.demo.service_metrics import NAMESPACE, SimulatedEndpoint, dimension_sets
from local.simulation.coordinator import Coordinator
from local.simulation.lockstep import SETTLE_SECONDS
from local.simulation.scenario import Scenario
from local.simulation.script import NodeSpec

_POLL_SECONDS: Final = 0.5


@dataclass(frozen=True, slots=True)
class Incident:
    """A scenario in an environment, from virtual second ``start`` on."""

    scenario: Scenario
    environment: Environment
    specs: list[NodeSpec]
    start: float
    control: EmulatorControl

    def play(self, log_directory: Path, tell: Callable[[int, list[Transition]], None]) -> list[Transition]:
        """Let it happen, telling ``tell`` of every minute; all changes of state that came of it.

        Raises:
            NodeFailedError: A simulated node ended or hangs.
            EmulatorGoneError: The embedded AWS does not answer.
        """
        happened: list[Transition] = []
        endpoints = self._endpoints()
        with Coordinator(self.specs, log_directory, self.control.endpoint_url) as nodes:
            for minute in range(1, self.scenario.minutes + 1):
                end = self.start + 60 * minute
                nodes.advance(end)
                for endpoint in endpoints:
                    self.control.put_service_metrics(self.environment.region, NAMESPACE, endpoint.datums(end - 60))
                for namespace, datums in service_metrics.datums(self.environment, end - 60).items():
                    self.control.put_service_metrics(self.environment.region, namespace, datums)
                transitions = self.control.set_clock(end + SETTLE_SECONDS)
                happened += transitions
                tell(minute, transitions)
        return happened

    def pages(self, patience_seconds: float) -> list[Match]:
        """The pages held against the scenario; late ones are waited for."""
        nodes: dict[str, list[str]] = {}
        for spec in self.specs:
            nodes.setdefault(spec.fleet, []).append(spec.script.node)
        deadline = time.monotonic() + patience_seconds
        while True:
            received = received_pages(self.control.inbox(), self.start)
            matches = compare(self.scenario, self.environment.name, received, nodes)
            if not any(match.problems for match in matches) or time.monotonic() > deadline:
                return matches
            time.sleep(_POLL_SECONDS)

    def _endpoints(self) -> list[SimulatedEndpoint]:
        return [
            SimulatedEndpoint(
                fleet=fleet.name,
                dimension_sets=dimension_sets(self.environment.name, fleet.name),
                requests_per_minute=self.scenario.fleets[fleet.name].requests_per_minute,
                healthy_targets=fleet.nodes,
            )
            for fleet in self.environment.inference_fleets
            if fleet.name in self.scenario.fleets
        ]


def alarm_topics(environment: str) -> dict[str, str]:
    """The topic's name of every deployed alarm that tells somebody."""
    pages = (
        boto3.client("cloudwatch")
        .get_paginator("describe_alarms")
        .paginate(AlarmNamePrefix=f"{environment}/", AlarmTypes=["MetricAlarm", "CompositeAlarm"])
    )
    return {
        alarm["AlarmName"]: alarm["AlarmActions"][0].rpartition(":")[2]
        for page in pages
        for alarm in (*page["MetricAlarms"], *page["CompositeAlarms"])
        if alarm.get("AlarmActions")
    }
