"""The Capacity Block engine: what it may do, what it is told, what wakes it, and that only an approver makes it buy."""

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml
from cdk_nag import AwsSolutionsChecks

from environments import loader
from environments.model import Environment
from stacks.capacity_blocks import ENGINE
from stacks.constructs.python_function import ROOT
from stacks.platform import Platform
from tests.support.templates import stage_of, templates
from tests.support.watching import flatten

APPROVER = "arn:aws:iam::111122223333:role/capacity/approver"
STACK = "capacity-blocks"
Body = Mapping[str, Any]


@cache
def with_approver(fleets: int) -> tuple[Platform, Body]:
    """Production with an approver, and its first so many fleets."""
    content = yaml.safe_load((loader.FOLDER / "prod.yaml").read_text(encoding="utf-8"))
    content |= {"approvers": [APPROVER], "fleets": content["fleets"][:fleets]}
    platform = stage_of(Environment.model_validate(content))
    (body,) = [artifact.template for artifact in platform.synth().stacks if artifact.hierarchical_id.endswith(STACK)]
    return platform, body


def properties(body: Body, kind: str) -> list[dict[str, Any]]:
    return [resource.get("Properties", {}) for resource in body["Resources"].values() if resource["Type"] == kind]


def allowed(body: Body) -> list[tuple[list[str], list[str], Any]]:
    (policy,) = properties(body, "AWS::IAM::Policy")
    statements = policy["PolicyDocument"]["Statement"]
    assert {statement["Effect"] for statement in statements} == {"Allow"}
    return [
        (sorted(_many(s["Action"])), [_subject(r) for r in _many(s["Resource"])], s.get("Condition"))
        for s in statements
    ]


COMMON = [
    (["logs:CreateLogStream", "logs:PutLogEvents"], ["EngineLogs"], None),
    (["sqs:SendMessage"], ["Unhandled"], None),
    (["dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:Scan"], ["Requests"], None),
    (["logs:StartQuery"], ["NodeEvents"], None),
    (["sns:Publish"], ["Tickets"], None),
    (["kms:Decrypt", "kms:GenerateDataKey"], ["TopicKey"], None),
]
OWN_FLEETS = [
    (["batch:UpdateComputeEnvironment"], ["trn2frontierBatchNodes"], None),
    (["batch:TerminateJob"], ["arn:aws:batch:us-east-2:111122223333:job/*"], None),
    (["ssm:SendCommand"], ["arn:aws:ssm:us-east-2::document/AWS-RunShellScript"], None),
    (
        ["ssm:SendCommand"],
        ["arn:aws:ec2:us-east-2:111122223333:instance/*"],
        {"StringEquals": {"ssm:resourceTag/environment": "prod", "ssm:resourceTag/project": "neuron-fleet"}},
    ),
]
READING = [
    "ec2:DescribeCapacityBlockExtensionHistory",
    "ec2:DescribeCapacityBlockExtensionOfferings",
    "ec2:DescribeCapacityBlockOfferings",
    "ec2:DescribeCapacityReservations",
    "logs:GetQueryResults",
    "logs:StopQuery",
]
BATCH = ["batch:DescribeComputeEnvironments", "batch:ListJobs"]
TAGGING = (
    ["ec2:CreateTags"],
    [
        "arn:aws:ec2:us-east-2:111122223333:capacity-block/*",
        "arn:aws:ec2:us-east-2:111122223333:capacity-reservation/*",
    ],
    {"StringEquals": {"ec2:CreateAction": "PurchaseCapacityBlock"}},
)


def test_without_approvers_the_engine_looks_after_blocks_and_may_not_buy() -> None:
    assert allowed(templates("prod")[STACK].body) == [
        *COMMON,
        *OWN_FLEETS,
        (sorted(BATCH + READING), ["*"], None),
    ]


def test_an_approver_brings_the_permission_to_buy_and_nothing_else() -> None:
    buying = (sorted([*BATCH, *READING, "ec2:PurchaseCapacityBlock"]), ["*"], None)
    assert allowed(with_approver(3)[1]) == [*COMMON, *OWN_FLEETS, TAGGING, buying]


def test_an_approver_without_a_block_fleet_touches_no_fleet() -> None:
    buying = (sorted([*READING, "ec2:PurchaseCapacityBlock"]), ["*"], None)
    assert allowed(with_approver(1)[1]) == [*COMMON, TAGGING, buying]


def test_the_role_brings_no_managed_policy() -> None:
    (role,) = properties(templates("prod")[STACK].body, "AWS::IAM::Role")
    assert "ManagedPolicyArns" not in role


def test_security_checks_find_nothing_where_there_is_an_approver() -> None:
    stage = with_approver(3)[0]
    violations = AwsSolutionsChecks(stage).validate_scope(stage).violations
    assert [(v.rule_name, [r.resource_logical_id for r in v.violating_resources]) for v in violations] == []


def test_the_engine_is_told_where_its_fleets_run_and_who_approves() -> None:
    (function,) = properties(with_approver(3)[1], "AWS::Lambda::Function")
    variables = function["Environment"]["Variables"]
    places = json.loads(flatten(variables["PLACES"]))

    assert function["FunctionName"] == "neuron-fleet-prod-capacity-blocks"
    assert json.loads(variables["APPROVERS"]) == [APPROVER]
    assert set(variables) == {
        "ENVIRONMENT",
        "TABLE",
        "TICKET_TOPIC",
        "NODE_LOG_GROUP",
        "STS_HOST",
        "APPROVERS",
        "PLACES",
        "LOG_LEVEL",
    }
    (place,) = [places[name] for name in ("trn2-frontier",)]
    assert {key: place[key] for key in ("vcpus", "instance_type", "availability_zone", "reservation_id")} == {
        "vcpus": 192,
        "instance_type": "trn2.48xlarge",
        "availability_zone": "us-east-2a",
        "reservation_id": "cr-0a1b2c3d4e5f60718",
    }


def test_both_spellings_of_the_events_and_a_clock_of_a_minute_wake_it() -> None:
    rules = properties(templates("prod")[STACK].body, "AWS::Events::Rule")
    (clock,) = [rule["ScheduleExpression"] for rule in rules if "ScheduleExpression" in rule]
    (pattern,) = [rule["EventPattern"] for rule in rules if "EventPattern" in rule]

    assert clock == "rate(1 minute)"
    assert pattern["source"] == ["aws.ec2"]
    assert {"Capacity Block Delivered", "Capacity Block Reservation Delivered"} <= set(pattern["detail-type"])
    assert {"Capacity Block Expiration Warning", "Capacity Block Reservation Expiration Warning"} <= set(
        pattern["detail-type"]
    )
    assert {state for rule in rules for state in [rule["State"]]} == {"ENABLED"}


def test_what_was_bought_is_remembered_when_the_stack_is_deleted() -> None:
    (table,) = [r for r in with_approver(3)[1]["Resources"].values() if r["Type"] == "AWS::DynamoDB::Table"]
    assert table["DeletionPolicy"] == "Retain"


@pytest.mark.parametrize("environment", ["dev", "staging"])
def test_an_environment_without_blocks_and_approvers_has_no_engine(environment: str) -> None:
    assert STACK not in templates(environment)


def test_the_handler_exists() -> None:
    module, _, function = ENGINE.rpartition(".")
    assert f"def {function}(" in Path(ROOT / f"{module.replace('.', '/')}.py").read_text(encoding="utf-8")


def _many(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _subject(resource: Any) -> str:
    """ARNs as they are; of a reference only the logical name that was given in the stack."""
    known = ("EngineLogs", "Unhandled", "Requests", "NodeEvents", "Tickets", "TopicKey", "trn2frontierBatchNodes")
    text = flatten(resource)
    return next((name for name in known if name in text), text)
