"""The nodes that the account has launched for a fleet: each boots in its folder, and ends when EC2 says so."""

import json
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

import boto3

from environments.fleets import TrainingFleet
from environments.model import Environment
from fleet import naming
from fleet.instances import instance_type
from local.control import EmulatorControl
from local.sandbox.boot_data import Metadata
from local.sandbox.hardware import Hardware
from local.sandbox.machine import Machine
from local.simulation.lockstep import SETTLE_SECONDS, Turn, wait_for_all
from local.simulation.script import Phase, PhaseKind, Script
from local.training.node import Node

if TYPE_CHECKING:
    from mypy_boto3_ec2.type_defs import InstanceTypeDef

# Virtual minutes from a node's launch until its ECS agent joins: AMI, user data, installation, gate.
BOOT_MINUTES: Final = 2
# neuron-monitor reports every 20 seconds. So late in its first minute, none of its reports falls between a minute's end
# and what happens after it, and a job that has ended then is in no report of the next minute.
_FIRST_REPORT_SECONDS: Final = 15.0


@dataclass(slots=True)
class Nodes:
    """``hardware`` says what the n-th node that is launched has. ``all`` are those that ever were."""

    environment: Environment
    fleet: TrainingFleet
    control: EmulatorControl
    metadata: Metadata
    aws: Mapping[str, str]
    folder: Path
    hardware: Callable[[int, Hardware], Hardware] = lambda _number, whole: whole
    all: list[Node] = field(default_factory=list)
    _machines: list[Machine] = field(default_factory=list)

    def living(self) -> list[Node]:
        """Those that are paid for now."""
        return [node for node in self.all if node.is_paid()]

    def look(self, now: float) -> tuple[list[Node], list[Node]]:
        """Boot what EC2 has launched, end what it has terminated: the nodes of both kinds."""
        found = {each["InstanceId"]: each for each in self.instances()}
        known = {node.instance for node in self.all}
        gone = [node for node in self.living() if node.instance not in found]
        for node in gone:
            node.power_off(now, "EC2 has terminated it")
        new = [each for name, each in found.items() if name not in known]
        if new:
            user_data, efa = self._template()
            first = len(self.all)
            with ThreadPoolExecutor(4) as threads:
                boots = [
                    threads.submit(self._boot, first + number, each, user_data, efa, now)
                    for number, each in enumerate(new)
                ]
            booted = [boot.result() for boot in boots]
            self.all += booted
            wait_for_all([node.agent for node in booted])
            return booted, gone
        return [], gone

    def instances(self) -> "Iterator[InstanceTypeDef]":
        """The fleet's instances that run now, as EC2 tells them."""
        pages = boto3.client("ec2").get_paginator("describe_instances").paginate(
            Filters=[{"Name": "instance-state-name", "Values": ["running"]}]
        )  # fmt: skip
        for page in pages:
            for reservation in page["Reservations"]:
                for each in reservation["Instances"]:
                    tags = {tag["Key"]: tag["Value"] for tag in each.get("Tags", [])}
                    if (tags.get("environment"), tags.get("fleet")) == (self.environment.name, self.fleet.name):
                        yield each

    def _template(self) -> tuple[str, int]:
        """User data and number of EFA interfaces of the template that the fleet's compute environment launches from."""
        parameter = naming.parameter_path(self.environment.name, "capacity-watch", self.fleet.name)
        told = boto3.client("ssm").get_parameter(Name=parameter)["Parameter"]["Value"]
        name = json.loads(told)["compute_environment"]
        (made,) = boto3.client("batch").describe_compute_environments(computeEnvironments=[name])["computeEnvironments"]
        launch = made["computeResources"]["launchTemplate"]
        versions = boto3.client("ec2").describe_launch_template_versions(
            LaunchTemplateId=launch["launchTemplateId"], Versions=[launch["version"]]
        )
        data = versions["LaunchTemplateVersions"][0]["LaunchTemplateData"]
        efa = sum("efa" in each.get("InterfaceType", "") for each in data.get("NetworkInterfaces", []))
        return data["UserData"], efa

    def _boot(self, number: int, instance: "InstanceTypeDef", user_data: str, efa: int, now: float) -> Node:
        name, zone = instance["InstanceId"], instance["Placement"]["AvailabilityZone"]
        kind = instance_type(instance["InstanceType"])
        self.metadata.items[name] = {
            "instance-id": name,
            "instance-type": kind.name,
            "placement/availability-zone": zone,
            "instance-life-cycle": "on-demand",
        }
        script = Script(
            node=name,
            instance_type=kind.name,
            availability_zone=zone,
            availability_zone_id=self.environment.network.availability_zones[zone],
            region=self.environment.region,
            lnc=self.fleet.lnc or kind.accelerator.default_lnc,
            dtype=self.fleet.dtype,
            runtimes=1,
            seed=number,
            phases=(Phase(now + _FIRST_REPORT_SECONDS, PhaseKind.NO_JOB, 0.0, 0.0),),
        )
        hardware = self.hardware(number, Hardware.whole(kind, efa))
        machine = Machine(self.folder / str(number), hardware, script, self.metadata.endpoint(name), self.aws)
        self._machines.append(machine)
        return Node(name, machine, now, machine.boot(user_data))

    def join(self, now: float) -> list[Node]:
        """Let the ECS agents join of the nodes that have booted and whose gate lets them; those that do now."""
        joining = [
            node
            for node in self.living()
            if node.booted.joins and not node.has_joined and now >= node.started + BOOT_MINUTES * 60
        ]
        for node in joining:
            self.control.join_cluster(self.environment.region, node.instance)
            node.has_joined = True
        return joining

    def report(self, fabric: str, now: float) -> None:
        """The turn of every ECS agent, twice: what one says may be what another waits for."""
        for _ in range(2):
            for node in self.living():
                if node.has_joined:
                    node.report(self.control, self.environment.region, fabric, now)

    def advance(self, minute_end: float) -> None:
        """Let every agent live until ``minute_end`` and publish what it saw."""
        living = self.living()
        for node in living:
            node.agent.release(Turn(minute_end + SETTLE_SECONDS, node.machine.script))
        wait_for_all([node.agent for node in living])

    def terminate(self, node: Node, now: float, why: str) -> None:
        """The instance is gone, and EC2 knows it."""
        node.power_off(now, why)
        boto3.client("ec2").terminate_instances(InstanceIds=[node.instance])

    def close(self) -> None:
        """Leave nothing running, also of a node whose boot has failed."""
        for node in self.living():
            node.power_off(node.started, "the run is over")
        for machine in self._machines:
            machine.power_off()
