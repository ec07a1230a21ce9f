"""What hours cost: the function that asks AWS once a day, and the table that nodes, functions and people read."""

from typing import Final, cast

from aws_cdk import Acknowledgment, Duration, RemovalPolicy, Stack, Validations
from aws_cdk import aws_events as events
from aws_cdk import aws_events_targets as targets
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from constructs import Construct

from environments.model import Environment
from fleet import naming
from fleet.alarms.functions import PRICES
from stacks.constructs.python_function import PythonFunction, dead_letter_queue, table_by_id

REFRESH: Final = "lambdas.prices.handler.lambda_handler"
_LISTS: Final = "price lists are read whole: these actions cannot be limited to a resource"


class PricesStack(Stack):
    """Attributes: ``table``, ``refresh``, ``unhandled`` (events that it failed on)."""

    def __init__(self, scope: Construct, construct_id: str, *, environment: Environment) -> None:
        """Keep the prices of the environment's types and region."""
        super().__init__(scope, construct_id, stack_name=naming.stack_name(environment.name, construct_id))
        self.unhandled = dead_letter_queue(
            self, "Unhandled", queue_name=naming.dead_letter_queue(environment.name, PRICES)
        )
        # Everything in it can be asked for again. It has a name, so that its readers hold no reference that would keep
        # a fleet, or this stack, in the file.
        self.table = table_by_id(self, "Table", RemovalPolicy.DESTROY, table_name=naming.prices_table(environment.name))
        self.refresh = self._function(environment)
        clock = events.Schedule.rate(Duration.days(1))
        events.Rule(self, "Clock", schedule=clock, targets=[targets.LambdaFunction(self.refresh.function)])

    def _function(self, environment: Environment) -> PythonFunction:
        types = dict.fromkeys(
            name for fleet in environment.fleets for name in (fleet.instance_type, *fleet.alternative_types)
        )
        refresh = PythonFunction(
            self,
            "Refresh",
            handler=REFRESH,
            # Some thirty calls, one after the other for each source; the last minute is for keeping what was read.
            timeout=Duration.minutes(5),
            dead_letters=self.unhandled,
            environment={
                "ENVIRONMENT": environment.name,
                "PRICE_REGION": environment.region,
                "PRICE_TABLE": naming.prices_table(environment.name),
                "INSTANCE_TYPES": self.to_json_string(list(types)),
                "LOG_LEVEL": "INFO",
            },
        )
        # People have it ask now, so it has a name that they know.
        function = cast(lambda_.CfnFunction, refresh.function.node.default_child)
        function.function_name = naming.prices_function(environment.name)
        self.table.grant(refresh.role, "dynamodb:PutItem", "dynamodb:Scan")
        # Without its table it would fail at its first tick.
        refresh.function.node.add_dependency(self.table)
        refresh.role.add_to_policy(
            iam.PolicyStatement(
                actions=[
                    "ec2:DescribeCapacityBlockOfferings",
                    "ec2:DescribeSpotPriceHistory",
                    "pricing:GetProducts",
                    "savingsplans:DescribeSavingsPlansOfferingRates",
                ],
                resources=["*"],
            )
        )
        Validations.of(refresh.role).acknowledge(Acknowledgment(id="AwsSolutions-IAM5[Resource::*]", reason=_LISTS))
        return refresh
