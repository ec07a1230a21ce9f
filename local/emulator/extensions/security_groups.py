"""Rules that stacks add to a security group as resources of their own: ``ec2._security_groups`` has to show them."""

from typing import Any, Final

from ministack.services import ec2
from ministack.services.cloudformation import provisioners

from local.emulator.resources.store import Resource

_LISTS: Final = {
    "AWS::EC2::SecurityGroupEgress": "IpPermissionsEgress",
    "AWS::EC2::SecurityGroupIngress": "IpPermissions",
}


def allow(rule: Resource) -> None:
    """Add the rule to its group, in place of what it was before.

    Raises:
        ValueError: there is no such group.
    """
    withdraw(rule)
    _permissions(rule).append(provisioners._ec2_sg_permissions([rule.properties])[0] | {_OF: rule.physical_id})


def withdraw(rule: Resource) -> None:
    """Take the rule out of its group."""
    if rule.properties["GroupId"] in ec2._security_groups:
        kept = [each for each in _permissions(rule) if each.get(_OF) != rule.physical_id]
        _permissions(rule)[:] = kept


# ministack keeps members that it does not know.
_OF: Final = "SecurityGroupRuleId"


def _permissions(rule: Resource) -> list[dict[str, Any]]:
    group = ec2._security_groups.get(rule.properties["GroupId"])
    if group is None:
        raise ValueError(f"The security group '{rule.properties['GroupId']}' does not exist")
    permissions: list[dict[str, Any]] = group[_LISTS[rule.type_name]]
    return permissions
