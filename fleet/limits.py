"""What services allow, each with its source, and the code of the diagnostic that says so.

Those of CloudWatch's alarms and dashboards are in ``fleet.alarm_linter.quotas``, those of a VPC's addresses in
``environments.subnets``, and SageMaker's names in ``environments.hosted_rules``: each beside what is measured by it.
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
    """The page's title, its address, and when it was read."""


def _read(title: str, path: str) -> str:
    return f"{title}, {_DOCS}/{path}, 2026-11"


_STEPS: Final = _read("Quotas for Standard Workflows", "step-functions/latest/dg/limits.html")
_STACKS: Final = _read("CloudFormation quotas", "AWSCloudFormation/latest/UserGuide/cloudformation-limits.html")
_LAMBDA: Final = _read("Lambda quotas", "lambda/latest/dg/gettingstarted-limits.html")
_SSM: Final = _read(
    "Managing parameter tiers", "systems-manager/latest/userguide/parameter-store-advanced-parameters.html"
)
_BUDGETS: Final = _read(
    "BudgetNotificationsForAccount",
    "aws-cost-management/latest/APIReference/API_budgets_BudgetNotificationsForAccount.html",
)

LIMITS: Final = {
    "rollout-outlives-its-execution": Limit("Step Functions", "events of an execution", 25_000, _STEPS),
    "stack-too-large": Limit("CloudFormation", "bytes of a template", 1_000_000, _STACKS),
    "capacity-block-engine-full": Limit("Lambda", "bytes of a function's variables", 4_096, _LAMBDA),
    "paging-too-large": Limit("Lambda", "bytes of a function's variables", 4_096, _LAMBDA),
    "parameter-too-large": Limit("Systems Manager", "bytes of a standard parameter", 4_096, _SSM),
    "budget-name-too-long": Limit("AWS Budgets", "characters of a name", 100, _BUDGETS),
}
"""By the code of the diagnostic."""


# From memory of those pages; cfn-lint's schemas have many of these lengths, and take the longest names.
_NAMES: Final = "API reference, the length constraints of its name [UNVERIFIED], 2026-11"
NAMES: Final = {
    "stack_name": Limit("CloudFormation", "stack", 128, f"CreateStack, {_NAMES}"),
    "alarm_name": Limit("CloudWatch", "alarm", 255, f"PutMetricAlarm, {_NAMES}"),
    "dashboard_name": Limit("CloudWatch", "dashboard", 255, f"PutDashboard, {_NAMES}"),
    "mute_rule": Limit("CloudWatch", "alarm mute rule", 255, f"PutAlarmMuteRule, {_NAMES}"),
    "scaling_alarm": Limit("CloudWatch", "alarm", 255, f"PutMetricAlarm, {_NAMES}"),
    "node_log_group": Limit("CloudWatch Logs", "log group", 512, f"CreateLogGroup, {_NAMES}"),
    "job_log_group": Limit("CloudWatch Logs", "log group", 512, f"CreateLogGroup, {_NAMES}"),
    "capacity_log_group": Limit("CloudWatch Logs", "log group", 512, f"CreateLogGroup, {_NAMES}"),
    "topic_name": Limit("SNS", "topic", 256, f"CreateTopic, {_NAMES}"),
    "past_the_pager_topic": Limit("SNS", "topic", 256, f"CreateTopic, {_NAMES}"),
    "mail_topic": Limit("SNS", "topic", 256, f"CreateTopic, {_NAMES}"),
    "waiting_queue": Limit("SQS", "queue", 80, f"CreateQueue, {_NAMES}"),
    "dead_letter_queue": Limit("SQS", "queue", 80, f"CreateQueue, {_NAMES}"),
    "parameter_path": Limit("Systems Manager", "parameter", 1011, f"PutParameter, {_NAMES}"),
    "capacity_blocks_function": Limit("Lambda", "function", 64, f"CreateFunction, {_NAMES}"),
    "prices_function": Limit("Lambda", "function", 64, f"CreateFunction, {_NAMES}"),
    "budgets_function": Limit("Lambda", "function", 64, f"CreateFunction, {_NAMES}"),
    "pool_function": Limit("Lambda", "function", 64, f"CreateFunction, {_NAMES}"),
    "rollout_function": Limit("Lambda", "function", 64, f"CreateFunction, {_NAMES}"),
    "prices_table": Limit("DynamoDB", "table", 255, f"CreateTable, {_NAMES}"),
    "pool_table": Limit("DynamoDB", "table", 255, f"CreateTable, {_NAMES}"),
    "cluster_name": Limit("ECS", "cluster", 255, f"CreateCluster, {_NAMES}"),
    "candidate_cluster_name": Limit("ECS", "cluster", 255, f"CreateCluster, {_NAMES}"),
    "endpoint_family": Limit("ECS", "family of task definitions", 255, f"RegisterTaskDefinition, {_NAMES}"),
    "pool_family": Limit("ECS", "family of task definitions", 255, f"RegisterTaskDefinition, {_NAMES}"),
    "pool_name": Limit("EC2 Auto Scaling", "group", 255, f"CreateAutoScalingGroup, {_NAMES}"),
    "reservation_group": Limit("Resource Groups", "group", 128, f"CreateGroup, {_NAMES}"),
    "reservation_stack": Limit("CloudFormation", "stack", 128, f"CreateStack, {_NAMES}"),
    "precompile_state_machine": Limit("Step Functions", "state machine", 80, f"CreateStateMachine, {_NAMES}"),
    "rollout_machine": Limit("Step Functions", "state machine", 80, f"CreateStateMachine, {_NAMES}"),
    "artifact_bucket": Limit("S3", "bucket", 63, f"Bucket naming rules, {_DOCS}/AmazonS3/latest/userguide, 2026-11"),
    "shadow_bucket": Limit("S3", "bucket", 63, f"Bucket naming rules, {_DOCS}/AmazonS3/latest/userguide, 2026-11"),
    "ledger_database": Limit("Athena", "workgroup", 128, f"CreateWorkGroup, {_NAMES}"),
}
"""By the function of ``fleet.naming``: the longest name that a file may lead to fits, which a test computes. Names of
parameters are all made by ``parameter_path``; those of budgets and hosted endpoints have diagnostics of their own."""
