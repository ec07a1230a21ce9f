"""The deployed network and launch templates, found by the stacks that made them."""

from concurrent.futures import Future
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cli.doctor.account import DoctorAccount
from cli.doctor.deployment import resources
from cli.doctor.inventory import tags
from planning.preflight.stacks import StackSeen

if TYPE_CHECKING:
    from mypy_boto3_ec2.type_defs import ResponseLaunchTemplateDataTypeDef

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
    data: "ResponseLaunchTemplateDataTypeDef"


def node_subnets(account: DoctorAccount, environment: str, stacks: Stacks) -> list[Subnet]:
    """The subnets that nodes lie in; none before the first deployment."""
    ids = resources(account, environment, "network", "AWS::EC2::Subnet", stacks.result())
    if not ids:
        return []
    found = [
        each
        for page in account.ec2.get_paginator("describe_subnets").paginate(SubnetIds=ids)
        for each in page.get("Subnets", [])
    ]
    # The CDK tags the subnets that it makes; public ones hold NAT gateways only.
    private = [each for each in found if tags(each.get("Tags", [])).get("aws-cdk:subnet-type") == "Private"]
    return [Subnet(each["SubnetId"], each["AvailabilityZone"], each["AvailableIpAddressCount"]) for each in private]


def launch_templates(account: DoctorAccount, environment: str, stacks: Stacks) -> dict[str, Template]:
    """Launch templates by the fleet whose nodes they make, which is the tag that they give to instances."""
    found: dict[str, Template] = {}
    for template_id in resources(account, environment, "capacity", "AWS::EC2::LaunchTemplate", stacks.result()):
        versions = [
            each
            for page in account.ec2.get_paginator("describe_launch_template_versions").paginate(
                LaunchTemplateId=template_id, Versions=["$Latest"]
            )
            for each in page.get("LaunchTemplateVersions", [])
        ]
        for version in versions:
            data = version["LaunchTemplateData"]
            if fleet := _fleet(data):
                found[fleet] = Template(template_id, str(version["VersionNumber"]), data)
    return found


def _fleet(data: "ResponseLaunchTemplateDataTypeDef") -> str | None:
    for given in data.get("TagSpecifications", []):
        if given.get("ResourceType") == "instance":
            return tags(given.get("Tags", [])).get("fleet")
    return None
