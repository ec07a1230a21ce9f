"""What the function that watches budgets needs to stop fleets: where they are, and rights to those and no others."""

from collections.abc import Collection, Mapping, Sequence

from aws_cdk import Stack
from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk import aws_iam as iam

from environments.fleets import TrainingFleet
from fleet import naming
from fleet.pool import CLOSED_BY
from stacks.constructs.batch_fleet import BatchFleet
from stacks.constructs.python_function import PythonFunction
from stacks.constructs.rights import acknowledge, allow


def let_stop(
    look: PythonFunction,
    memory: dynamodb.Table,
    *,
    environment: str,
    stoppable: Sequence[TrainingFleet],
    approvers: Sequence[str],
    batch_fleets: Mapping[str, BatchFleet],
) -> None:
    """Tell ``look`` of the fleets that are ``stoppable`` and of who may decide, and let it close and open them."""
    on_batch = {fleet.name: batch_fleets[fleet.name] for fleet in stoppable if not fleet.is_pool}
    pools = [fleet.name for fleet in stoppable if fleet.is_pool]
    places = {
        name: {
            "queue": batch.queue.attr_job_queue_arn,
            "compute_environment": batch.compute_environment.attr_compute_environment_arn,
        }
        for name, batch in on_batch.items()
    } | {name: {"table": naming.pool_table(environment), "fleet": name} for name in pools}
    stack = Stack.of(look)
    look.function.add_environment("TABLE", memory.table_name)
    look.function.add_environment("PLACES", stack.to_json_string(places))
    look.function.add_environment("APPROVERS", stack.to_json_string(list(approvers)))
    memory.grant(look.role, "dynamodb:GetItem", "dynamodb:PutItem")
    if on_batch:
        _allow_queues(look.role, on_batch.values())
    if pools:
        _allow_pools(look.role, naming.pool_table(environment), pools)


def _allow_queues(role: iam.Role, fleets: Collection[BatchFleet]) -> None:
    """Of these fleets only: another one's queue is out of its reach, whatever it is told."""
    queues = [batch.queue.attr_job_queue_arn for batch in fleets]
    nodes = [batch.compute_environment.attr_compute_environment_arn for batch in fleets]
    allow(role, "batch:UpdateJobQueue", on=queues)
    allow(role, "batch:UpdateComputeEnvironment", on=nodes)
    allow(role, "batch:DescribeJobQueues", on=["*"])
    acknowledge(role, "*", "DescribeJobQueues reads a list and cannot be limited to a resource")


def _allow_pools(role: iam.Role, table: str, pools: Sequence[str]) -> None:
    """One attribute of the items of these pools: the body of a job in the same table is out of its reach."""
    arn = Stack.of(role).format_arn(service="dynamodb", resource="table", resource_name=table)
    allow(
        role,
        "dynamodb:GetItem",
        "dynamodb:UpdateItem",
        on=[arn],
        # DynamoDB developer guide, "Using IAM policy conditions for fine-grained access control".
        when={
            "ForAllValues:StringEquals": {
                "dynamodb:LeadingKeys": list(pools),
                "dynamodb:Attributes": ["fleet", "item", CLOSED_BY],
            },
            "StringEqualsIfExists": {
                "dynamodb:Select": "SPECIFIC_ATTRIBUTES",
                "dynamodb:ReturnValues": ["NONE", "UPDATED_OLD", "UPDATED_NEW"],
            },
        },
    )
