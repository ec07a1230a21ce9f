"""A fleet's instances, known by the tags that its launch template gives them."""

from typing import Any, Final

from fleet.naming import PROJECT
from fleet.reserved.observed import Node, Place
from lambdas.capacity_watch.clients import Ec2Client

# A thousand instances a page.
_PAGES: Final = 10


class Ec2Nodes:
    """Instances by tag, and tags by instance."""

    def __init__(self, ec2: Ec2Client) -> None:
        self._ec2 = ec2

    def of(self, place: Place) -> tuple[Node, ...]:
        """The fleet's instances that are pending or running."""
        tags = {"project": PROJECT, "environment": place.environment, "fleet": place.fleet}
        filters = [{"Name": f"tag:{key}", "Values": [tags[key]]} for key in tags]
        filters.append({"Name": "instance-state-name", "Values": ["pending", "running"]})
        found: list[Node] = []
        more: dict[str, object] = {}
        for _ in range(_PAGES):
            page = self._ec2.describe_instances(Filters=filters, MaxResults=1000, **more)
            found += map(_node, _instances(page))
            if not page.get("NextToken"):
                break
            more = {"NextToken": page["NextToken"]}
        return tuple(found)

    def fleet_of(self, instance_id: str) -> tuple[str, str] | None:
        """The environment and the fleet that an instance is tagged with; None when it is nobody's of ours."""
        # By a filter, and not by its id: an instance that is gone already is then an empty answer and no error.
        page = self._ec2.describe_instances(Filters=[{"Name": "instance-id", "Values": [instance_id]}])
        for instance in _instances(page):
            tags = {tag["Key"]: tag["Value"] for tag in instance.get("Tags", [])}
            if tags.get("project") == PROJECT and "environment" in tags and "fleet" in tags:
                return tags["environment"], tags["fleet"]
        return None


def _instances(page: dict[str, Any]) -> list[dict[str, Any]]:
    return [instance for reservation in page["Reservations"] for instance in reservation["Instances"]]


def _node(entry: dict[str, Any]) -> Node:
    return Node(entry["InstanceId"], entry["LaunchTime"], entry.get("CapacityReservationId"))
