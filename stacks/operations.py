"""What reacts to an environment's alarms: the pager, and the queue of pages that could not be delivered."""

from typing import Final

from aws_cdk import Acknowledgment, ArnFormat, Duration, RemovalPolicy, Stack, Validations
from aws_cdk import aws_iam as iam
from aws_cdk import aws_logs as logs
from aws_cdk import aws_sns_subscriptions as subscriptions
from constructs import Construct

from environments.model import Environment
from fleet import naming
from fleet.alarms.operations import PAGER
from stacks.constructs.function_state import dead_letter_queue, table_by_id
from stacks.constructs.python_function import PythonFunction
from stacks.observability import ObservabilityStack

PAGER_HANDLER: Final = "lambdas.pager.handler.lambda_handler"


class OperationsStack(Stack):
    """Attributes: ``pager``, ``undelivered`` (pages that reached nobody), ``pages_sent`` (what makes a page unique)."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        environment: Environment,
        observability: ObservabilityStack,
    ) -> None:
        """Subscribe a pager to the topics of ``observability``."""
        super().__init__(scope, construct_id, stack_name=naming.stack_name(environment.name, construct_id))
        self.undelivered = dead_letter_queue(
            self, "Undelivered", queue_name=naming.dead_letter_queue(environment.name, PAGER)
        )
        # It remembers pages for a day: a new one only risks a page sent twice.
        self.pages_sent = table_by_id(self, "PagesSent", RemovalPolicy.DESTROY)
        self.pager = self._pager(environment, observability)
        for topic in (observability.page_topic, observability.ticket_topic):
            topic.add_subscription(
                subscriptions.LambdaSubscription(self.pager.function, dead_letter_queue=self.undelivered)
            )

    def _pager(self, environment: Environment, observability: ObservabilityStack) -> PythonFunction:
        node_logs = observability.node_log_group
        pager = PythonFunction(
            self,
            "Pager",
            handler=PAGER_HANDLER,
            # Two tries at each destination and five seconds of log query; SNS waits for none of it.
            timeout=Duration.seconds(60),
            dead_letters=self.undelivered,
            environment={
                "ENVIRONMENT": environment.name,
                "NODE_LOG_GROUP": node_logs.log_group_name,
                "CAPACITY_LOG_GROUP": naming.capacity_log_group(environment.name),
                "PAGERDUTY_SECRET": environment.paging.pagerduty_secret,
                "SLACK_SECRET": environment.paging.slack_secret,
                "RUNBOOKS_URL": environment.paging.runbooks_url,
                "IDEMPOTENCY_TABLE": self.pages_sent.table_name,
                "LOG_LEVEL": "INFO",
            },
        )
        self._let_query_events(pager.role, environment, node_logs)
        self._let_read_secrets(pager.role, environment)
        # What Powertools' idempotency does with its table, and nothing else.
        self.pages_sent.grant(
            pager.role, "dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:UpdateItem", "dynamodb:DeleteItem"
        )
        return pager

    def _let_query_events(self, role: iam.Role, environment: Environment, node_logs: logs.ILogGroup) -> None:
        # By its name: the capacity watch makes the group, after the pager, and a page goes out without it.
        capacity_logs = self.format_arn(
            service="logs",
            resource="log-group",
            resource_name=f"{naming.capacity_log_group(environment.name)}:*",
            arn_format=ArnFormat.COLON_RESOURCE_NAME,
        )
        role.add_to_policy(
            iam.PolicyStatement(actions=["logs:StartQuery"], resources=[node_logs.log_group_arn, capacity_logs])
        )
        role.add_to_policy(iam.PolicyStatement(actions=["logs:GetQueryResults", "logs:StopQuery"], resources=["*"]))
        Validations.of(role).acknowledge(
            Acknowledgment(
                id="AwsSolutions-IAM5[Resource::*]",
                reason="GetQueryResults and StopQuery take a query id and have no resource level; a query can be "
                "started on the node log group and on the capacity log group only",
            ),
            Acknowledgment(
                id=f"AwsSolutions-IAM5[Resource::{capacity_logs}]",
                reason="one log group by its name; CloudWatch Logs ends the ARN of every log group in :*",
            ),
        )

    def _let_read_secrets(self, role: iam.Role, environment: Environment) -> None:
        names = (environment.paging.pagerduty_secret, environment.paging.slack_secret)
        arns = [
            # Secrets Manager ends every ARN with a dash and six characters of its own.
            self.format_arn(
                service="secretsmanager",
                resource="secret",
                resource_name=f"{name}-??????",
                arn_format=ArnFormat.COLON_RESOURCE_NAME,
            )
            for name in names
        ]
        role.add_to_policy(iam.PolicyStatement(actions=["secretsmanager:GetSecretValue"], resources=arns))
