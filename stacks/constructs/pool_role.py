"""What the pools' controller may do: see its groups and clusters, size and replace, start and stop its own tasks."""

from collections.abc import Mapping, Sequence
from typing import Final

from aws_cdk import ArnFormat, Stack
from aws_cdk import aws_iam as iam

from fleet import naming
from stacks.constructs.pool_task import PoolTask
from stacks.constructs.rights import acknowledge, allow

_LISTS: Final = "these actions read lists, and cannot be limited to a resource; tasks are those of the pools' clusters"
_GROUPS: Final = "a group's ARN holds an id that it gets when it is created; its name is whole"
_IDS: Final = "tasks and container instances get their ids when they start; the cluster's name is whole"
_REVISIONS: Final = "every revision of one task definition"


def allow_controller(
    role: iam.Role, *, environment: str, tasks: Mapping[str, PoolTask], parameters: Sequence[str]
) -> None:
    """Give ``role`` what the controller does for the pools of ``environment``."""
    names = {fleet: naming.pool_name(environment, fleet) for fleet in tasks}
    clusters = {fleet: naming.cluster_name(environment, fleet) for fleet in tasks}
    cluster_arns = [_arn(role, "ecs", "cluster", name) for name in clusters.values()]
    in_clusters = {"ArnEquals": {"ecs:cluster": cluster_arns}}
    allow(role, "ssm:GetParameters", on=parameters)
    allow(role, "autoscaling:DescribeAutoScalingGroups", "ec2:DescribeInstances", on=["*"])
    allow(role, "ecs:ListTasks", on=["*"], when=in_clusters)
    acknowledge(role, "*", _LISTS)
    groups = [_group(role, name) for name in names.values()]
    allow(
        role,
        "autoscaling:CompleteLifecycleAction",
        "autoscaling:SetDesiredCapacity",
        "autoscaling:SetInstanceHealth",
        "autoscaling:TerminateInstanceInAutoScalingGroup",
        on=groups,
    )
    allow(role, "ecs:ListContainerInstances", on=cluster_arns)
    instances = [_arn(role, "ecs", "container-instance", f"{name}/*") for name in clusters.values()]
    allow(role, "ecs:DescribeContainerInstances", on=instances)
    running = [_arn(role, "ecs", "task", f"{name}/*") for name in clusters.values()]
    allow(role, "ecs:DescribeTasks", "ecs:StopTask", on=running)
    families = [each.family for task in tasks.values() for each in task.definitions.values()]
    definitions = [_arn(role, "ecs", "task-definition", f"{family}:*") for family in families]
    allow(role, "ecs:StartTask", on=definitions, when=in_clusters)
    allow(
        role,
        "iam:PassRole",
        on=[each.role_arn for task in tasks.values() for each in (task.job_role, task.execution_role)],
        when={"StringEquals": {"iam:PassedToService": "ecs-tasks.amazonaws.com"}},
    )
    for reason, arns in ((_GROUPS, groups), (_IDS, [*instances, *running]), (_REVISIONS, definitions)):
        for arn in arns:
            acknowledge(role, arn, reason)


def group_arn(role: iam.Role, name: str) -> str:
    """The ARN of an Auto Scaling group, without the id in its middle."""
    return _group(role, name)


def _group(role: iam.Role, name: str) -> str:
    return Stack.of(role).format_arn(
        service="autoscaling",
        resource="autoScalingGroup",
        resource_name=f"*:autoScalingGroupName/{name}",
        arn_format=ArnFormat.COLON_RESOURCE_NAME,
    )


def _arn(role: iam.Role, service: str, resource: str, name: str) -> str:
    return Stack.of(role).format_arn(service=service, resource=resource, resource_name=name)
