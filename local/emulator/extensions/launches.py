"""Launch templates as EC2 shows them, in full: ministack leaves out network cards, markets and reservations.

The machine images behind public parameters: whoever reads an id there can describe the image.

Rules that stacks add to a security group as resources of their own, and rules that are taken out of one.
"""

import hashlib
import re
from collections.abc import Callable, Mapping
from datetime import datetime
from functools import partial
from typing import Any, Final

from ministack.core.responses import get_account_id, get_region
from ministack.services import ec2, ssm
from ministack.services.cloudformation import provisioners

from local.emulator.api.answers import Entry, page
from local.emulator.api.errors import AwsError, Response
from local.emulator.api.query import Form, served
from local.emulator.resources.store import Resource

_NOT_FOUND: Final = "InvalidLaunchTemplateId.NotFoundException"


def show_launch_templates() -> None:
    """``_ACTION_MAP["DescribeLaunchTemplateVersions"]``, over the templates that stacks and the API made."""
    operation = "DescribeLaunchTemplateVersions"
    ec2._ACTION_MAP[operation] = served("ec2", operation, _versions)


def _versions(request: Mapping[str, Any]) -> Entry:
    template = _template(request)
    wanted = [_number(template, each) for each in request.get("Versions", [])]
    found = [each for each in template["Versions"] if not wanted or each["VersionNumber"] in wanted]
    newest_first = sorted(found, key=lambda version: -int(version["VersionNumber"]))
    entries, more = page([_entry(each) for each in newest_first], request)
    return {"LaunchTemplateVersions": entries, **more}


def _template(request: Mapping[str, Any]) -> dict[str, Any]:
    for template in ec2._launch_templates.values():
        ours = template["LaunchTemplateId"], template["LaunchTemplateName"]
        if request.get("LaunchTemplateId") == ours[0] or request.get("LaunchTemplateName") == ours[1]:
            found: dict[str, Any] = template
            return found
    raise AwsError(_NOT_FOUND, "The specified launch template does not exist.")


def _number(template: Mapping[str, Any], version: str) -> int:
    named = {"$Latest": "LatestVersionNumber", "$Default": "DefaultVersionNumber"}
    return int(template[named[version]] if version in named else version)


def _entry(version: Mapping[str, Any]) -> Entry:
    # A template's data has the same members in CloudFormation and in EC2's answer.
    return {
        **version,
        "CreateTime": datetime.fromisoformat(version["CreateTime"]),
        "CreatedBy": f"arn:aws:iam::{get_account_id()}:root",
    }


_POWERTOOLS = re.compile(r"^/aws/service/powertools/python/(arm64|x86_64)/python3\.(\d+)/(\w+)$")
_POWERTOOLS_ACCOUNT: Final = "017000801446"


class PublicParameters(dict[str, str]):
    """Known parameters first; then an image id, the same for the same name, for each ``/aws/service/…/image_id``."""

    def __init__(
        self, known: dict[str, str], region_of_request: Callable[[], str], publish_image: Callable[[str, str], None]
    ) -> None:
        """``publish_image`` is told of each image id and its parameter before anybody can ask EC2 for the image."""
        super().__init__(known)
        self._region_of_request = region_of_request
        self._publish_image = publish_image

    def get(self, name: str, default: str | None = None) -> str | None:  # type: ignore[override]  # values are never None
        """The value, or ``default`` for a name that AWS does not publish either."""
        if name in self:
            return self[name]
        if name.startswith("/aws/service/") and name.rsplit("/", 1)[-1] in ("image_id", "ami-id", "current"):
            image_id = f"ami-{hashlib.sha256(name.encode()).hexdigest()[:17]}"
            self._publish_image(image_id, name)
            return image_id
        match = _POWERTOOLS.match(name)
        if match is None:
            return default
        layer = f"AWSLambdaPowertoolsPythonV3-python3{match[2]}-{match[1]}:1"
        return f"arn:aws:lambda:{self._region_of_request()}:{_POWERTOOLS_ACCOUNT}:layer:{layer}"


# The account that publishes Amazon's ECS-optimized images.
_PUBLISHER: Final = "591542846629"
_ROOT_DEVICE: Final = "/dev/xvda"


def publish_images() -> None:
    """Replaces ``ssm._PUBLIC_AMI_PARAMETERS`` and adds to ``ec2._STUB_AMIS``, which are for x86_64."""

    def publish(image_id: str, parameter: str) -> None:
        if all(known[0] != image_id for known in ec2._STUB_AMIS):
            name = parameter.removeprefix("/aws/service/").removesuffix("/image_id")
            ec2._STUB_AMIS.append((image_id, name, name, "", _ROOT_DEVICE, _PUBLISHER, "amazon"))

    ssm._PUBLIC_AMI_PARAMETERS = PublicParameters(ssm._PUBLIC_AMI_PARAMETERS, get_region, publish)


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
