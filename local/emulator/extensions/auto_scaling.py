"""Auto Scaling over ``autoscaling._ACTION_MAP``: groups of stacks get their instances, or a reason why they do not."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from ministack.core.responses import get_region
from ministack.services import autoscaling, ec2

from local.emulator.api.answers import Entry
from local.emulator.api.errors import AwsError, Response
from local.emulator.api.query import Form, served
from local.emulator.capacity.scaling import FAILED, SUCCESSFUL, ScalingActivities
from local.emulator.faults import FaultStore

Group = dict[str, Any]


def answer_auto_scaling(activities: ScalingActivities, faults: FaultStore) -> None:
    """A group is brought to its desired capacity when somebody looks; a fault on ec2:RunInstances keeps it short."""

    def groups(describe: Any, form: Form) -> Response:  # noqa: ANN401 - ministack's own action
        _settle(activities, faults)
        response: Response = describe(form)
        return response

    def scaling_activities(request: Mapping[str, Any]) -> Entry:
        _settle(activities, faults)
        name = request.get("AutoScalingGroupName")
        if name is not None and name not in autoscaling._asgs:
            raise AwsError("ValidationError", f"AutoScalingGroup name not found - AutoScalingGroup '{name}' not found")
        return activities.describe(get_region(), [name] if name else list(autoscaling._asgs), request)

    actions = autoscaling._ACTION_MAP
    for action in ("DescribeAutoScalingGroups", "DescribeAutoScalingInstances"):
        actions[action] = partial(groups, actions[action])
    actions["DescribeScalingActivities"] = served("autoscaling", "DescribeScalingActivities", scaling_activities)


def _settle(activities: ScalingActivities, faults: FaultStore) -> None:
    for name in autoscaling._asgs:
        group: Group = autoscaling._asgs[name]
        subnets = [each for each in group["VPCZoneIdentifier"].split(",") if each in ec2._subnets]
        if subnets:
            zones = (ec2._subnets[each]["AvailabilityZone"] for each in subnets)
            group["AvailabilityZones"] = list(dict.fromkeys(zones))
        try:
            if group["DesiredCapacity"] > len(group["Instances"]):
                faults.check("ec2:RunInstances", {"AutoScalingGroupName": name, **_instance_type(group)})
        except AwsError as error:
            message = f"{error.message} Launching EC2 instance failed."
            activities.record(get_region(), name, FAILED, message)
            continue
        known = {each["InstanceId"] for each in group["Instances"]}
        autoscaling._reconcile_instances(group)
        for instance in group["Instances"]:
            if instance["InstanceId"] not in known:
                activities.record(get_region(), name, SUCCESSFUL, instance["InstanceId"])


def _instance_type(group: Group) -> dict[str, str]:
    template = ec2._launch_templates.get(group["LaunchTemplate"].get("LaunchTemplateId", ""))
    if not template:
        return {}
    data = template["Versions"][-1].get("LaunchTemplateData", {})
    return {"InstanceType": str(data["InstanceType"])} if "InstanceType" in data else {}
