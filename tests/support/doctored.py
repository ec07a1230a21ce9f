"""An environment whose capacity is bought in every way, and the account that has all of it."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import aws_cdk as cdk
import yaml

from environments import loader
from environments.model import Environment
from local.control import EmulatorControl
from local.deployment import CdkApp, put_secrets
from local.emulator_process import EmulatorProcess, choose_port
from local.endpoint import aws_environment, client, pointed_at
from stacks.platform import Platform

NAME: Final = "doctored"
REGION: Final = "us-east-2"
TODAY: Final = "2026-10-20"
GROUP: Final = "doctored-pool"
GROUP_ARN: Final = f"arn:aws:resource-groups:{REGION}:000000000000:group/{GROUP}"
BLOCK_ENDS: Final = "2026-12-18T11:30:00Z"
# The reservations by the fleet that launches into them.
RESERVATIONS: Final = {
    fleet: f"cr-0a1b2c3d4e5f6071{index}"
    for index, fleet in enumerate(("named", "ended", "elsewhere", "small", "othertype", "grouped", "block"))
}


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


def content() -> dict[str, Any]:
    """The environment file: every training fleet lies in us-east-2c, whose id is use2-az3."""
    named = [
        _training(name, {"kind": "reservation", "reservation_id": RESERVATIONS[name]})
        for name in ("named", "ended", "elsewhere", "small", "othertype")
    ]
    block = {"kind": "capacity-block", "reservation_id": RESERVATIONS["block"], "ends_at": BLOCK_ENDS}
    endpoint = {
        "name": "chat",
        "purpose": "inference",
        "owner": "doctors",
        # Its price in us-east-2 is of 2026-08, and that of the others of October.
        "instance_type": "inf2.8xlarge",
        "nodes": 2,
        "market": {"kind": "on-demand"},
        "endpoint": {"container_image": "chat:local", "tasks": 2, "devices_per_task": 1},
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


def path_of(fleet: str) -> str:
    """Where the fleet's entry is in the file."""
    return f"fleets[{[each['name'] for each in content()['fleets']].index(fleet)}]"


def write(folder: Path, environment: dict[str, Any]) -> Path:
    file = folder / f"{NAME}.yaml"
    file.write_text(yaml.safe_dump(environment), encoding="utf-8")
    return file


def equip(control: EmulatorControl, environment: Environment) -> None:
    """Give the account all that the file names and no stack makes."""
    put_secrets(environment, control)
    for fleet, reservation_id in RESERVATIONS.items():
        of_block = {"type": "capacity-block", "end": BLOCK_ENDS, "instance_type": "trn2.48xlarge"}
        control.put_reservation(
            REGION,
            reservation_id,
            **{
                "instance_type": "trn1.32xlarge",
                "availability_zone": "us-east-2c",
                "total": 2,
                "state": "active",
                **(of_block if fleet == "block" else {}),
            },
        )
    groups = client("resource-groups")
    pool = [{"Type": "AWS::EC2::CapacityReservationPool"}, {"Type": "AWS::ResourceGroups::Generic"}]
    groups.create_group(Name=GROUP, Configuration=pool)
    arn = f"arn:aws:ec2:{REGION}:000000000000:capacity-reservation/{RESERVATIONS['grouped']}"
    groups.group_resources(Group=GROUP_ARN, ResourceArns=[arn])


@contextmanager
def embedded_account(folder: Path) -> Iterator[EmulatorControl]:
    """An embedded AWS, with this process pointed at it."""
    emulator = EmulatorProcess(choose_port(None), folder / "emulator", parent=None)
    try:
        emulator.wait_until_ready()
        with pointed_at(aws_environment(emulator.control.endpoint_url, "000000000000", REGION)):
            yield emulator.control
    finally:
        emulator.stop()


def deploy(environment: Environment, folder: Path) -> None:
    """Deploy it with the CDK's own command line; the app of the repository knows the files of its folder only."""
    context = json.loads(Path("cdk.json").read_text(encoding="utf-8"))["context"]
    app = cdk.App(outdir=str(folder / "cdk.out"), context={**context, "agent-archive": "none"})
    Platform(app, environment.name, environment=environment)
    app.synth()
    with pointed_at(aws_environment(client("sts").meta.endpoint_url, environment.account, environment.region)) as own:
        command_line = CdkApp(environment, folder, own)
        command_line.bootstrap()
        command_line.deploy()


def load(file: Path) -> Environment:
    return loader.load_file(file)


def now() -> datetime:
    return datetime.fromisoformat(TODAY).replace(tzinfo=UTC)
