"""What the capacity watch may do: see capacity, put reservations into its fleets' groups, keep reserved nodes."""

from collections.abc import Sequence
from typing import Final

from aws_cdk import Stack
from aws_cdk import aws_iam as iam

from fleet import naming
from fleet.capacity import LaunchPlan
from fleet.fleet_spec import Engine, MarketKind
from stacks.constructs.pool_role import group_arn
from stacks.constructs.rights import acknowledge, allow

_LISTS: Final = "these actions read lists and metrics, and cannot be limited to a resource"
_GROUPS: Final = "a group's ARN holds an id that it gets when it is created; its name is whole"
_EVENTS: Final = "a stack's ARN ends with an id that it gets when it is created"


def allow_watch(
    role: iam.Role,
    *,
    environment: str,
    plans: dict[str, LaunchPlan],
    compute_environments: Sequence[str],
    parameters: Sequence[str],
    has_warm_pool: bool,
) -> None:
    """Give ``role`` what the watch does. ``compute_environments`` are those that it may keep nodes in; ARNs all."""
    reading = [
        "cloudformation:ListStacks",
        "cloudwatch:GetMetricData",
        "ec2:DescribeCapacityReservations",
        "ec2:DescribeInstances",
    ]
    if parameters:
        allow(role, "ssm:GetParameters", on=parameters)
    if any(plan.spec.is_batch for plan in plans.values()):
        reading += ["batch:DescribeComputeEnvironments", "batch:ListJobs"]
    if not all(plan.spec.is_batch for plan in plans.values()):
        reading += ["autoscaling:DescribeAutoScalingGroups", "autoscaling:DescribeScalingActivities"]
    if has_warm_pool:
        reading.append("autoscaling:DescribeWarmPool")
    if compute_environments:
        allow(role, "batch:UpdateComputeEnvironment", on=compute_environments)
    _allow_pools(role, environment, plans)
    reading += _allow_groups(role, environment, plans)
    _allow_stacks(role, environment, plans)
    allow(role, *reading, on=["*"])
    acknowledge(role, "*", _LISTS)


def _allow_pools(role: iam.Role, environment: str, plans: dict[str, LaunchPlan]) -> None:
    arns = [
        group_arn(role, naming.pool_name(environment, fleet))
        for fleet, plan in plans.items()
        if plan.spec.engine is Engine.POOL and plan.market is MarketKind.RESERVATION
    ]
    if arns:
        allow(role, "autoscaling:SetDesiredCapacity", on=arns)
    for arn in arns:
        acknowledge(role, arn, _GROUPS)


def _allow_groups(role: iam.Role, environment: str, plans: dict[str, LaunchPlan]) -> list[str]:
    stack = Stack.of(role)
    own = [
        stack.format_arn(
            service="resource-groups",
            resource="group",
            resource_name=naming.reservation_group(environment, fleet),
        )
        for fleet, plan in plans.items()
        if plan.creates_reservation
    ]
    named = sorted({plan.reservation_group for plan in plans.values() if plan.reservation_group})
    if own:
        allow(role, "resource-groups:GroupResources", on=own)
    if not own and not named:
        return []
    allow(role, "resource-groups:ListGroupResources", on=[*own, *named])
    # What the API reference of ListGroupResources calls its minimum permissions, whatever kind of group it is.
    return ["cloudformation:DescribeStacks", "cloudformation:ListStackResources", "tag:GetResources"]


def _allow_stacks(role: iam.Role, environment: str, plans: dict[str, LaunchPlan]) -> None:
    names = [
        naming.stack_name(environment, naming.reservation_stack(fleet))
        for fleet, plan in plans.items()
        if plan.creates_reservation
    ]
    arns = [
        Stack.of(role).format_arn(service="cloudformation", resource="stack", resource_name=f"{name}/*")
        for name in names
    ]
    if arns:
        allow(role, "cloudformation:DescribeStackEvents", on=arns)
    for arn in arns:
        acknowledge(role, arn, _EVENTS)
