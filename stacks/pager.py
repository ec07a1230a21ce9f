"""What reacts to an environment's alarms: the pager, the pages that it tries again, and those it gave up."""

import json
from collections.abc import Sequence
from typing import Final

from aws_cdk import Acknowledgment, ArnFormat, Duration, RemovalPolicy, Stack, Validations
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_lambda_event_sources as event_sources
from aws_cdk import aws_logs as logs
from aws_cdk import aws_sns as sns
from aws_cdk import aws_sns_subscriptions as subscriptions
from aws_cdk import aws_sqs as sqs
from aws_cdk import aws_ssm as ssm
from constructs import Construct

from environments.model import Environment
from fleet import alarm_page, naming, paging
from fleet.alarms.functions import PAGER
from fleet.paging import SMALL_FLEET
from stacks.constructs.python_function import PythonFunction, dead_letter_queue, table_by_id
from stacks.observability import ObservabilityStack

PAGER_HANDLER: Final = "lambdas.pager.handler.lambda_handler"
TIMEOUT_SECONDS: Final = 120
# AWS asks for six times the function's timeout. Only an invocation that was cut off waits for so long.
VISIBILITY_SECONDS: Final = 6 * TIMEOUT_SECONDS
# With the pager's own waits of one to ten minutes between tries that is three and a half hours.
MOST_TRIES: Final = 24


class OperationsStack(Stack):
    """Attributes: ``pager``, ``waiting`` (pages that are tried again), ``undelivered`` (those that reached nobody),
    ``pages_sent`` (what makes a page unique), ``mail`` (a topic for each destination of people's e-mail).
    """

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
        self.waiting = sqs.Queue(
            self,
            "Waiting",
            queue_name=naming.waiting_queue(environment.name, PAGER),
            encryption=sqs.QueueEncryption.SQS_MANAGED,
            enforce_ssl=True,
            retention_period=Duration.days(14),
            visibility_timeout=Duration.seconds(VISIBILITY_SECONDS),
            dead_letter_queue=sqs.DeadLetterQueue(queue=self.undelivered, max_receive_count=MOST_TRIES),
        )
        # It remembers pages for some weeks: a new one only risks a page sent twice.
        self.pages_sent = table_by_id(self, "PagesSent", RemovalPolicy.DESTROY)
        self.mail = {name: self._mail(environment, name, to) for name, to in environment.paging.mail.items()}
        self.pager = self._pager(environment, observability)
        for topic in (observability.page_topic, observability.ticket_topic):
            topic.add_subscription(
                subscriptions.LambdaSubscription(self.pager.function, dead_letter_queue=self.waiting)
            )
        # One at a time: a destination that hangs makes nobody wait but its own page.
        self.pager.function.add_event_source(
            event_sources.SqsEventSource(self.waiting, batch_size=1, report_batch_item_failures=True, max_concurrency=5)
        )
        self._write_down_the_place(environment)

    def _pager(self, environment: Environment, observability: ObservabilityStack) -> PythonFunction:
        node_logs = observability.node_log_group
        pager = PythonFunction(
            self,
            "Pager",
            handler=PAGER_HANDLER,
            # Three tries at each destination and five seconds of looking; SNS waits for none of it.
            timeout=Duration.seconds(TIMEOUT_SECONDS),
            dead_letters=self.waiting,
            files={alarm_page.FILE: self._alarms(environment, observability)},
            environment={
                "ENVIRONMENT": environment.name,
                "NODE_LOG_GROUP": node_logs.log_group_name,
                "CAPACITY_LOG_GROUP": naming.capacity_log_group(environment.name),
                "PAGING": self._directory(environment),
                "LARGE_FLEETS": json.dumps([fleet.name for fleet in environment.fleets if fleet.nodes > SMALL_FLEET]),
                "ENDPOINT_DASHBOARDS": json.dumps(environment.fleets_with_dashboards),
                "RUNBOOKS_URL": environment.paging.runbooks_url,
                "IDEMPOTENCY_TABLE": self.pages_sent.table_name,
                "WAITING_QUEUE": self.waiting.queue_url,
                "LOG_LEVEL": "INFO",
            },
        )
        self._let_query_events(pager.role, environment, node_logs)
        self._let_read_secrets(pager.role, environment)
        # What Powertools' idempotency does with its table, and nothing else.
        self.pages_sent.grant(
            pager.role, "dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:UpdateItem", "dynamodb:DeleteItem"
        )
        if self.mail:
            topics = [topic.topic_arn for topic in self.mail.values()]
            pager.role.add_to_policy(iam.PolicyStatement(actions=["sns:Publish"], resources=topics))
        return pager

    def _alarms(self, environment: Environment, observability: ObservabilityStack) -> str:
        test = naming.alarm_name(environment.name, naming.PLATFORM, naming.PAGE_TEST)
        pages = {**observability.alarm_pages, test: alarm_page.page_test()}
        return json.dumps(alarm_page.content(pages), indent=1, sort_keys=True)

    def _directory(self, environment: Environment) -> str:
        topics = {name: topic.topic_arn for name, topic in self.mail.items()}
        directory = environment.paging.directory(topics)
        return self.to_json_string(paging.content(directory))

    def _mail(self, environment: Environment, name: str, addresses: Sequence[str]) -> sns.Topic:
        topic = sns.Topic(
            self,
            f"Mail-{name}",
            topic_name=naming.mail_topic(environment.name, name),
            # The key of SNS itself: nobody but the pager publishes, and it may use that key without a policy.
            master_key=kms.Alias.from_alias_name(self, f"MailKey-{name}", "alias/aws/sns"),
            enforce_ssl=True,
        )
        for address in addresses:
            topic.add_subscription(subscriptions.EmailSubscription(address))
        return topic

    def _write_down_the_place(self, environment: Environment) -> None:
        place = {"table": self.pages_sent.table_name}
        ssm.StringParameter(
            self,
            "Place",
            description="Where `fleet page test` reads what became of its page",
            parameter_name=naming.pager_place_parameter(environment.name),
            string_value=self.to_json_string(place),
        )

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
        role.add_to_policy(
            iam.PolicyStatement(
                actions=["cloudwatch:GetMetricData", "logs:GetQueryResults", "logs:StopQuery"], resources=["*"]
            )
        )
        Validations.of(role).acknowledge(
            Acknowledgment(
                id="AwsSolutions-IAM5[Resource::*]",
                reason="GetQueryResults and StopQuery take a query id, GetMetricData takes metrics, and none has a "
                "resource level; a query can be started on the node log group and on the capacity log group only",
            ),
            Acknowledgment(
                id=f"AwsSolutions-IAM5[Resource::{capacity_logs}]",
                reason="one log group by its name; CloudWatch Logs ends the ARN of every log group in :*",
            ),
        )

    def _let_read_secrets(self, role: iam.Role, environment: Environment) -> None:
        arns = [
            # Secrets Manager ends every ARN with a dash and six characters of its own.
            self.format_arn(
                service="secretsmanager",
                resource="secret",
                resource_name=f"{name}-??????",
                arn_format=ArnFormat.COLON_RESOURCE_NAME,
            )
            for name in dict.fromkeys(environment.paging.secrets.values())
        ]
        role.add_to_policy(iam.PolicyStatement(actions=["secretsmanager:GetSecretValue"], resources=arns))
