"""An endpoint that scales: what its group is told in full, and that nothing of a fixed one has changed."""

import json
from typing import Any

import pytest
from cdk_nag import AwsSolutionsChecks

from environments import loader
from stacks.constructs.endpoint_service import staying_percent
from tests.support import templates as fixed
from tests.support.linting import errors
from tests.support.scaled_endpoint import TO_ONE, TO_ZERO, endpoint_fleet, scaled, stage, templates
from tests.support.watching import flatten

BOTH = pytest.mark.parametrize("zero", [False, True])
GROUPS = "arn:aws:autoscaling:us-east-2:111122223333:autoScalingGroup"
POLICY = "AWS::AutoScaling::ScalingPolicy"


def policies(*, zero: bool) -> dict[str, dict[str, Any]]:
    return {
        resource.path.split("/")[-1]: resource.properties
        for resource in templates(zero=zero)["inference"].resources(POLICY)
    }


def alarms(*, zero: bool) -> dict[str, dict[str, Any]]:
    found = templates(zero=zero)["inference"].resources("AWS::CloudWatch::Alarm")
    return {resource.path.split("/")[-2].removesuffix("-alarm"): resource.properties for resource in found}


@BOTH
def test_security_checks_find_nothing_unacknowledged(zero: bool) -> None:
    violations = AwsSolutionsChecks(stage(zero=zero)).validate_scope(stage(zero=zero)).violations
    assert [(v.rule_name, [r.resource_logical_id for r in v.violating_resources]) for v in violations] == []


@BOTH
@pytest.mark.parametrize("stack", ["inference", "rollout", "observability", "capacity-watch"])
def test_cloudformation_would_accept_the_template(zero: bool, stack: str) -> None:
    text = templates(zero=zero)[stack].file.read_text(encoding="utf-8")
    assert errors(text) == []


@BOTH
def test_nodes_come_by_target_tracking_and_leave_by_a_rule_of_their_own(zero: bool) -> None:
    found = policies(zero=zero)
    tracked = {
        name: (
            each["TargetTrackingConfiguration"]["CustomizedMetricSpecification"]["MetricName"],
            each["TargetTrackingConfiguration"]["CustomizedMetricSpecification"]["Statistic"],
            each["TargetTrackingConfiguration"]["TargetValue"],
            each["TargetTrackingConfiguration"]["DisableScaleIn"],
            each["EstimatedInstanceWarmup"],
        )
        for name, each in found.items()
        if each["PolicyType"] == "TargetTrackingScaling"
    }

    assert tracked == {
        "requests-in-flight-per-core": ("RequestsInFlightPerCore", "Average", 4, True, 2400),
        "queue-seconds": ("QueueSeconds", "Average", 0.5, True, 2400),
        "core-utilization-percent": ("NeuronCoreUtilization", "Average", 60, True, 2400),
    }
    leaving = found["scale-in"]
    assert (leaving["PolicyType"], leaving["AdjustmentType"], leaving["ScalingAdjustment"], leaving["Cooldown"]) == (
        "SimpleScaling", "ChangeInCapacity", -1, "900",
    )  # fmt: skip
    # A unit, and an alarm that never calls, are the classic ways for scaling to look right and do nothing.
    assert "Unit" not in json.dumps(found)


@BOTH
def test_each_rule_calls_its_own_policy_and_silence_calls_none(zero: bool) -> None:
    called = {name: flatten(each["AlarmActions"][0]) for name, each in alarms(zero=zero).items()}
    expected = {"scale-in", "to-zero", "wake"} if zero else {"scale-in"}

    assert called.keys() == expected
    for name, action in called.items():
        assert name.replace("-", "") in action.lower()
    for each in alarms(zero=zero).values():
        assert each["TreatMissingData"] == "notBreaching"
        assert each["EvaluationPeriods"] * 60 <= 86_400
        assert "OKActions" not in each


def test_only_an_endpoint_that_may_be_empty_sleeps_and_wakes() -> None:
    steps = {name: each["StepAdjustments"] for name, each in policies(zero=True).items() if "StepAdjustments" in each}

    assert steps == {
        "to-zero": [{"MetricIntervalUpperBound": 0, "ScalingAdjustment": 0}],
        "wake": [{"MetricIntervalLowerBound": 0, "ScalingAdjustment": 1}],
    }
    assert {policies(zero=True)[name]["AdjustmentType"] for name in steps} == {"ExactCapacity"}
    assert not {"to-zero", "wake"} & policies(zero=False).keys()


@pytest.mark.parametrize(("zero", "least"), [(False, "1"), (True, "0")])
def test_a_deploy_asks_for_no_node_and_takes_none_away(zero: bool, least: str) -> None:
    inference = templates(zero=zero)["inference"]
    group = inference.resource("AWS::AutoScaling::AutoScalingGroup")
    action = inference.resource("AWS::AutoScaling::ScheduledAction").properties

    assert (group.properties["MinSize"], group.properties["MaxSize"]) == ("0", "4")
    assert "DesiredCapacity" not in group.properties
    assert group.body["UpdatePolicy"] == {"AutoScalingScheduledAction": {"IgnoreUnmodifiedGroupSizeProperties": True}}
    assert (str(action["MinSize"]), "DesiredCapacity" in action) == (least, False)
    assert group.properties["MetricsCollection"] == [
        {"Granularity": "1Minute", "Metrics": ["GroupDesiredCapacity", "GroupInServiceInstances"]}
    ]


@BOTH
def test_a_node_that_leaves_drains_first(zero: bool) -> None:
    inference = templates(zero=zero)["inference"]
    provider = inference.resource("AWS::ECS::CapacityProvider").properties["AutoScalingGroupProvider"]
    targets = inference.resource("AWS::ElasticLoadBalancingV2::TargetGroup").properties["TargetGroupAttributes"]

    assert provider["ManagedDraining"] == "ENABLED"
    # Two masters of one number would undo each other's work.
    assert provider["ManagedScaling"] == {"Status": "DISABLED"}
    assert {"Key": "deregistration_delay.timeout_seconds", "Value": "120"} in targets


@pytest.mark.parametrize(
    ("settings", "percent"),
    [(TO_ZERO, 0), (TO_ONE, 0), (TO_ONE | {"min_nodes": 2}, 50), (TO_ONE | {"min_nodes": 3}, 66)],
)
def test_a_new_version_can_take_over_with_the_fewest_nodes(settings: dict[str, Any], percent: int) -> None:
    assert staying_percent(endpoint_fleet(scaled(settings))) == percent


@BOTH
def test_the_capacity_watch_knows_that_fewer_nodes_are_meant(zero: bool) -> None:
    (place,) = (
        json.loads(flatten(each.properties["Value"]))
        for each in templates(zero=zero)["capacity-watch"].resources("AWS::SSM::Parameter")
        if "inf2-chat" in flatten(each.properties["Value"])
    )

    assert place["scales"] is True


def test_an_endpoint_that_says_nothing_keeps_all_its_nodes() -> None:
    silent = [name for name in loader.available() if endpoint_fleet(loader.load(name)).endpoint.scaling is None]
    assert set(silent) >= {"prod", "staging"}
    for name in silent:
        inference = fixed.templates(name)["inference"]
        assert not inference.resources(POLICY)
        assert not inference.resources("AWS::CloudWatch::Alarm")
        action = inference.resource("AWS::AutoScaling::ScheduledAction").properties
        assert action["DesiredCapacity"] == endpoint_fleet(loader.load(name)).nodes


@BOTH
def test_a_rollout_may_let_the_stable_side_stand_still(zero: bool) -> None:
    rollout = templates(zero=zero)["rollout"]
    statements = [
        statement
        for policy in rollout.resources("AWS::IAM::Policy", "Function/Role")
        for statement in policy.properties["PolicyDocument"]["Statement"]
        if "autoscaling:SuspendProcesses" in statement["Action"]
    ]

    assert [(each["Action"], flatten(each["Resource"]), each.get("Condition")) for each in statements] == [
        (
            ["autoscaling:ResumeProcesses", "autoscaling:SuspendProcesses"],
            f"{GROUPS}:*:autoScalingGroupName/neuron-fleet-prod-inference-*",
            None,
        )
    ]
    place = next(flatten(each.properties["Value"]) for each in rollout.resources("AWS::SSM::Parameter"))
    assert json.loads(place)["scales"] is True
