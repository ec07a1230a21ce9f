"""What a month may cost: AWS Budgets by environment and owner, and the function that forecasts, stops and tells."""

from typing import Final, cast

from aws_cdk import CrossStackReferences, Duration, ReferenceStrength, RemovalPolicy, Stack
from aws_cdk import aws_budgets as budgets
from aws_cdk import aws_events as events
from aws_cdk import aws_events_targets as targets
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_ssm as ssm
from constructs import Construct

from environments.model import Environment
from fleet import naming
from fleet.alarms.functions import BUDGETS
from fleet.ledger.columns import LEDGER
from stacks.constructs.budget_stop import let_stop
from stacks.constructs.duckdb_layer import duckdb_layer
from stacks.constructs.python_function import PythonFunction, dead_letter_queue, table_by_id
from stacks.constructs.rights import acknowledge, allow
from stacks.observability import ObservabilityStack
from stacks.training import TrainingStack

LOOK: Final = "lambdas.budgets.handler.lambda_handler"


class BudgetsStack(Stack):
    """Attributes: ``budgets``, ``look``, ``unhandled`` (looks that failed), ``memory`` of the stop, if there is one."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        environment: Environment,
        observability: ObservabilityStack,
        training: TrainingStack,
    ) -> None:
        """Tell of waste every day; where the file has budgets, watch them, and stop what it lets be stopped."""
        super().__init__(scope, construct_id, stack_name=naming.stack_name(environment.name, construct_id))
        # An exported value cannot go away while it is in use: a fleet could never be taken out of the file.
        CrossStackReferences.of(self).consume(ReferenceStrength.WEAK)
        self._environment, self._observability = environment, observability
        self._training = training
        self._ledger = self._ledger_bucket()
        self.budgets = self._budgets()
        self.unhandled = dead_letter_queue(
            self, "Unhandled", queue_name=naming.dead_letter_queue(environment.name, BUDGETS)
        )
        # What it has closed is in it: without it, nobody but people would open that again.
        self.memory = table_by_id(self, "Stop", RemovalPolicy.RETAIN) if environment.stoppable_fleets else None
        self.look = self._function()
        # Half an hour after the ledger, whose roll-up may take a quarter.
        clock = events.Schedule.cron(minute="35")
        events.Rule(self, "Clock", schedule=clock, targets=[targets.LambdaFunction(self.look.function)])

    def _budgets(self) -> list[budgets.CfnBudget]:
        named = self._environment.budgets
        if named is None:
            return []
        whole = self._budget("Environment", naming.budget_name(self._environment.name), named.monthly_usd, None)
        return [
            whole,
            *(
                self._budget(f"Owner-{owner}", naming.budget_name(self._environment.name, owner), usd, owner)
                for owner, usd in named.owners.items()
            ),
        ]

    def _budget(self, construct_id: str, name: str, usd: float, owner: str | None) -> budgets.CfnBudget:
        named = self._environment.budgets
        if named is None:
            raise ValueError("a budget is made where the file has budgets")
        return budgets.CfnBudget(
            self,
            construct_id,
            budget=budgets.CfnBudget.BudgetDataProperty(
                budget_name=name,
                budget_type="COST",
                time_unit="MONTHLY",
                budget_limit=budgets.CfnBudget.SpendProperty(amount=usd, unit="USD"),
                metrics=["UnblendedCost"],
                filter_expression=_filter(self._environment.name, owner),
            ),
            notifications_with_subscribers=[
                self._notification("ACTUAL", 100),
                self._notification("FORECASTED", named.forecast_percent),
            ],
        )

    def _notification(self, kind: str, percent: float) -> budgets.CfnBudget.NotificationWithSubscribersProperty:
        topic = self._observability.ticket_topic.topic_arn
        return budgets.CfnBudget.NotificationWithSubscribersProperty(
            notification=budgets.CfnBudget.NotificationProperty(
                comparison_operator="GREATER_THAN", notification_type=kind, threshold=percent
            ),
            subscribers=[budgets.CfnBudget.SubscriberProperty(address=topic, subscription_type="SNS")],
        )

    def _function(self) -> PythonFunction:
        environment = self._environment
        look = PythonFunction(
            self,
            "Look",
            handler=LOOK,
            # At most 32 small files of the ledger, and two calls for each fleet.
            timeout=Duration.minutes(3),
            dead_letters=self.unhandled,
            memory_mb=512,
            layers=duckdb_layer(self),
            environment={
                "ENVIRONMENT": environment.name,
                "BUCKET": self._ledger.bucket_name,
                "TICKET_TOPIC": self._observability.ticket_topic.topic_arn,
                "STS_HOST": f"sts.{self.region}.{self.url_suffix}",
                "BUDGETS": self.to_json_string(self._told()),
                "LOG_LEVEL": "INFO",
            },
        )
        # People call it, so it has a name that they know.
        cast(lambda_.CfnFunction, look.function.node.default_child).function_name = naming.budgets_function(
            environment.name
        )
        self._allow_telling(look.role)
        if self.memory is not None:
            let_stop(
                look,
                self.memory,
                environment=environment.name,
                stoppable=environment.stoppable_fleets,
                approvers=environment.budgets.approvers if environment.budgets else (),
                batch_fleets=self._training.fleets,
            )
        return look

    def _told(self) -> dict[str, object] | None:
        named = self._environment.budgets
        if named is None:
            return None
        return {
            "usd": named.monthly_usd,
            "owners": named.owners,
            "forecast_percent": named.forecast_percent,
            "stop": named.stop.value,
        }

    def _ledger_bucket(self) -> s3.IBucket:
        # By its parameter, as the command line finds it: CloudFormation makes the name up.
        parameter = naming.ledger_bucket_parameter(self._environment.name)
        name = ssm.StringParameter.value_for_string_parameter(self, parameter)
        return s3.Bucket.from_bucket_name(self, "Ledger", name)

    def _allow_telling(self, role: iam.Role) -> None:
        bucket, days = self._ledger, f"{LEDGER}/environment={self._environment.name}/*"
        # Without it S3 answers that a day without a ledger is forbidden, and not that there is none.
        allow(role, "s3:ListBucket", on=[bucket.bucket_arn])
        allow(role, "s3:GetObject", on=[bucket.arn_for_objects(days)])
        named = self.resolve(bucket.bucket_name)["Ref"]
        acknowledge(role, f"arn:aws:s3:::<{named}>/{days}", "one object for each day, of this environment only")
        allow(role, "sns:Publish", on=[self._observability.ticket_topic.topic_arn])
        allow(role, "kms:Decrypt", "kms:GenerateDataKey", on=[self._observability.topic_key.key_arn])


def _filter(environment: str, owner: str | None) -> budgets.CfnBudget.ExpressionProperty:
    """What carries the tags, before credits and refunds: with them, a budget of real money would never be reached."""
    expression = budgets.CfnBudget.ExpressionProperty
    tags = {"environment": environment, **({"owner": owner} if owner else {})}
    credits = expression(
        dimensions=budgets.CfnBudget.ExpressionDimensionValuesProperty(key="RECORD_TYPE", values=["Credit", "Refund"])
    )
    return expression(
        and_=[
            *(
                expression(tags=budgets.CfnBudget.TagValuesProperty(key=key, values=[value], match_options=["EQUALS"]))
                for key, value in tags.items()
            ),
            expression(not_=credits),
        ]
    )
