"""An environment whose capacity is bought in every way, and the account that has all of it."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import yaml

from environments.model import Environment
from local.control import EmulatorControl
from local.emulator_process import EmulatorProcess, aws_environment, listen, pointed_at
from tests.support import assembly_deployment
from tests.support.embedded_client import client

NAME: Final = "doctored"
REGION: Final = "us-east-2"
TODAY: Final = "2026-10-20"
GROUP: Final = "doctored-pool"
GROUP_ARN: Final = f"arn:aws:resource-groups:{REGION}:000000000000:group/{GROUP}"
BLOCK_ENDS: Final = "2026-12-18T11:30:00Z"
RESERVED: Final = ("named", "ended", "elsewhere", "small", "othertype", "grouped", "block")
"""The fleets whose reservation or block is there before they are."""


def _training(name: str, market: dict[str, Any], instance_type: str = "trn1.32xlarge") -> dict[str, Any]:
    return {
        "name": name,
        "purpose": "training",
        "owner": "doctors",
        "instance_type": instance_type,
        "nodes": 2,
        "availability_zone": "us-east-2c",
        "market": market,
        "container_image": "training:local",
    }


def content(reservations: Mapping[str, str]) -> dict[str, Any]:
    """The environment file: every training fleet lies in us-east-2c, whose id is use2-az3."""
    named = [
        _training(name, {"kind": "reservation", "reservation_id": reservations[name]})
        for name in ("named", "ended", "elsewhere", "small", "othertype")
    ]
    block = {"kind": "capacity-block", "reservation_id": reservations["block"], "ends_at": BLOCK_ENDS}
    endpoint = {
        "name": "chat",
        "purpose": "inference",
        "owner": "doctors",
        # Its price in us-east-2 is of 2026-08, and that of the others of October.
        "instance_type": "inf2.8xlarge",
        "nodes": 2,
        "market": {"kind": "on-demand"},
        "endpoint": {"container_image": "chat:local", "devices_per_task": 1},
    }
    return {
        "name": NAME,
        "account": "000000000000",
        "region": REGION,
        "owner": "doctors",
        "network": {
            "cidr": "10.10.0.0/16",
            "availability_zones": {"us-east-2a": "use2-az1", "us-east-2b": "use2-az2", "us-east-2c": "use2-az3"},
        },
        "fleets": [
            _training("created", {"kind": "reservation"}),
            *named,
            _training("grouped", {"kind": "reservation", "resource_group": GROUP_ARN}),
            _training("block", block, "trn2.48xlarge"),
            endpoint,
        ],
        "paging": {
            "pagerduty_secret": "doctored/pagerduty",
            "slack_secret": "doctored/slack",
            "runbooks_url": "docs/runbooks",
        },
        "retain_data": False,
        "plain_http": True,
    }


def write(folder: Path, environment: dict[str, Any]) -> Path:
    file = folder / f"{NAME}.yaml"
    file.write_text(yaml.safe_dump(environment), encoding="utf-8")
    return file


def reservation(instance_type: str) -> dict[str, Any]:
    """One of a template, with room for every node of a fleet."""
    return {
        "Type": "AWS::EC2::CapacityReservation",
        "Properties": {
            "InstanceType": instance_type,
            "InstancePlatform": "Linux/UNIX",
            "AvailabilityZone": "us-east-2c",
            "InstanceCount": 2,
            "InstanceMatchCriteria": "targeted",
        },
    }


def reserve(control: EmulatorControl) -> dict[str, str]:
    """Make the reservations, the block, and the group with a reservation in it; their ids by fleet."""
    resources = {fleet: reservation("trn2.48xlarge" if fleet == "block" else "trn1.32xlarge") for fleet in RESERVED}
    stacks = client("cloudformation")
    stacks.create_stack(StackName="made-before", TemplateBody=json.dumps({"Resources": resources}))
    stacks.get_waiter("stack_create_complete").wait(StackName="made-before", WaiterConfig={"Delay": 1})
    made = stacks.describe_stack_resources(StackName="made-before")["StackResources"]
    ids = {each["LogicalResourceId"]: str(each["PhysicalResourceId"]) for each in made}
    control.put_reservation(REGION, ids["block"], type="capacity-block", end=BLOCK_ENDS, state="active")
    groups = client("resource-groups")
    pool = [{"Type": "AWS::EC2::CapacityReservationPool"}, {"Type": "AWS::ResourceGroups::Generic"}]
    groups.create_group(Name=GROUP, Configuration=pool)
    arn = f"arn:aws:ec2:{REGION}:000000000000:capacity-reservation/{ids['grouped']}"
    groups.group_resources(Group=GROUP_ARN, ResourceArns=[arn])
    return ids


@contextmanager
def embedded_account(folder: Path) -> Iterator[EmulatorControl]:
    """An embedded AWS, with this process pointed at it."""
    emulator = EmulatorProcess(listen(None), folder / "emulator", parent=None)
    try:
        emulator.wait_until_ready()
        with pointed_at(aws_environment(emulator.control.endpoint_url, "000000000000", REGION)):
            yield emulator.control
    finally:
        emulator.stop()


def deploy(environment: Environment, folder: Path) -> None:
    """Deploy it; the app of the repository knows the files of its own folder only."""
    # Here, because tests that only describe an account need not wait for the CDK.
    from stacks.app import new_app
    from stacks.platform import Platform
    from tests.support.templates import cdk_context

    assembly = folder / "cdk.out"
    app = new_app(cdk_context(), assembly)
    Platform(app, environment.name, environment=environment)
    app.synth()
    assembly_deployment.deploy(assembly)
