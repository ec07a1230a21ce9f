"""Playing a scenario: nodes, load balancers and alarms, minute by minute, in virtual time."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from environments.model import Environment
from local.control import EmulatorControl, Transition
from local.endpoint import client
from local.load_balancer import SimulatedEndpoint, dimension_sets, publish
from local.simulation.coordinator import SETTLE_SECONDS, Coordinator
from local.simulation.node import NodeSpec
from local.simulation.scenario import Scenario


@dataclass(slots=True)
class Outcome:
    """What came of a scenario."""

    transitions: list[Transition] = field(default_factory=list)
    datums: int = 0


def play(
    scenario: Scenario,
    environment: Environment,
    specs: list[NodeSpec],
    start: float,
    log_directory: Path,
    control: EmulatorControl,
    tell: Callable[[int, list[Transition]], None],
) -> Outcome:
    """Let the scenario happen from virtual second ``start`` on; ``tell`` hears of every minute.

    Raises:
        NodeFailedError: A simulated node ended or hangs.
        EmulatorGoneError: The embedded AWS does not answer.
    """
    outcome = Outcome()
    endpoints = _endpoints(scenario, environment)
    with Coordinator(specs, log_directory, control.endpoint_url) as nodes:
        for minute in range(1, scenario.minutes + 1):
            end = start + 60 * minute
            nodes.advance(end)
            outcome.datums += publish(endpoints, end - 60)
            transitions = control.set_clock(end + SETTLE_SECONDS)
            outcome.transitions += transitions
            tell(minute, transitions)
        outcome.datums += nodes.datums
        nodes.finish()
    return outcome


def alarm_topics(environment: str) -> dict[str, str]:
    """The topic's name of every deployed alarm that tells somebody."""
    pages = (
        client("cloudwatch")
        .get_paginator("describe_alarms")
        .paginate(AlarmNamePrefix=f"{environment}/", AlarmTypes=["MetricAlarm", "CompositeAlarm"])
    )
    return {
        alarm["AlarmName"]: alarm["AlarmActions"][0].rpartition(":")[2]
        for page in pages
        for alarm in (*page["MetricAlarms"], *page["CompositeAlarms"])
        if alarm.get("AlarmActions")
    }


def _endpoints(scenario: Scenario, environment: Environment) -> list[SimulatedEndpoint]:
    return [
        SimulatedEndpoint(
            fleet=fleet.name,
            dimension_sets=dimension_sets(environment.name, fleet.name),
            requests_per_minute=scenario.fleets[fleet.name].requests_per_minute,
            healthy_targets=fleet.endpoint.tasks,
        )
        for fleet in environment.inference_fleets
        if fleet.name in scenario.fleets
    ]
