"""The operations stack: what the pager may do, what it is told, and where a page goes that reaches nobody."""

import json
import re
import zipfile
from pathlib import Path
from typing import Any

import pytest

from fleet.alarm_page import FILE
from fleet.paging import directory_of
from stacks.constructs.python_function import ROOT
from stacks.pager import MOST_TRIES, PAGER_HANDLER
from tests.support.templates import platform
from tests.support.watching import ENVIRONMENTS, Watched, flatten, watched

STACK = "operations"


@pytest.fixture(params=ENVIRONMENTS)
def environment(request: pytest.FixtureRequest) -> Watched:
    return watched(request.param)


def pager(of: Watched) -> dict[str, Any]:
    (function,) = of.resources(STACK, "AWS::Lambda::Function")
    return function


def test_the_pager_may_do_this_and_nothing_else(environment: Watched) -> None:
    name, account = environment.environment.name, environment.environment.account
    secrets = f"arn:aws:secretsmanager:us-east-2:{account}:secret:neuron-fleet/{name}"

    (policy,) = environment.resources(STACK, "AWS::IAM::Policy")
    allowed = [
        (statement["Effect"], _sorted(statement["Action"]), _subjects(statement["Resource"]))
        for statement in policy["PolicyDocument"]["Statement"]
    ]

    further = [f"{secrets}/chat-routing-key-??????", f"{secrets}/incidents-webhook-??????"] if name == "prod" else []
    mail = [("Allow", ["sns:Publish"], ["Mailleads"])] if name == "prod" else []
    assert allowed == [
        ("Allow", ["logs:CreateLogStream", "logs:PutLogEvents"], ["PagerLogs"]),
        (
            "Allow",
            [
                "sqs:ChangeMessageVisibility",
                "sqs:DeleteMessage",
                "sqs:GetQueueAttributes",
                "sqs:GetQueueUrl",
                "sqs:ReceiveMessage",
                "sqs:SendMessage",
            ],
            ["Waiting"],
        ),
        (
            "Allow",
            ["logs:StartQuery"],
            [f"arn:aws:logs:us-east-2:{account}:log-group:/neuron-fleet/{name}/capacity:*", "NodeEvents"],
        ),
        ("Allow", ["cloudwatch:GetMetricData", "logs:GetQueryResults", "logs:StopQuery"], ["*"]),
        (
            "Allow",
            ["secretsmanager:GetSecretValue"],
            [*further, f"{secrets}/pagerduty-routing-key-??????", f"{secrets}/slack-webhook-??????"],
        ),
        (
            "Allow",
            ["dynamodb:DeleteItem", "dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:UpdateItem"],
            ["PagesSent"],
        ),
        *mail,
    ]


def test_the_pagers_role_brings_no_managed_policy(environment: Watched) -> None:
    (role,) = environment.resources(STACK, "AWS::IAM::Role")

    assert "ManagedPolicyArns" not in role
    assert [statement["Principal"] for statement in role["AssumeRolePolicyDocument"]["Statement"]] == [
        {"Service": "lambda.amazonaws.com"}
    ]


def test_the_pager_is_told_names_and_no_secret(environment: Watched) -> None:
    variables = pager(environment)["Environment"]["Variables"]

    assert set(variables) == {
        "ENVIRONMENT",
        "NODE_LOG_GROUP",
        "CAPACITY_LOG_GROUP",
        "PAGING",
        "LARGE_FLEETS",
        "ENDPOINT_DASHBOARDS",
        "WAITING_QUEUE",
        "RUNBOOKS_URL",
        "IDEMPOTENCY_TABLE",
        "LOG_LEVEL",
    }
    assert json.loads(variables["ENDPOINT_DASHBOARDS"]) == list(environment.environment.fleets_with_dashboards)
    told = directory_of(json.loads(flatten(variables["PAGING"])))
    paging = environment.environment.paging
    assert told.destinations["slack"].address == paging.slack_secret
    assert set(told.destinations) == set(paging.names)
    assert len(told.routes) == len(paging.routes)


def test_the_service_name_that_would_add_a_dimension_is_not_set(environment: Watched) -> None:
    assert "POWERTOOLS_SERVICE_NAME" not in pager(environment)["Environment"]["Variables"]


def test_the_pager_runs_on_arm_with_logs_in_json(environment: Watched) -> None:
    function = pager(environment)

    assert (function["Runtime"], function["Architectures"]) == ("python3.14", ["arm64"])
    assert function["LoggingConfig"]["LogFormat"] == "JSON"
    assert function["Handler"] == PAGER_HANDLER


def test_the_powertools_layer_is_pinned(environment: Watched) -> None:
    (layer,) = pager(environment)["Layers"]

    assert re.fullmatch(
        r"arn:aws:lambda:us-east-2:017000801446:layer:AWSLambdaPowertoolsPythonV3-python314-arm64:\d+", flatten(layer)
    )


def test_a_page_is_sent_once_because_the_table_remembers(environment: Watched) -> None:
    (table,) = environment.resources(STACK, "AWS::DynamoDB::Table")

    assert table["KeySchema"] == [{"AttributeName": "id", "KeyType": "HASH"}]
    assert table["TimeToLiveSpecification"] == {"AttributeName": "expiration", "Enabled": True}
    assert table["SSESpecification"] == {"SSEEnabled": True}
    assert table["PointInTimeRecoverySpecification"] == {"PointInTimeRecoveryEnabled": True}


def test_both_topics_reach_the_pager_and_keep_what_they_cannot_deliver(environment: Watched) -> None:
    every = environment.resources(STACK, "AWS::SNS::Subscription")
    subscriptions = [each for each in every if each["Protocol"] != "email"]

    assert len({flatten(subscription["TopicArn"]) for subscription in subscriptions}) == 2
    for subscription in subscriptions:
        assert subscription["Protocol"] == "lambda"
        assert "Waiting" in flatten(subscription["RedrivePolicy"]["deadLetterTargetArn"])


def test_a_page_that_failed_waits_for_its_next_try_and_is_kept_when_it_is_given_up(environment: Watched) -> None:
    queues = {queue["QueueName"]: queue for queue in environment.resources(STACK, "AWS::SQS::Queue")}
    name = environment.environment.name
    waiting = queues[f"neuron-fleet-{name}-pager-waiting"]
    undelivered = queues[f"neuron-fleet-{name}-pager-dead-letters"]
    (mapping,) = environment.resources(STACK, "AWS::Lambda::EventSourceMapping")

    assert "Waiting" in flatten(pager(environment)["DeadLetterConfig"]["TargetArn"])
    assert "Waiting" in flatten(mapping["EventSourceArn"])
    assert (mapping["BatchSize"], mapping["FunctionResponseTypes"]) == (1, ["ReportBatchItemFailures"])
    assert waiting["RedrivePolicy"]["maxReceiveCount"] == MOST_TRIES
    assert "Undelivered" in flatten(waiting["RedrivePolicy"]["deadLetterTargetArn"])
    # What AWS asks for: a message must not come back while an invocation still works on it.
    assert waiting["VisibilityTimeout"] == 6 * pager(environment)["Timeout"]
    for queue in (waiting, undelivered):
        assert (queue["SqsManagedSseEnabled"], queue["MessageRetentionPeriod"]) == (True, 14 * 86400)


def test_people_behind_mail_are_asked_to_confirm_and_the_topic_is_encrypted() -> None:
    prod = watched("prod")
    (topic,) = prod.resources(STACK, "AWS::SNS::Topic")
    mails = [each for each in prod.resources(STACK, "AWS::SNS::Subscription") if each["Protocol"] == "email"]

    assert topic["TopicName"] == "neuron-fleet-prod-mail-leads"
    assert "alias/aws/sns" in flatten(topic["KmsMasterKeyId"])
    assert [each["Endpoint"] for each in mails] == ["ml-infra-leads@example.com"]


def test_the_pager_has_the_definition_of_every_alarm_that_tells_somebody(environment: Watched) -> None:
    deployed = {
        alarm["AlarmName"]: alarm["AlarmDescription"]
        for kind in ("AWS::CloudWatch::Alarm", "AWS::CloudWatch::CompositeAlarm")
        for alarm in environment.resources("observability", kind)
        if "AlarmActions" in alarm
    }
    folder = Path(platform(environment.environment.name).asset_outdir)
    with zipfile.ZipFile(folder / f"asset.{pager(environment)['Code']['S3Key']}") as asset:
        written = json.loads(asset.read(FILE))

    (test,) = written.keys() - deployed.keys()
    assert test.endswith("/platform/PageTest")
    assert {name: page["description"] for name, page in written.items() if name != test} == deployed


def test_the_pagers_handler_exists() -> None:
    module, _, function = PAGER_HANDLER.rpartition(".")
    source = (ROOT / f"{module.replace('.', '/')}.py").read_text(encoding="utf-8")

    assert f"def {function}(" in source


def _sorted(actions: str | list[str]) -> list[str]:
    return sorted([actions] if isinstance(actions, str) else actions)


def _subjects(resources: Any) -> list[str]:
    """ARNs as they are; of a reference only the logical name that was given in the stack."""
    known = ("PagerLogs", "Undelivered", "Waiting", "Mailleads", "NodeEvents", "PagesSent")
    texts = [flatten(resource) for resource in (resources if isinstance(resources, list) else [resources])]
    return [next((name for name in known if name in text), text) for text in texts]
