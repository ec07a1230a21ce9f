"""The deployed network and launch templates, found by the stacks that made them."""

from collections.abc import Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any

from cli.doctor.account import Account
from cli.doctor.deployment import resources
from cli.doctor.inventory import tags
from planning.preflight.stacks import StackSeen

Stacks = Future[dict[str, StackSeen]]


@dataclass(frozen=True, slots=True)
class Subnet:
    """One subnet of nodes: ``zone`` is a zone's name, ``free`` the addresses that nothing has taken."""

    subnet_id: str
    zone: str
    free: int


@dataclass(frozen=True, slots=True)
class Template:
    """A fleet's launch template, in its newest version: ``data`` as EC2 shows it."""

    template_id: str
    version: str
    data: Mapping[str, Any]


def node_subnets(account: Account, environment: str, stacks: Stacks) -> list[Subnet]:
    """The subnets that nodes lie in; none before the first deployment."""
    ids = resources(account, environment, "network", "AWS::EC2::Subnet", stacks.result())
    if not ids:
        return []
    found = account.every("ec2", "describe_subnets", "Subnets", SubnetIds=ids)
    # The CDK tags the subnets that it makes; public ones hold NAT gateways only.
    private = [each for each in found if tags(each).get("aws-cdk:subnet-type") == "Private"]
    return [Subnet(each["SubnetId"], each["AvailabilityZone"], each["AvailableIpAddressCount"]) for each in private]


def launch_templates(account: Account, environment: str, stacks: Stacks) -> dict[str, Template]:
    """Launch templates by the fleet whose nodes they make, which is the tag that they give to instances."""
    found: dict[str, Template] = {}
    for template_id in resources(account, environment, "capacity", "AWS::EC2::LaunchTemplate", stacks.result()):
        versions = account.every(
            "ec2",
            "describe_launch_template_versions",
            "LaunchTemplateVersions",
            LaunchTemplateId=template_id,
            Versions=["$Latest"],
        )
        for version in versions:
            data = version["LaunchTemplateData"]
            if fleet := _fleet(data):
                found[fleet] = Template(template_id, str(version["VersionNumber"]), data)
    return found


def _fleet(data: Mapping[str, Any]) -> str | None:
    for given in data.get("TagSpecifications", []):
        if given.get("ResourceType") == "instance":
            return tags(given).get("fleet")
    return None
