"""Application Auto Scaling of variants: what stacks have registered, and what was suspended since.

Nothing scales by load here; a variant has at least as many instances as its target says.
"""

from collections.abc import Mapping
from typing import Any

from local.emulator.api.errors import AwsError
from local.emulator.hosting.endpoint import Entry
from local.emulator.hosting.service import Hosting, Operation
from local.emulator.resources.store import Resource, ResourceStore

TYPE = "AWS::ApplicationAutoScaling::ScalableTarget"


class ScalableTargets:
    """Those of ``resources``, which stacks make."""

    def __init__(self, resources: ResourceStore, hosting: Hosting) -> None:
        self._resources, self._hosting = resources, hosting
        self._suspended: dict[tuple[str, str], Entry] = {}

    def operations(self) -> dict[str, Operation]:
        """By their names in the API."""
        return {"DescribeScalableTargets": self.describe, "RegisterScalableTarget": self.register}

    def describe(self, region: str, asked: Mapping[str, Any]) -> Entry:
        """DescribeScalableTargets."""
        wanted = asked.get("ResourceIds")
        found = [each.properties for each in self._resources.of_type(region, TYPE)]
        shown = [
            {
                **{key: each[key] for key in ("ServiceNamespace", "ResourceId", "ScalableDimension")},
                **{key: int(each[key]) for key in ("MinCapacity", "MaxCapacity")},
                "RoleARN": f"arn:aws:iam::{self._hosting.account}:role/aws-service-role/scaling",
                "CreationTime": 0,
                "SuspendedState": self._suspended.get((region, each["ResourceId"]), _NOTHING),
            }
            for each in found
            if not wanted or each["ResourceId"] in wanted
        ]
        return {"ScalableTargets": shown}

    def register(self, region: str, asked: Mapping[str, Any]) -> Entry:
        """RegisterScalableTarget of one that is there: what is suspended of it."""
        known = [each.properties["ResourceId"] for each in self._resources.of_type(region, TYPE)]
        if asked["ResourceId"] not in known:
            raise AwsError("ValidationException", "MinCapacity and MaxCapacity are required for a new scalable target")
        self._suspended[region, asked["ResourceId"]] = {**_NOTHING, **asked.get("SuspendedState", {})}
        return {}

    def made(self, target: Resource) -> None:
        """Bring the variant to the least that it may have."""
        _, endpoint, _, variant = target.properties["ResourceId"].split("/")
        self._hosting.scale_at_least(target.region, endpoint, variant, int(target.properties["MinCapacity"]))


_NOTHING: Entry = {
    "DynamicScalingInSuspended": False,
    "DynamicScalingOutSuspended": False,
    "ScheduledScalingSuspended": False,
}
