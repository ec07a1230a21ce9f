"""Resource groups that stacks make, and the reservations in them: ministack's own stores, kept true."""

from typing import Any

from ministack.services import resource_groups
from ministack.services.resource_groups import _json, _resolve_name

from local.emulator.capacity.reservations import TYPE
from local.emulator.platform import Platform
from local.emulator.resources.store import Resource


def make(group: Resource) -> None:
    """Keep the group where the API looks for it; its members stay."""
    name = group.physical_id
    resource_groups._groups[name] = resource_groups._group_record(name, group.properties.get("Description", ""))
    resource_groups._group_configs[name] = group.properties.get("Configuration", [])
    resource_groups._group_tags[name] = {tag["Key"]: tag["Value"] for tag in group.properties.get("Tags", [])}


def forget(group: Resource) -> None:
    """Delete the group and its list of members, and nothing that was in it."""
    for store in ("_groups", "_group_configs", "_group_members", "_group_tags"):
        getattr(resource_groups, store).pop(group.physical_id, None)


def keep_members_true(platform: Platform) -> None:
    """``_POST_ROUTES``, ``_resource_type_from_arn``: what does not exist cannot be put into a group, nor stay in it."""
    group, listing = resource_groups._POST_ROUTES["/group-resources"], resource_groups._list_group_resources

    def exists(arn: str) -> bool:
        region, reservation = arn.split(":")[3], arn.rpartition("/")[2]
        return ":capacity-reservation/" not in arn or platform.resources.get(region, TYPE, reservation) is not None

    def group_resources(data: dict[str, Any]) -> object:
        arns = data.get("ResourceArns") or []
        missing = [arn for arn in arns if not exists(arn)]
        if not missing:
            return group(data)
        if len(missing) < len(arns):
            group({**data, "ResourceArns": [arn for arn in arns if arn not in missing]})
        why = {"ErrorCode": "RESOURCE_NOT_FOUND", "ErrorMessage": "The resource does not exist."}
        succeeded = [arn for arn in arns if arn not in missing]
        return _json({"Succeeded": succeeded, "Failed": [{"ResourceArn": arn, **why} for arn in missing]})

    def list_group_resources(data: dict[str, Any]) -> object:
        name = _resolve_name(data.get("GroupName"), data.get("Group"))
        members = resource_groups._group_members.get(name)
        if members:
            resource_groups._group_members[name] = [arn for arn in members if exists(arn)]
        return listing(data)

    type_of = resource_groups._resource_type_from_arn

    def resource_type(arn: str) -> str:
        return TYPE if ":capacity-reservation/" in arn else str(type_of(arn))

    resource_groups._resource_type_from_arn = resource_type
    resource_groups._POST_ROUTES["/group-resources"] = group_resources
    resource_groups._POST_ROUTES["/list-group-resources"] = list_group_resources
