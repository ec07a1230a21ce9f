"""The capacity watch: what it may do in full, what it is told of each fleet, what wakes it, and that twenty fit."""

import json
from collections.abc import Mapping
from functools import cache
from typing import Any

import pytest
import yaml
from cdk_nag import AwsSolutionsChecks
from pydantic import TypeAdapter

from environments import loader
from environments.model import Environment
from fleet.fleet_spec import MarketKind
from fleet.reserved.observed import FleetDeployment
from stacks.capacity_watch import WATCH
from stacks.constructs.python_function import ROOT
from stacks.platform import Platform
from tests.support.templates import stage_of, templates
from tests.support.watching import flatten

STACK = "capacity-watch"
GROUP_ARN = "arn:aws:resource-groups:us-east-2:111122223333:group/ultra"
Body = Mapping[str, Any]
PLACE = TypeAdapter(FleetDeployment)


@cache
def changed(fleets: str) -> tuple[Platform, Body]:
    """Production with other fleets, given as JSON of changes to its own three by index, or of more of them."""
    content = yaml.safe_load((loader.FOLDER / "prod.yaml").read_text(encoding="utf-8"))
    content["fleets"] = [{**content["fleets"][index], **changes} for index, changes in json.loads(fleets)]
    platform = stage_of(Environment.model_validate(content))
    (body,) = [artifact.template for artifact in platform.synth().stacks if artifact.hierarchical_id.endswith(STACK)]
    return platform, body


def properties(body: Body, kind: str) -> list[dict[str, Any]]:
    return [resource.get("Properties", {}) for resource in body["Resources"].values() if resource["Type"] == kind]


def variables(body: Body) -> dict[str, str]:
    (function,) = properties(body, "AWS::Lambda::Function")
    return {name: flatten(value) for name, value in function["Environment"]["Variables"].items()}


def places(body: Body) -> dict[str, FleetDeployment]:
    every = [PLACE.validate_json(flatten(each["Value"])) for each in properties(body, "AWS::SSM::Parameter")]
    return {each.fleet: each for each in every}


def allowed(body: Body) -> list[tuple[list[str], list[str], Any]]:
    (policy,) = properties(body, "AWS::IAM::Policy")
    statements = policy["PolicyDocument"]["Statement"]
    assert {statement["Effect"] for statement in statements} == {"Allow"}
    return [
        (sorted(_many(s["Action"])), sorted(_subject(r) for r in _many(s["Resource"])), s.get("Condition"))
        for s in statements
    ]


def own(*fleets: str) -> list[tuple[list[str], list[str], Any]]:
    return [
        (["logs:CreateLogStream", "logs:PutLogEvents"], ["WatchLogs"], None),
        (["sqs:SendMessage"], ["Unhandled"], None),
        (["ssm:GetParameters"], [f"parameter of {fleet}" for fleet in fleets], None),
    ]


BATCH = ["batch:DescribeComputeEnvironments", "batch:ListJobs"]
SCALING = ["autoscaling:DescribeAutoScalingGroups", "autoscaling:DescribeScalingActivities"]
EC2 = [
    "cloudformation:ListStacks",
    "cloudwatch:GetMetricData",
    "ec2:DescribeCapacityReservations",
    "ec2:DescribeInstances",
]
PRICES = (["dynamodb:BatchGetItem"], ["the price table"], None)
MEMBERS = ["cloudformation:DescribeStacks", "cloudformation:ListStackResources", "tag:GetResources"]


def test_the_watch_may_read_lists_and_touch_only_what_was_reserved_for_its_fleets() -> None:
    assert allowed(templates("prod")[STACK].body) == [
        *own("inf2chat", "trn1pretrain", "trn2frontier"),
        (["batch:UpdateComputeEnvironment"], ["trn1pretrainBatchNodes"], None),
        (
            ["resource-groups:GroupResources", "resource-groups:ListGroupResources"],
            ["arn:aws:resource-groups:us-east-2:111122223333:group/neuron-fleet-prod-trn1-pretrain"],
            None,
        ),
        (
            ["cloudformation:DescribeStackEvents"],
            [
                "arn:aws:cloudformation:us-east-2:111122223333:stack/neuron-fleet-prod-reservation-trn1-pretrain/*",
            ],
            None,
        ),
        (sorted([*BATCH, *SCALING, *EC2, *MEMBERS]), ["*"], None),
        PRICES,
    ]


def test_without_a_reservation_nothing_can_be_changed() -> None:
    assert allowed(templates("dev")[STACK].body) == [
        *own("inf2small", "trn1small"),
        (sorted([*BATCH, *SCALING, *EC2]), ["*"], None),
        PRICES,
    ]


def test_a_named_group_is_listed_and_nothing_is_put_into_it() -> None:
    market = {"kind": "reservation", "resource_group": GROUP_ARN}
    body = changed(json.dumps([[0, {"market": market}]]))[1]

    assert allowed(body) == [
        *own("trn1pretrain"),
        (["batch:UpdateComputeEnvironment"], ["trn1pretrainBatchNodes"], None),
        (["resource-groups:ListGroupResources"], [GROUP_ARN], None),
        (sorted([*BATCH, *EC2, *MEMBERS]), ["*"], None),
        PRICES,
    ]


def test_the_role_brings_no_managed_policy() -> None:
    (role,) = properties(templates("prod")[STACK].body, "AWS::IAM::Role")
    assert "ManagedPolicyArns" not in role


def test_it_is_told_of_every_fleet_what_was_promised_and_where_its_nodes_come_from() -> None:
    told = places(templates("prod")[STACK].body)
    pretrain, frontier, chat = (told[name] for name in ("trn1-pretrain", "trn2-frontier", "inf2-chat"))

    assert (pretrain.market, pretrain.nodes, pretrain.vcpus, pretrain.zone) == (
        MarketKind.RESERVATION,
        16,
        128,
        "us-east-2c",
    )
    assert pretrain.own_group == "neuron-fleet-prod-trn1-pretrain"
    assert pretrain.reservation_stack == templates("prod")["reservation-trn1-pretrain"].name
    assert (frontier.reservation_id, frontier.own_group, frontier.reservation_stack) == (
        "cr-0a1b2c3d4e5f60718",
        None,
        None,
    )
    assert frontier.is_block
    assert str(frontier.ends_at) == "2026-12-18 11:30:00+00:00"
    assert "trn2frontierBatchQueue" in str(frontier.queue)
    assert (chat.market, chat.zone, chat.compute_environment) == (MarketKind.ON_DEMAND, None, None)
    assert "inf2chatnodesNodes" in str(chat.auto_scaling_group)
    assert json.loads(variables(templates("prod")[STACK].body)["FLEETS"]) == [
        "trn1-pretrain",
        "trn2-frontier",
        "inf2-chat",
    ]


def test_twenty_fleets_fit_into_the_variables_and_each_into_its_parameter() -> None:
    # Ten and ten with the longest names that a fleet can have, 31 letters.
    reserved = [[0, {"name": f"reserved-{index:02d}-{'x' * 19}", "owner": "o" * 60}] for index in range(10)]
    serving = [[2, {"name": f"serving-{index:02d}-{'y' * 20}", "owner": "o" * 60}] for index in range(10)]
    body = changed(json.dumps([*reserved, *serving]))[1]

    # Lambda: all variables together, names and values, 4 KB.
    assert sum(len(name) + len(value) for name, value in variables(body).items()) < 1200
    # Systems Manager: a standard parameter holds 4 KB. References are longer here than the ARNs they become.
    sizes = [len(flatten(each["Value"])) for each in properties(body, "AWS::SSM::Parameter")]
    assert len(sizes) == 20
    assert max(sizes) < 1500


def test_a_clock_of_a_minute_and_the_environments_own_queues_and_groups_wake_it() -> None:
    rules = properties(templates("prod")[STACK].body, "AWS::Events::Rule")
    (clock,) = [rule["ScheduleExpression"] for rule in rules if "ScheduleExpression" in rule]
    patterns = {p["detail-type"][0]: p for rule in rules if (p := rule.get("EventPattern"))}

    assert clock == "rate(1 minute)"
    assert set(patterns) == {"Batch Job Queue Blocked", "EC2 Instance Launch Unsuccessful"}
    blocked, failed = patterns["Batch Job Queue Blocked"], patterns["EC2 Instance Launch Unsuccessful"]
    assert (blocked["source"], failed["source"]) == (["aws.batch"], ["aws.autoscaling"])
    assert len(blocked["detail"]["jobQueue"]) == 2
    assert "inf2chatnodesNodes" in flatten(failed["detail"]["AutoScalingGroupName"][0])
    assert {rule["State"] for rule in rules} == {"ENABLED"}


def test_interruptions_are_listened_to_only_where_a_fleet_is_bought_as_spot() -> None:
    body = changed(json.dumps([[2, {"market": {"kind": "spot"}}]]))[1]
    patterns = [p for rule in properties(body, "AWS::Events::Rule") if (p := rule.get("EventPattern"))]

    assert {pattern["detail-type"][0] for pattern in patterns} == {
        "EC2 Instance Launch Unsuccessful",
        "EC2 Spot Instance Interruption Warning",
    }


def test_its_events_are_where_the_pager_looks_for_them() -> None:
    (group,) = properties(templates("prod")[STACK].body, "AWS::Logs::LogGroup")
    assert group["LogGroupName"] == "/neuron-fleet/prod/capacity"


def test_no_fleet_is_held_in_the_file_by_a_reference_of_the_watch() -> None:
    assert "Fn::ImportValue" not in json.dumps(templates("prod")[STACK].body)


def test_a_reservation_comes_after_the_watch_and_never_before_it() -> None:
    # Only then is there somebody to put it into its group.
    artifacts = {a.hierarchical_id.rpartition("/")[2]: a for a in changed(json.dumps([[0, {}]]))[0].synth().stacks}
    waits_for = {name: {d.id for d in artifact.dependencies} for name, artifact in artifacts.items()}

    assert artifacts[STACK].id in waits_for["reservation-trn1-pretrain"]
    assert artifacts["reservation-trn1-pretrain"].id not in waits_for[STACK]


@pytest.mark.parametrize("name", [*loader.available()])
def test_every_environment_is_watched(name: str) -> None:
    assert set(places(templates(name)[STACK].body)) == {fleet.name for fleet in loader.load(name).fleets}


def test_security_checks_find_nothing_where_a_group_is_named() -> None:
    stage = changed(json.dumps([[0, {"market": {"kind": "reservation", "resource_group": GROUP_ARN}}]]))[0]
    violations = AwsSolutionsChecks(stage).validate_scope(stage).violations
    assert [(v.rule_name, [r.resource_logical_id for r in v.violating_resources]) for v in violations] == []


def test_the_handler_exists() -> None:
    module, _, function = WATCH.rpartition(".")
    path = ROOT / f"{module.replace('.', '/')}.py"
    assert f"def {function}(" in path.read_text(encoding="utf-8")


def _many(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _subject(resource: Any) -> str:
    """ARNs as they are; of a reference only the logical name that was given in the stack."""
    text = flatten(resource)
    fleet, found, _ = text.partition("place")
    if found and "parameter" in fleet:
        return f"parameter of {fleet.rpartition(':')[2]}"
    if text.endswith("-prices"):
        return "the price table"
    known = ("WatchLogs", "Unhandled", "trn1pretrainBatchNodes")
    return next((name for name in known if name in text), text)
