"""Launch templates as EC2 shows them, in full: ministack leaves out network cards, markets and reservations."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from ministack.core.responses import get_account_id
from ministack.services import ec2

from local.emulator.api.answers import Entry, page
from local.emulator.api.errors import AwsError
from local.emulator.api.query import served

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
