"""What services allow, each with its source, and the code of the diagnostic that says so.

Those of CloudWatch's alarms and dashboards are in ``environments.alarm_linter.quotas``, those of a VPC's addresses in
``environments.network``, and SageMaker's names in ``environments.hosted_rules``: each beside what is measured by it.
"""

from dataclasses import dataclass
from typing import Final

_DOCS: Final = "https://docs.aws.amazon.com"


@dataclass(frozen=True, slots=True)
class Limit:
    """One limit: ``most`` of ``what``."""

    service: str
    what: str
    most: int
    source: str
    """What says so, and when it was read: a page, or data of botocore or cfn-lint, which a test compares."""


def _page(title: str, path: str) -> str:
    return f"{title}, {_DOCS}/{path}, 2026-11"


def _shape(service: str, shape: str) -> str:
    """AWS's own model of a service, as botocore ships it: the longest value of a shape."""
    return f"botocore 1.43.106, {service}, shape {shape}, 2026-11"


def _text(service: str, member: str) -> str:
    """The same where the model has no number, and the description of an operation's argument has."""
    return f"botocore 1.43.106, {service}, text of {member}, 2026-11"


def _schema(kind: str, name: str) -> str:
    """CloudFormation's schema of a resource, as cfn-lint ships it: some are stricter than the service."""
    return f"cfn-lint 1.58.0, {kind}, property {name}, 2026-11"


_STEPS: Final = _page("Quotas for Standard Workflows", "step-functions/latest/dg/limits.html")
# The page says 1 MB; cfn-lint has the bytes, and CloudFormation names them as it refuses.
_STACKS: Final = "cfn-lint 1.58.0, LIMITS, template body, 2026-11"
# The page says 4 KB of all variables together.
_LAMBDA: Final = _page("Lambda quotas", "lambda/latest/dg/gettingstarted-limits.html")
_SSM: Final = _text("ssm", "PutParameter.Value")
_BUDGETS: Final = _shape("budgets", "BudgetName")

LIMITS: Final = {
    "rollout-outlives-its-execution": Limit("Step Functions", "events of an execution", 25_000, _STEPS),
    "stack-too-large": Limit("CloudFormation", "bytes of a template", 1_000_000, _STACKS),
    "capacity-block-engine-full": Limit("Lambda", "bytes of a function's variables", 4_096, _LAMBDA),
    "paging-too-large": Limit("Lambda", "bytes of a function's variables", 4_096, _LAMBDA),
    "parameter-too-large": Limit("Systems Manager", "bytes of a standard parameter", 4_096, _SSM),
    "budget-name-too-long": Limit("AWS Budgets", "characters of a name", 100, _BUDGETS),
}
"""By the code of the diagnostic."""


_STACK: Final = Limit("CloudFormation", "stack", 128, _text("cloudformation", "CreateStack.StackName"))
_ALARM: Final = Limit("CloudWatch", "alarm", 255, _shape("cloudwatch", "AlarmName"))
_LOG_GROUP: Final = Limit("CloudWatch Logs", "log group", 512, _shape("logs", "LogGroupName"))
_TOPIC: Final = Limit("SNS", "topic", 256, _schema("AWS::SNS::Topic", "TopicName"))
_QUEUE: Final = Limit("SQS", "queue", 80, _text("sqs", "CreateQueue.QueueName"))
_FUNCTION: Final = Limit("Lambda", "function", 64, _text("lambda", "CreateFunction.FunctionName"))
_TABLE: Final = Limit("DynamoDB", "table", 255, _shape("dynamodb", "TableName"))
_CLUSTER: Final = Limit("ECS", "cluster", 255, _text("ecs", "CreateCluster.clusterName"))
_FAMILY: Final = Limit("ECS", "family of task definitions", 255, _text("ecs", "RegisterTaskDefinition.family"))
_MACHINE: Final = Limit("Step Functions", "state machine", 80, _shape("stepfunctions", "Name"))
_BUCKET: Final = Limit("S3", "bucket", 63, _schema("AWS::S3::Bucket", "BucketName"))
NAMES: Final = {
    "stack_name": _STACK,
    "alarm_name": _ALARM,
    "dashboard_name": Limit("CloudWatch", "dashboard", 255, _text("cloudwatch", "PutDashboard.DashboardName")),
    "mute_rule": Limit("CloudWatch", "alarm mute rule", 255, _schema("AWS::CloudWatch::AlarmMuteRule", "Name")),
    "scaling_alarm": _ALARM,
    "node_log_group": _LOG_GROUP,
    "job_log_group": _LOG_GROUP,
    "capacity_log_group": _LOG_GROUP,
    "topic_name": _TOPIC,
    "bypass_pager_topic": _TOPIC,
    "mail_topic": _TOPIC,
    "waiting_queue": _QUEUE,
    "dead_letter_queue": _QUEUE,
    "parameter_path": Limit("Systems Manager", "parameter's ARN", 1011, _text("ssm", "PutParameter.Name")),
    "capacity_blocks_function": _FUNCTION,
    "prices_function": _FUNCTION,
    "budgets_function": _FUNCTION,
    "pool_function": _FUNCTION,
    "rollout_function": _FUNCTION,
    "prices_table": _TABLE,
    "pool_table": _TABLE,
    "cluster_name": _CLUSTER,
    "candidate_cluster_name": _CLUSTER,
    "endpoint_family": _FAMILY,
    "pool_family": _FAMILY,
    "pool_name": Limit(
        "EC2 Auto Scaling", "group", 255, _schema("AWS::AutoScaling::AutoScalingGroup", "AutoScalingGroupName")
    ),
    # The service itself takes 300.
    "reservation_group": Limit("Resource Groups", "group", 128, _schema("AWS::ResourceGroups::Group", "Name")),
    "reservation_stack": _STACK,
    "precompile_state_machine": _MACHINE,
    "rollout_machine": _MACHINE,
    "artifact_bucket": _BUCKET,
    "shadow_bucket": _BUCKET,
    # Also the name of a Glue database, which may be longer.
    "ledger_database": Limit("Athena", "workgroup", 128, _shape("athena", "WorkGroupName")),
}
"""By the function of ``fleet.naming``: the longest name that a file may lead to fits, which a test computes. Names of
parameters are all made by ``parameter_path``; those of budgets and hosted endpoints have diagnostics of their own."""
