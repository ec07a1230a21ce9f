"""Who looks after Capacity Blocks: the engine, its clock and events, and the table of requests.

Only in an environment that has a fleet in a Capacity Block, or that names who may approve one.
"""

from collections.abc import Sequence
from typing import Final, cast

from aws_cdk import CrossStackReferences, Duration, ReferenceStrength, RemovalPolicy, Stack
from aws_cdk import aws_events as events
from aws_cdk import aws_events_targets as targets
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from constructs import Construct

from environments.fleets import TrainingFleet
from environments.model import Environment
from fleet import naming
from fleet.alarms.functions import CAPACITY_BLOCKS
from fleet.naming import PROJECT
from stacks.capacity import CapacityStack
from stacks.constructs.python_function import PythonFunction, dead_letter_queue, table_by_id
from stacks.constructs.rights import acknowledge, allow
from stacks.observability import ObservabilityStack
from stacks.training import TrainingStack

ENGINE: Final = "lambdas.capacity_blocks.handler.lambda_handler"
# EC2's user guide calls the events one thing in its headings and another in its examples, so both are listened to.
DETAIL_TYPES: Final = [
    "Capacity Block Delivered",
    "Capacity Block Reservation Delivered",
    "Capacity Block Expiration Warning",
    "Capacity Block Reservation Expiration Warning",
]


class CapacityBlocksStack(Stack):
    """Attributes: ``engine``, ``requests`` (the table), ``unhandled`` (events that the engine failed on)."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        environment: Environment,
        capacity: CapacityStack,
        training: TrainingStack,
        observability: ObservabilityStack,
    ) -> None:
        """Look after the blocks of ``environment``; tickets go to the topic of ``observability``."""
        super().__init__(scope, construct_id, stack_name=naming.stack_name(environment.name, construct_id))
        self._capacity, self._training = capacity, training
        self.unhandled = dead_letter_queue(
            self, "Unhandled", queue_name=naming.dead_letter_queue(environment.name, CAPACITY_BLOCKS)
        )
        # It remembers what was bought: without it, an approved request could be bought a second time.
        self.requests = table_by_id(
            self, "Requests", RemovalPolicy.RETAIN if environment.approvers else RemovalPolicy.DESTROY
        )
        self.engine = self._engine(environment, observability)
        self._wake()

    def _engine(self, environment: Environment, observability: ObservabilityStack) -> PythonFunction:
        places = {fleet.name: self._place(fleet) for fleet in environment.block_fleets}
        engine = PythonFunction(
            self,
            "Engine",
            handler=ENGINE,
            # A minute of log query, and a few calls for each block.
            timeout=Duration.minutes(3),
            dead_letters=self.unhandled,
            environment={
                "ENVIRONMENT": environment.name,
                "TABLE": self.requests.table_name,
                "TICKET_TOPIC": observability.ticket_topic.topic_arn,
                "NODE_LOG_GROUP": observability.node_log_group.log_group_name,
                "STS_HOST": f"sts.{self.region}.{self.url_suffix}",
                "APPROVERS": self.to_json_string(list(environment.approvers)),
                "PLACES": self.to_json_string(places),
                "LOG_LEVEL": "INFO",
            },
        )
        # People call it, so it has a name that they know.
        function = cast(lambda_.CfnFunction, engine.function.node.default_child)
        function.function_name = naming.capacity_blocks_function(environment.name)
        self.requests.grant(engine.role, "dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:Scan")
        allow_engine(
            engine.role,
            environment=environment.name,
            observability=observability,
            compute_environments=[str(place["compute_environment"]) for place in places.values()],
            may_buy=bool(environment.approvers),
        )
        return engine

    def _place(self, fleet: TrainingFleet) -> dict[str, object]:
        batch = self._training.fleets[fleet.name]
        for part in (batch.compute_environment, batch.queue):
            # An exported value cannot go away while it is in use: the fleet could never be taken out of the file.
            CrossStackReferences.of(part).produce(ReferenceStrength.WEAK)
        return {
            "compute_environment": batch.compute_environment.attr_compute_environment_arn,
            "queue": batch.queue.attr_job_queue_arn,
            "vcpus": self._capacity.fleets[fleet.name].plan.instance_type.vcpus,
            "instance_type": fleet.instance_type,
            "availability_zone": fleet.availability_zone,
            "reservation_id": fleet.reservation_id,
        }

    def _wake(self) -> None:
        # Between the last stop and EC2's termination lie five minutes: one tick that is lost must not cost them all.
        clock = events.Schedule.rate(Duration.minutes(1))
        changed = events.EventPattern(source=["aws.ec2"], detail_type=DETAIL_TYPES)
        events.Rule(self, "Clock", schedule=clock, targets=[targets.LambdaFunction(self.engine.function)])
        events.Rule(self, "Changed", event_pattern=changed, targets=[targets.LambdaFunction(self.engine.function)])


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
