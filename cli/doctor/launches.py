"""What a launch takes: the machine image, security groups of nodes with peers, and a launch that is only tried."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, cast

from cli.doctor.account import UnansweredError
from cli.doctor.limits import zones_of
from cli.doctor.network import Subnet
from cli.doctor.visit import Entry, Visit
from fleet.capacity.network_interfaces import Direction, GroupRule
from fleet.diagnostics import Diagnostic
from planning.preflight.account import REFUSED
from planning.preflight.launches import diagnose_security_groups, launch_refused, not_launched_yet, template_differs

if TYPE_CHECKING:
    from mypy_boto3_ec2.type_defs import (
        InstanceNetworkInterfaceSpecificationTypeDef,
        LaunchTemplateInstanceNetworkInterfaceSpecificationTypeDef,
        SecurityGroupTypeDef,
    )
from datetime import datetime
from typing import TYPE_CHECKING

from cli.doctor.account import DoctorAccount
from planning.preflight.launches import ImageSeen, diagnose_image, is_image_id, not_an_image, parameter_not_found

if TYPE_CHECKING:
    from mypy_boto3_ec2.type_defs import ImageTypeDef


_NO_PARAMETER: Final = frozenset({"ParameterNotFound", "ParameterVersionNotFound"})
_NO_IMAGE: Final = frozenset({"InvalidAMIID.NotFound", "InvalidAMIID.Unavailable", "InvalidAMIID.Malformed"})


def image(visit: Visit, entry: Entry) -> Iterator[Diagnostic]:
    """One finding for a parameter, at the first fleet that names it."""
    name = entry.fleet.image_parameter
    if next(each for each in visit.entries if each.fleet.image_parameter == name) is not entry:
        return
    found = visit.account.find(_NO_PARAMETER, visit.account.ssm.get_parameter, Name=name)
    if found is None:
        yield parameter_not_found(name, visit.environment.region)
        return
    value = str(found["Parameter"]["Value"])
    if not is_image_id(value):
        yield not_an_image(name, value)
        return
    yield from diagnose_image(name, value, _image(visit.account, value), visit.now)


def _image(account: DoctorAccount, image_id: str) -> ImageSeen | None:
    found = account.find(_NO_IMAGE, account.ec2.describe_images, ImageIds=[image_id])
    for seen in found.get("Images", []) if found else []:
        return ImageSeen(image_id, seen.get("State", ""), seen.get("Architecture", ""), _deprecation(seen))
    return None


def _deprecation(seen: "ImageTypeDef") -> datetime | None:
    text = seen.get("DeprecationTime")
    return datetime.fromisoformat(text) if text else None


# EC2's answer to DryRun when the launch would be made.
_WOULD_SUCCEED: Final = frozenset({"DryRunOperation"})


def security_groups(visit: Visit, entry: Entry) -> Iterator[Diagnostic]:
    """Whether nodes of a fleet with peers may send each other everything."""
    template = visit.templates.result().get(entry.fleet.name)
    if template is None or not entry.plan.has_peers:
        return
    groups = list(
        dict.fromkeys(group for each in template.data.get("NetworkInterfaces", []) for group in each.get("Groups", []))
    )
    if not groups:
        return
    found = [
        each
        for page in visit.account.ec2.get_paginator("describe_security_groups").paginate(GroupIds=groups)
        for each in page.get("SecurityGroups", [])
    ]
    rules = {each["GroupId"]: list(_rules(each)) for each in found}
    yield from diagnose_security_groups({group: rules[group] for group in groups if group in rules})


def launch(visit: Visit, entry: Entry) -> Iterator[Diagnostic]:
    """Ask EC2 whether it would launch a node: permissions and parameters are checked, capacity is not."""
    name = entry.fleet.name
    templates = visit.templates.result()
    template = templates.get(name)
    if template is None:
        # Before the first deployment there are none, which a finding about the stacks says for all fleets.
        if templates:
            yield not_launched_yet(name)
        return
    if (has := template.data.get("InstanceType", "")) != entry.spec.instance_type:
        yield template_differs(name, has, entry.spec.instance_type)
    subnets = [each for each in visit.subnets.result() if each.zone in zones_of(visit, entry)]
    try:
        visit.account.find(
            _WOULD_SUCCEED,
            visit.account.ec2.run_instances,
            DryRun=True,
            MinCount=1,
            MaxCount=1,
            LaunchTemplate={"LaunchTemplateId": template.template_id, "Version": template.version},
            NetworkInterfaces=[_in_subnet(each, subnets) for each in template.data.get("NetworkInterfaces", [])],
        )
    except UnansweredError as error:
        if error.finding.code != REFUSED:
            raise
        yield launch_refused(name, error.code, error.message)


def _in_subnet(
    interface: "LaunchTemplateInstanceNetworkInterfaceSpecificationTypeDef", subnets: list[Subnet]
) -> "InstanceNetworkInterfaceSpecificationTypeDef":
    # Whoever launches adds the subnet, so the template has none; EC2 takes it with the interfaces or not at all.
    made = cast("InstanceNetworkInterfaceSpecificationTypeDef", dict(interface))
    if subnets:
        made["SubnetId"] = subnets[0].subnet_id
    return made


def _rules(group: "SecurityGroupTypeDef") -> Iterator[GroupRule]:
    both = (
        (Direction.IN, group.get("IpPermissions", [])),
        (Direction.OUT, group.get("IpPermissionsEgress", [])),
    )
    for direction, permissions in both:
        for permission in permissions:
            for pair in permission.get("UserIdGroupPairs", []):
                yield GroupRule(direction, str(permission["IpProtocol"]), pair.get("GroupId", ""))
