"""EC2 over ``ec2._ACTION_MAP``: ministack has no reservations, no blocks, no offerings and no dry run."""

from collections.abc import Mapping
from functools import partial
from typing import Any, Final

from ministack.core.responses import get_region
from ministack.services import cloudformation, ec2, resource_groups

from local.emulator.api.answers import Entry
from local.emulator.api.errors import AwsError, Response
from local.emulator.api.query import Form, Operation, served
from local.emulator.capacity.account import Capacity
from local.emulator.extensions.launches import answer_security_groups
from local.emulator.platform import Platform
from local.emulator.resources.store import Resource


def placement_group_record(group: Resource) -> dict[str, Any]:
    """A placement group in the form that ministack keeps the ones made by its API."""
    account_arn = f"arn:aws:ec2:{group.region}:000000000000:placement-group/{group.physical_id}"
    return {
        "GroupName": group.physical_id,
        "GroupId": group.attributes["GroupId"],
        "State": "available",
        "Strategy": group.properties.get("Strategy", "cluster"),
        "GroupArn": account_arn,
        "PartitionCount": group.properties.get("PartitionCount", 0),
    }


_ZONES: Final = "abc"
_DRY_RUN: Final = "Request would have succeeded, but DryRun flag is set."


def zones(region: str) -> dict[str, str]:
    """The ids of the zones that ministack gives a region, by name."""
    return {name: zone_id(name) for name in (f"{region}{letter}" for letter in _ZONES)}


def zone_id(name: str) -> str:
    """The id of a zone."""
    return str(ec2._az_id_for_zone_name(name))


def stack_tags(resource: Resource) -> dict[str, str]:
    """What CloudFormation tags a stack's resource with: the stack's own tags, and where it belongs."""
    stack = cloudformation._stacks.get(resource.stack) if resource.stack else None
    if not stack:
        return {}
    return {str(tag["Key"]): str(tag["Value"]) for tag in stack.get("Tags") or []} | {
        "aws:cloudformation:stack-name": resource.stack,
        "aws:cloudformation:stack-id": str(stack["StackId"]),
        "aws:cloudformation:logical-id": resource.logical_id,
    }


def answer_ec2(platform: Platform) -> None:
    """Replace and add the actions."""
    answer_security_groups()
    capacity = platform.capacity
    for name, operation in _capacity_operations(capacity).items():
        ec2._ACTION_MAP[name] = served("ec2", name, operation)
    ec2._ACTION_MAP["RunInstances"] = partial(_run_instances, ec2._ACTION_MAP["RunInstances"])
    ec2._ACTION_MAP["DescribeSubnets"] = partial(_describe_subnets, capacity, ec2._ACTION_MAP["DescribeSubnets"])
    describe_groups = ec2._ACTION_MAP["DescribePlacementGroups"]
    ec2._ACTION_MAP["DescribePlacementGroups"] = partial(_placement_groups, platform, describe_groups)


def _capacity_operations(capacity: Capacity) -> dict[str, Operation]:
    blocks, extensions, reservations = capacity.blocks, capacity.extensions, capacity.reservations

    def groups(request: Mapping[str, Any]) -> Entry:
        found = reservations.find(get_region(), str(request.get("CapacityReservationId", "")))
        members = resource_groups._group_members
        names = [name for name in members if found["CapacityReservationArn"] in members[name]]
        owned = [{"GroupArn": resource_groups._arn(name), "OwnerId": found["OwnerId"]} for name in names]
        return {"CapacityReservationGroups": owned}

    return {
        "DescribeCapacityReservations": lambda request: reservations.describe(get_region(), request),
        "DescribeCapacityBlockOfferings": lambda request: blocks.offerings(
            get_region(), list(zones(get_region())), request
        ),
        "PurchaseCapacityBlock": lambda request: blocks.purchase(get_region(), request),
        "DescribeCapacityBlockExtensionOfferings": lambda request: extensions.offerings(get_region(), request),
        "DescribeCapacityBlockExtensionHistory": lambda request: extensions.history(get_region(), request),
        "PurchaseCapacityBlockExtension": lambda request: extensions.purchase(get_region(), request),
        "DescribeInstanceTypeOfferings": lambda request: capacity.offerings.describe(
            get_region(), zones(get_region()), request
        ),
        "DescribeSpotPriceHistory": lambda request: capacity.prices.spot_history(
            get_region(), zones(get_region()), request
        ),
        "GetGroupsForCapacityReservation": groups,
    }


def _run_instances(run: Any, form: Form) -> Response:  # noqa: ANN401 - ministack's own action
    """A dry run looks at what the request refers to, and makes nothing."""

    def rehearse(request: Mapping[str, Any]) -> Entry:
        _check_references(request)
        raise AwsError("DryRunOperation", _DRY_RUN)

    if form.get("DryRun", ["false"])[0] == "true":
        return served("ec2", "RunInstances", rehearse)(form)
    response: Response = run(form)
    return response


def _check_references(request: Mapping[str, Any]) -> None:
    template = request.get("LaunchTemplate", {})
    known = ec2._launch_templates
    if "LaunchTemplateId" in template and template["LaunchTemplateId"] not in known:
        wanted = template["LaunchTemplateId"]
        message = f"The specified launch template, with template ID {wanted}, does not exist."
        raise AwsError("InvalidLaunchTemplateId.NotFound", message)
    names = {known[each].get("LaunchTemplateName") for each in known}
    if "LaunchTemplateName" in template and template["LaunchTemplateName"] not in names:
        wanted = template["LaunchTemplateName"]
        message = f"The specified launch template, with template name {wanted}, does not exist."
        raise AwsError("InvalidLaunchTemplateName.NotFoundException", message)
    subnets = [request.get("SubnetId"), *(each.get("SubnetId") for each in request.get("NetworkInterfaces", []))]
    for subnet in subnets:
        if subnet is not None and subnet not in ec2._subnets:
            raise AwsError("InvalidSubnetID.NotFound", f"The subnet ID '{subnet}' does not exist")


def _describe_subnets(capacity: Capacity, describe: Any, form: Form) -> Response:  # noqa: ANN401 - ministack's own action
    """ministack counts 251 addresses in a subnet of any size."""
    for name in ec2._subnets:
        subnet = ec2._subnets[name]
        subnet["AvailableIpAddressCount"] = capacity.addresses(get_region(), name, subnet["CidrBlock"])
    response: Response = describe(form)
    return response


def _placement_groups(platform: Platform, describe: Any, form: Form) -> Response:  # noqa: ANN401 - ministack's own action
    """ministack knows the groups that were made by its API only."""
    groups = platform.resources.of_type(get_region(), "AWS::EC2::PlacementGroup")
    made = {group.physical_id: placement_group_record(group) for group in groups}
    ec2._placement_groups.update(made)
    try:
        response: Response = describe(form)
        return response
    finally:
        for name in made:
            ec2._placement_groups.pop(name)
