"""Which simulated nodes a scenario needs in an environment, and what each of them goes through."""

import hashlib
from itertools import cycle, islice
from pathlib import Path

from environments.fleet_specs import fleet_spec
from environments.fleets import Fleet, TrainingFleet
from environments.model import Environment
from fleet.capacity.network_interfaces import uses_efa
from fleet.instances import instance_type
from local.simulation.scenario import FleetScript, Scenario
from local.simulation.script import FleetPart, JobRegistration, NodeSpec, Script


class ScenarioMismatchError(ValueError):
    """The scenario speaks of a fleet or node that the environment does not have."""


def place(scenario: Scenario, environment: Environment, start: float, root: Path) -> list[NodeSpec]:
    """One spec for each node of the scenario's fleets, their directories below ``root``.

    Raises:
        ScenarioMismatchError: A fleet or node index that the environment does not have.
    """
    fleets = {fleet.name: fleet for fleet in environment.fleets}
    specs: list[NodeSpec] = []
    for name, script in scenario.fleets.items():
        if name not in fleets:
            raise ScenarioMismatchError(f"scenario {scenario.name}: environment {environment.name} has no fleet {name}")
        specs.extend(_fleet_nodes(scenario, environment, fleets[name], script, start, root))
    return specs


def node_id(environment: str, fleet: str, index: int) -> str:
    """An instance id that a node keeps from run to run."""
    return "i-0" + hashlib.blake2b(f"{environment}/{fleet}/{index}".encode(), digest_size=8).hexdigest()


def _fleet_nodes(
    scenario: Scenario, environment: Environment, fleet: Fleet, script: FleetScript, start: float, root: Path
) -> list[NodeSpec]:
    outside = [index for index in script.exceptions if index >= fleet.nodes]
    if outside:
        raise ScenarioMismatchError(
            f"scenario {scenario.name}: {fleet.name} has {fleet.nodes} nodes, none is {outside}"
        )
    zones = _zones(environment, fleet)
    specs = []
    for index, (zone, zone_id) in enumerate(islice(cycle(zones), fleet.nodes)):
        node = node_id(environment.name, fleet.name, index)
        node_script = Script(
            node=node,
            instance_type=fleet.instance_type,
            availability_zone=zone,
            availability_zone_id=zone_id,
            region=environment.region,
            lnc=fleet.lnc or instance_type(fleet.instance_type).accelerator.default_lnc,
            dtype=fleet.dtype,
            runtimes=script.runtimes,
            seed=scenario.seed,
            phases=tuple(phase.from_start(start) for phase in script.phases_of(index)),
        )
        job, part = _job(fleet, script, index), _part(environment, fleet, script, index)
        specs.append(NodeSpec(environment.name, fleet.name, str(root / node), start, node_script, job, part))
    return specs


def _job(fleet: Fleet, script: FleetScript, index: int) -> JobRegistration | None:
    if script.job is None:
        return None
    # Nodes that train work for one job; each node of an endpoint runs a task, with an id of its own.
    own = script.job.id if isinstance(fleet, TrainingFleet) else f"{script.job.id}-{index}"
    return JobRegistration(own, script.job.name, script.job.owner)


def _part(environment: Environment, fleet: Fleet, script: FleetScript, index: int) -> FleetPart:
    known = instance_type(fleet.instance_type)
    return FleetPart(
        index=index,
        nodes=fleet.nodes,
        requests_per_minute=None if isinstance(fleet, TrainingFleet) else script.requests_per_minute / fleet.nodes,
        efa_devices=known.efa_interfaces if uses_efa(fleet_spec(environment, fleet), known) else 0,
    )


def _zones(environment: Environment, fleet: Fleet) -> list[tuple[str, str]]:
    zones = environment.network.availability_zones
    if isinstance(fleet, TrainingFleet):
        return [(fleet.availability_zone, zones[fleet.availability_zone])]
    return list(zones.items())
