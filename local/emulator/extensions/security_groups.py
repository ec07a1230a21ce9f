"""Rules that stacks add to a security group as resources of their own, and rules that are taken out of one."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final

from ministack.services import ec2
from ministack.services.cloudformation import provisioners

from local.emulator.api.errors import Response
from local.emulator.api.query import Form
from local.emulator.resources.store import Resource

_LISTS: Final = {
    "AWS::EC2::SecurityGroupEgress": "IpPermissionsEgress",
    "AWS::EC2::SecurityGroupIngress": "IpPermissions",
}
# Where a rule says from where or to where, each entry with a description of its own.
_PLACES: Final = ("IpRanges", "Ipv6Ranges", "PrefixListIds", "UserIdGroupPairs")


def answer_security_groups() -> None:
    """``ec2._strip_descriptions`` and the two Revoke actions of ``_ACTION_MAP``.

    ministack takes a peer's rule for another one because of its description, and calls it a success.
    """
    ec2._strip_descriptions = _without_descriptions
    for action, permissions in (
        ("RevokeSecurityGroupIngress", "IpPermissions"),
        ("RevokeSecurityGroupEgress", "IpPermissionsEgress"),
    ):
        ec2._ACTION_MAP[action] = partial(_revoke, ec2._ACTION_MAP[action], permissions)


def _without_descriptions(rule: Mapping[str, Any]) -> dict[str, Any]:
    kept = {name: value for name, value in rule.items() if name not in ("SecurityGroupRuleId", "Description")}
    for place in _PLACES:
        entries = rule.get(place, [])
        kept[place] = [{name: value for name, value in each.items() if name != "Description"} for each in entries]
    return kept


def _revoke(revoke: Callable[[Form], Response], permissions: str, form: Form) -> Response:
    group = ec2._security_groups.get((form.get("GroupId") or [""])[0])
    before = len(group[permissions]) if group else 0
    response = revoke(form)
    if group and len(group[permissions]) == before:
        missing: Response = ec2._error(
            "InvalidPermission.NotFound", "The specified rule does not exist in this security group.", 400
        )
        return missing
    return response


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
