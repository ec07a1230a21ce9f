"""What is deployed: stacks and why they failed, and the subnets and launch templates that they made."""

from concurrent.futures import Future
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cli.doctor.account import DoctorAccount
from cli.doctor.inventory import tags
from planning.preflight.stacks import StackSeen

if TYPE_CHECKING:
    from mypy_boto3_ec2.type_defs import ResponseLaunchTemplateDataTypeDef
from collections.abc import Iterable, Mapping
from typing import Final

from cli.doctor.account import UnansweredError
from fleet import naming

# What CloudFormation says of resources that it gave up because of another one.
_CONSEQUENCES: Final = ("Resource creation cancelled", "Resource update cancelled", "The following resource(s) failed")


def stacks(account: DoctorAccount, environment: str) -> dict[str, StackSeen]:
    """The stacks of ``environment`` by name, with reasons for those that failed."""
    prefix = naming.stack_name(environment, "")
    shown = [
        each
        for page in account.cloudformation.get_paginator("describe_stacks").paginate()
        for each in page.get("Stacks", [])
    ]
    seen = [StackSeen(each["StackName"], each["StackStatus"]) for each in shown if each["StackName"].startswith(prefix)]
    return {each.name: _explained(account, each) for each in seen}


def resources(
    account: DoctorAccount, environment: str, stack: str, kind: str, deployed: Mapping[str, StackSeen]
) -> list[str]:
    """The ids of the resources of type ``kind`` in a stack; none when the stack is not deployed."""
    name = naming.stack_name(environment, stack)
    if name not in deployed or not deployed[name].exists:
        return []
    listed = [
        each
        for page in account.cloudformation.get_paginator("list_stack_resources").paginate(StackName=name)
        for each in page.get("StackResourceSummaries", [])
    ]
    ids = [str(each.get("PhysicalResourceId", "")) for each in listed if each["ResourceType"] == kind]
    return [each for each in ids if each]


def _explained(account: DoctorAccount, stack: StackSeen) -> StackSeen:
    if not stack.has_failed:
        return stack
    try:
        events = [
            each
            for page in account.cloudformation.get_paginator("describe_stack_events").paginate(StackName=stack.name)
            for each in page.get("StackEvents", [])
        ]
    except UnansweredError:
        # That it failed is known and worth saying without the reason.
        return stack
    return StackSeen(stack.name, stack.status, _first_cause(events))


def _first_cause(events: Iterable[Mapping[str, object]]) -> str:
    """The oldest reason for a failure since the last deployment began; CloudFormation lists the newest event first."""
    cause = ""
    for event in events:
        status, reason = str(event.get("ResourceStatus", "")), str(event.get("ResourceStatusReason", ""))
        if status.endswith("_FAILED") and reason and not reason.startswith(_CONSEQUENCES):
            cause = f"{event.get('LogicalResourceId')}: {reason}"
        elif event.get("PhysicalResourceId") == event.get("StackId") and reason == "User Initiated":
            break
    return cause


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
