"""The budgets stack: AWS's own budgets, what the function may do in full, and who may write to the ticket topic."""

import json
from collections.abc import Mapping
from typing import Any

import pytest
import yaml

from environments import loader
from environments.model import Environment
from tests.support.templates import stage_of, templates
from tests.support.watching import flatten

STACK = "budgets"
ROLE = "arn:aws:iam::111122223333:role/on-call"


def properties(body: Any, kind: str) -> list[dict[str, Any]]:
    return [resource.get("Properties", {}) for resource in body["Resources"].values() if resource["Type"] == kind]


def rights(body: Any) -> list[tuple[Any, str, Any]]:
    (policy,) = properties(body, "AWS::IAM::Policy")
    statements = policy["PolicyDocument"]["Statement"]
    assert {each["Effect"] for each in statements} == {"Allow"}
    return [(each["Action"], flatten(each["Resource"]), each.get("Condition")) for each in statements]


def has(found: list[tuple[Any, str, Any]], wanted: list[tuple[Any, str]]) -> None:
    assert [action for action, _, _ in found] == [action for action, _ in wanted]
    for (_, resource, condition), (_, part) in zip(found, wanted, strict=True):
        assert part in resource
        assert condition is None


TELLING = [
    (["logs:CreateLogStream", "logs:PutLogEvents"], "LookLogs"),
    ("sqs:SendMessage", "Unhandled"),
    ("s3:ListBucket", "ledgerbucket"),
    ("s3:GetObject", "/ledger/environment=ENV/*"),
    ("sns:Publish", "Tickets"),
    (["kms:Decrypt", "kms:GenerateDataKey"], "TopicKey"),
]
STOPPING = [
    (["dynamodb:GetItem", "dynamodb:PutItem"], "Stop"),
    ("batch:UpdateJobQueue", "Queue"),
    ("batch:UpdateComputeEnvironment", "Nodes"),
    ("batch:DescribeJobQueues", "*"),
]


@pytest.mark.parametrize(("name", "more"), [("prod", []), ("local", []), ("staging", []), ("dev", STOPPING)])
def test_the_function_may_do_this_and_nothing_else(name: str, more: list[tuple[Any, str]]) -> None:
    body = templates(name)[STACK].body
    wanted = [(action, part.replace("ENV", name)) for action, part in [*TELLING, *more]]

    has(rights(body), wanted)
    (role,) = properties(body, "AWS::IAM::Role")
    assert "ManagedPolicyArns" not in role


def test_what_is_paid_in_advance_and_endpoints_are_out_of_reach() -> None:
    content = yaml.safe_load((loader.FOLDER / "prod.yaml").read_text(encoding="utf-8"))
    spot = {**content["fleets"][0], "name": "spare", "market": {"kind": "on-demand"}}
    budgets = {"monthly_usd": 100, "stop": "ask", "approvers": [ROLE]}
    environment = Environment.model_validate({**content, "fleets": [*content["fleets"], spot], "budgets": budgets})
    stage = stage_of(environment)
    body = stage.synth().get_stack_by_name("neuron-fleet-prod-budgets").template

    reached = json.dumps(properties(body, "AWS::IAM::Policy")) + json.dumps(properties(body, "AWS::Lambda::Function"))

    assert "spareBatchQueue" in reached
    assert not [name for name in ("pretrain", "frontier", "chat") if name in reached]
    assert "batch:TerminateJob" not in reached
    (function,) = properties(body, "AWS::Lambda::Function")
    assert json.loads(function["Environment"]["Variables"]["APPROVERS"]) == [ROLE]
    (table,) = [each for each in body["Resources"].values() if each["Type"] == "AWS::DynamoDB::Table"]
    assert table["DeletionPolicy"] == "Retain"


def test_a_pool_can_be_closed_and_its_jobs_are_out_of_reach() -> None:
    content = yaml.safe_load((loader.FOLDER / "staging.yaml").read_text(encoding="utf-8"))
    budgets = {"monthly_usd": 100, "stop": "ask", "approvers": [ROLE]}
    fleets = [each for each in content["fleets"] if each["name"] != "trn1-pretrain"]
    environment = Environment.model_validate({**content, "fleets": fleets, "budgets": budgets})
    (pool,) = [fleet.name for fleet in environment.stoppable_fleets]
    assert pool == "trn1-spot"
    stage = stage_of(environment)
    body = stage.synth().get_stack_by_name("neuron-fleet-staging-budgets").template

    *_, (memory, _, _), (action, resource, condition) = rights(body)

    assert memory == ["dynamodb:GetItem", "dynamodb:PutItem"]
    assert action == ["dynamodb:GetItem", "dynamodb:UpdateItem"]
    assert resource.endswith("table/neuron-fleet-staging-pool-jobs")
    assert condition == {
        "ForAllValues:StringEquals": {
            "dynamodb:LeadingKeys": [pool],
            "dynamodb:Attributes": ["fleet", "item", "closed_by"],
        },
        "StringEqualsIfExists": {
            "dynamodb:Select": "SPECIFIC_ATTRIBUTES",
            "dynamodb:ReturnValues": ["NONE", "UPDATED_OLD", "UPDATED_NEW"],
        },
    }
    (function,) = properties(body, "AWS::Lambda::Function")
    told = json.loads(flatten(function["Environment"]["Variables"]["PLACES"]))
    assert told == {pool: {"table": "neuron-fleet-staging-pool-jobs", "fleet": pool}}


def test_every_budget_counts_by_tags_before_credits_and_tells_the_tickets() -> None:
    found = {each["Budget"]["BudgetName"]: each for each in properties(templates("prod")[STACK].body, BUDGET)}

    assert list(found) == [
        "neuron-fleet-prod", "neuron-fleet-prod-foundation-models", "neuron-fleet-prod-frontier",
        "neuron-fleet-prod-chat",
    ]  # fmt: skip
    chat = found["neuron-fleet-prod-chat"]
    assert chat["Budget"]["BudgetLimit"] == {"Amount": 60000, "Unit": "USD"}
    assert chat["Budget"]["FilterExpression"] == {
        "And": [
            tag("environment", "prod"),
            tag("owner", "chat"),
            {"Not": {"Dimensions": {"Key": "RECORD_TYPE", "Values": ["Credit", "Refund"]}}},
        ]
    }
    told = [each["Notification"] for each in chat["NotificationsWithSubscribers"]]
    assert [(each["NotificationType"], each["Threshold"]) for each in told] == [("ACTUAL", 100), ("FORECASTED", 105)]
    assert "CostFilters" not in chat["Budget"]
    assert properties(templates("staging")[STACK].body, BUDGET) == []


BUDGET = "AWS::Budgets::Budget"


def tag(key: str, value: str) -> Mapping[str, Any]:
    return {"Tags": {"Key": key, "MatchOptions": ["EQUALS"], "Values": [value]}}


def statements_for(name: str, kind: str, document: str) -> list[dict[str, Any]]:
    body = templates(name)["observability"].body
    every = [each for policy in properties(body, kind) for each in policy[document]["Statement"]]
    return [each for each in every if each.get("Principal") == {"Service": "budgets.amazonaws.com"}]


def test_aws_budgets_may_write_tickets_of_this_account_and_no_pages() -> None:
    own = {
        "StringEquals": {"aws:SourceAccount": "111122223333"},
        "ArnLike": {"aws:SourceArn": "arn:aws:budgets::111122223333:*"},
    }
    (publish,) = statements_for("prod", "AWS::SNS::TopicPolicy", "PolicyDocument")
    (key,) = statements_for("prod", "AWS::KMS::Key", "KeyPolicy")

    assert publish["Action"] == "sns:Publish"
    assert "Tickets" in flatten(publish["Resource"])
    for statement in (publish, key):
        assert _plain(statement["Condition"]) == own
    assert key["Action"] == ["kms:Decrypt", "kms:GenerateDataKey*"]
    assert statements_for("staging", "AWS::SNS::TopicPolicy", "PolicyDocument") == []


def _plain(condition: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, str]]:
    return {name: {key: flatten(value) for key, value in of.items()} for name, of in condition.items()}


def test_it_looks_after_the_ledger_was_rolled_up() -> None:
    (rule,) = properties(templates("prod")[STACK].body, "AWS::Events::Rule")
    assert rule["ScheduleExpression"] == "cron(35 * * * ? *)"


@pytest.mark.parametrize("name", ["prod", "dev"])
def test_nodes_and_their_volumes_carry_the_tags_that_costs_go_by(name: str) -> None:
    body = templates(name)["capacity"].body
    for template in properties(body, "AWS::EC2::LaunchTemplate"):
        for kind in template["LaunchTemplateData"]["TagSpecifications"]:
            assert {"environment", "owner"} <= {each["Key"] for each in kind["Tags"]}
        kinds = {kind["ResourceType"] for kind in template["LaunchTemplateData"]["TagSpecifications"]}
        assert {"instance", "volume"} <= kinds
