"""EC2's placement groups, from the resources that stacks have made."""

from typing import Any

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
