"""What the Capacity Block engine may do: see reservations, tell its own fleets, buy only where somebody approves."""

from collections.abc import Sequence
from typing import Final

from aws_cdk import Stack
from aws_cdk import aws_iam as iam

from fleet.naming import PROJECT
from stacks.constructs.rights import acknowledge, allow
from stacks.observability import ObservabilityStack

_NO_RESOURCE: Final = (
    "these actions read lists, or take an id of a query or an offer, and cannot be limited to a resource; a query can "
    "be started on the node log group only, and an offer be bought only where approvers are named"
)
_JOBS: Final = "jobs get their ids when they are submitted"
_NODES: Final = "instances get their ids when Batch launches them; the condition limits them to this environment's"
_BLOCKS: Final = "a block gets its id when it is bought, and only then may it be tagged"


def allow_engine(
    role: iam.Role,
    *,
    environment: str,
    observability: ObservabilityStack,
    compute_environments: Sequence[str],
    may_buy: bool,
) -> None:
    """Give ``role`` what the engine does. The permission to buy comes with the first approver."""
    reading = [
        "ec2:DescribeCapacityReservations",
        "ec2:DescribeCapacityBlockOfferings",
        "ec2:DescribeCapacityBlockExtensionOfferings",
        "ec2:DescribeCapacityBlockExtensionHistory",
        "logs:GetQueryResults",
        "logs:StopQuery",
    ]
    allow(role, "logs:StartQuery", on=[observability.node_log_group.log_group_arn])
    allow(role, "sns:Publish", on=[observability.ticket_topic.topic_arn])
    allow(role, "kms:Decrypt", "kms:GenerateDataKey", on=[observability.topic_key.key_arn])
    if compute_environments:
        reading += ["batch:DescribeComputeEnvironments", "batch:ListJobs"]
        _allow_fleets(role, environment, compute_environments)
    if may_buy:
        reading.append("ec2:PurchaseCapacityBlock")
        _allow_tagging(role)
    allow(role, *reading, on=["*"])
    acknowledge(role, "*", _NO_RESOURCE)


def _allow_fleets(role: iam.Role, environment: str, compute_environments: Sequence[str]) -> None:
    stack = Stack.of(role)
    jobs = stack.format_arn(service="batch", resource="job", resource_name="*")
    nodes = stack.format_arn(service="ec2", resource="instance", resource_name="*")
    document = stack.format_arn(service="ssm", account="", resource="document", resource_name="AWS-RunShellScript")
    allow(role, "batch:UpdateComputeEnvironment", on=list(compute_environments))
    allow(role, "batch:TerminateJob", on=[jobs])
    acknowledge(role, jobs, _JOBS)
    allow(role, "ssm:SendCommand", on=[document])
    tags = {"ssm:resourceTag/project": PROJECT, "ssm:resourceTag/environment": environment}
    allow(role, "ssm:SendCommand", on=[nodes], when={"StringEquals": tags})
    acknowledge(role, nodes, _NODES)


def _allow_tagging(role: iam.Role) -> None:
    stack = Stack.of(role)
    bought = [
        stack.format_arn(service="ec2", resource=kind, resource_name="*")
        for kind in ("capacity-reservation", "capacity-block")
    ]
    allow(role, "ec2:CreateTags", on=bought, when={"StringEquals": {"ec2:CreateAction": "PurchaseCapacityBlock"}})
    for arn in bought:
        acknowledge(role, arn, _BLOCKS)
