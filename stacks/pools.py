"""Who looks after the pools: the controller, its clock and events, the faults that agents tell of, and the jobs' table.

Only in an environment that has a training fleet with ``engine: pool``.
"""

from collections.abc import Mapping
from typing import Final, cast

from aws_cdk import CrossStackReferences, Duration, ReferenceStrength, Stack
from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk import aws_events as events
from aws_cdk import aws_events_targets as targets
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from aws_cdk import aws_logs_destinations as destinations
from constructs import Construct

from environments.model import Environment
from fleet import naming
from fleet.alarms.functions import POOL
from stacks.constructs.pool_role import allow_controller
from stacks.constructs.python_function import PythonFunction, dead_letter_queue
from stacks.constructs.retention import retention_of
from stacks.observability import ObservabilityStack
from stacks.training import TrainingStack

CONTROLLER: Final = "lambdas.pool.handler.lambda_handler"


class PoolsStack(Stack):
    """Attributes: ``controller``, ``jobs`` (the table), ``unhandled`` (events that the controller failed on)."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        environment: Environment,
        training: TrainingStack,
        observability: ObservabilityStack,
    ) -> None:
        """Look after the pools of ``training``; their agents log to the group of ``observability``."""
        super().__init__(scope, construct_id, stack_name=naming.stack_name(environment.name, construct_id))
        # An exported value cannot go away while it is in use: a fleet could never be taken out of the file.
        CrossStackReferences.of(self).consume(ReferenceStrength.WEAK)
        self.unhandled = dead_letter_queue(
            self, "Unhandled", queue_name=naming.dead_letter_queue(environment.name, POOL)
        )
        self.jobs = self._table(environment)
        self.controller = self._controller(environment, training)
        self._wake(environment, observability)

    def _table(self, environment: Environment) -> dynamodb.Table:
        return dynamodb.Table(
            self,
            "Jobs",
            # People's `fleet jobs` finds it by its name.
            table_name=naming.pool_table(environment.name),
            partition_key=dynamodb.Attribute(name="fleet", type=dynamodb.AttributeType.STRING),
            sort_key=dynamodb.Attribute(name="item", type=dynamodb.AttributeType.STRING),
            time_to_live_attribute="expiration",
            billing_mode=dynamodb.BillingMode.PAY_PER_REQUEST,
            encryption=dynamodb.TableEncryption.AWS_MANAGED,
            point_in_time_recovery_specification=dynamodb.PointInTimeRecoverySpecification(
                point_in_time_recovery_enabled=True
            ),
            removal_policy=retention_of(environment).removal_policy,
        )

    def _controller(self, environment: Environment, training: TrainingStack) -> PythonFunction:
        fleets = [fleet.name for fleet in environment.pool_fleets]
        controller = PythonFunction(
            self,
            "Controller",
            handler=CONTROLLER,
            # A hundred containers are started eight at a time; a call gives up after 15 s.
            timeout=Duration.minutes(2),
            dead_letters=self.unhandled,
            environment={
                "ENVIRONMENT": environment.name,
                "FLEETS": self.to_json_string(fleets),
                "TABLE": self.jobs.table_name,
                "LOG_LEVEL": "INFO",
            },
        )
        function = cast("lambda_.CfnFunction", controller.function.node.default_child)
        function.function_name = naming.pool_function(environment.name)
        self.jobs.grant(controller.role, "dynamodb:Query", "dynamodb:UpdateItem")
        allow_controller(
            controller.role,
            environment=environment.name,
            tasks={name: training.pools[name].task for name in fleets},
            parameters=[
                self.format_arn(
                    service="ssm",
                    resource="parameter",
                    resource_name=naming.job_place_parameter(environment.name, name).removeprefix("/"),
                )
                for name in fleets
            ],
        )
        # Without their parameters it would fail at its first tick.
        self.add_stack_dependency(training)
        return controller

    def _wake(self, environment: Environment, observability: ObservabilityStack) -> None:
        target = targets.LambdaFunction(self.controller.function)
        fleets = [fleet.name for fleet in environment.pool_fleets]
        clusters = [
            self.format_arn(
                service="ecs", resource="cluster", resource_name=naming.cluster_name(environment.name, name)
            )
            for name in fleets
        ]
        events.Rule(self, "Clock", schedule=events.Schedule.rate(Duration.minutes(1)), targets=[target])
        # What ends a container may end a job, and gives its nodes a minute more.
        ended = {"clusterArn": clusters, "lastStatus": ["STOPPED"]}
        self._rule("TaskEnded", target, "aws.ecs", "ECS Task State Change", ended)
        groups = {"AutoScalingGroupName": [naming.pool_name(environment.name, name) for name in fleets]}
        self._rule("NodeLeaves", target, "aws.autoscaling", "EC2 Instance-terminate Lifecycle Action", groups)
        logs.SubscriptionFilter(
            self,
            "Faults",
            log_group=observability.node_log_group,
            destination=destinations.LambdaDestination(self.controller.function),
            filter_pattern=logs.FilterPattern.string_value("$.state", "=", "FAULT"),
        )

    def _rule(
        self, construct_id: str, target: events.IRuleTarget, source: str, kind: str, detail: Mapping[str, object]
    ) -> None:
        pattern = events.EventPattern(source=[source], detail_type=[kind], detail=detail)
        events.Rule(self, construct_id, event_pattern=pattern, targets=[target])
