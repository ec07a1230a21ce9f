"""An endpoint with a warm pool: what it adds to one that scales, in full, and that nothing else has changed."""

import json
from email import message_from_bytes
from typing import Any

import pytest
from aws_cdk import Stack
from cdk_nag import AwsSolutionsChecks

from environments.fleet_specs import fleet_spec
from environments.month_shape import month_shape
from fleet import naming
from fleet.capacity import compile_fleet
from stacks.constructs.agent_delivery import node_user_data
from tests.infra.test_agent_delivery import evaluated
from tests.support.linting import errors
from tests.support.scaled_endpoint import TO_ONE, WARM, endpoint_fleet, scaled, stage, templates
from tests.support.templates import StackTemplate
from tests.support.watching import flatten

GROUP = "AWS::AutoScaling::AutoScalingGroup"
FLEET = endpoint_fleet(scaled(WARM))
PLACE = naming.warm_pool_parameter("prod", FLEET.name)


def inference() -> StackTemplate:
    return templates(warm=True)["inference"]


def types(template: StackTemplate) -> list[str]:
    return sorted(each["Type"] for each in template.body["Resources"].values())


def script(settings: dict[str, Any], cluster: str | None = None) -> str:
    """The user data of the endpoint's nodes."""
    environment = scaled(settings)
    fleet = endpoint_fleet(environment)
    plan = compile_fleet(fleet_spec(environment, fleet))
    data = Stack().resolve(node_user_data(environment.name, fleet, plan, cluster=cluster).render())
    (part,) = (part for part in message_from_bytes(evaluated(data)).walk() if not part.is_multipart())
    payload = part.get_payload(decode=True)
    assert isinstance(payload, bytes)
    return payload.decode()


def test_security_checks_find_nothing_unacknowledged() -> None:
    violations = AwsSolutionsChecks(stage(warm=True)).validate_scope(stage(warm=True)).violations
    assert [(v.rule_name, [r.resource_logical_id for r in v.violating_resources]) for v in violations] == []


@pytest.mark.parametrize("stack", ["capacity", "inference", "rollout", "capacity-watch"])
def test_cloudformation_would_accept_the_template(stack: str) -> None:
    text = templates(warm=True)[stack].file.read_text(encoding="utf-8")
    assert errors(text) == []


def test_a_pool_of_that_many_stopped_nodes_stands_beside_the_group() -> None:
    pool = inference().resource("AWS::AutoScaling::WarmPool")
    group = inference().resource(GROUP)

    assert pool.properties == {
        "AutoScalingGroupName": {"Ref": group.logical_id},
        "MaxGroupPreparedCapacity": 2,
        "MinSize": 2,
        "PoolState": "Stopped",
    }
    # AWS refuses a pool beside one, and ECS one that takes nodes back.
    assert "MixedInstancesPolicy" not in group.properties
    assert "InstanceReusePolicy" not in pool.properties


def test_a_node_is_stopped_when_it_says_that_it_is_ready_and_after_half_an_hour() -> None:
    hook = inference().resource("AWS::AutoScaling::LifecycleHook")

    assert hook.properties == {
        "AutoScalingGroupName": {"Ref": inference().resource(GROUP).logical_id},
        "DefaultResult": "CONTINUE",
        "HeartbeatTimeout": 1800,
        "LifecycleHookName": "prepare",
        "LifecycleTransition": "autoscaling:EC2_INSTANCE_LAUNCHING",
    }


def test_a_node_may_read_what_to_have_ready_and_tell_its_own_group_and_nothing_else() -> None:
    group = inference().resource(GROUP).logical_id
    (policy,) = inference().resources("AWS::IAM::Policy", f"{FLEET.name}-warm-pool/Rights")
    (place,) = inference().resources("AWS::SSM::Parameter", f"{FLEET.name}-warm-pool/Place")

    statements = policy.properties["PolicyDocument"]["Statement"]
    assert [each["Action"] for each in statements] == ["ssm:GetParameter", "autoscaling:CompleteLifecycleAction"]
    assert {each["Effect"] for each in statements} == {"Allow"}
    assert place.logical_id in json.dumps(statements[0]["Resource"])
    assert statements[1]["Resource"] == {
        "Fn::Join": ["", [
            f"arn:aws:autoscaling:us-east-2:{scaled(WARM).account}:autoScalingGroup:*:autoScalingGroupName/",
            {"Ref": group},
        ]]
    }  # fmt: skip
    # An export in use would keep the fleet in the file for ever.
    assert "Fn::ImportValue" not in json.dumps(policy.properties["Roles"])
    assert place.properties["Name"] == PLACE
    assert place.properties["Value"] == {
        "Fn::Join": ["", [{"Ref": group}, f" prepare {FLEET.endpoint.container_image}"]]
    }


def test_the_first_node_of_the_pool_finds_all_of_it() -> None:
    pool = inference().resource("AWS::AutoScaling::WarmPool")

    after = {inference().body["Resources"][name]["Type"] for name in pool.body["DependsOn"]}
    assert after == {"AWS::AutoScaling::LifecycleHook", "AWS::SSM::Parameter", "AWS::IAM::Policy"}


def test_the_capacity_watch_may_see_the_pool_and_is_told_of_it() -> None:
    watch = templates(warm=True)["capacity-watch"]
    places = [flatten(each.properties["Value"]) for each in watch.resources("AWS::SSM::Parameter")]
    actions = [
        action
        for policy in watch.resources("AWS::IAM::Policy")
        for statement in policy.properties["PolicyDocument"]["Statement"]
        for action in ([statement["Action"]] if isinstance(statement["Action"], str) else statement["Action"])
    ]

    assert [json.loads(place)["fleet"] for place in places if json.loads(place).get("has_warm_pool")] == [FLEET.name]
    assert "autoscaling:DescribeWarmPool" in actions


def test_the_plan_is_told_of_stopped_nodes_beside_those_that_serve() -> None:
    def told(settings: dict[str, Any]) -> dict[str, tuple[int, int]]:
        return {each.name: (each.nodes, each.stopped_nodes) for each in month_shape(scaled(settings)).fleets}

    assert told(WARM)[FLEET.name] == (4, 2)
    assert {stopped for _, stopped in told(TO_ONE).values()} == {0}


def test_without_a_pool_nothing_speaks_of_one() -> None:
    for template in templates().values():
        text = json.dumps(template.body)
        assert not any(word in text for word in ("WarmPool", "WARM_POOL", "warm-pool", "has_warm_pool", "prepare "))


def test_only_the_inference_stack_has_more_resources() -> None:
    with_pool, without = templates(warm=True), templates()

    added = types(with_pool["inference"])
    for each in types(without["inference"]):
        added.remove(each)
    assert added == [
        "AWS::AutoScaling::LifecycleHook", "AWS::AutoScaling::WarmPool", "AWS::IAM::Policy", "AWS::SSM::Parameter",
    ]  # fmt: skip
    for name in with_pool.keys() - {"inference"}:
        assert types(with_pool[name]) == types(without[name]), name


def test_the_agent_of_ecs_is_told_to_wait_and_the_installer_where_to_look() -> None:
    told = script(WARM)

    assert "echo ECS_CLUSTER=neuron-fleet-prod-inf2-chat >> /etc/ecs/ecs.config" in told
    assert "echo ECS_WARM_POOLS_CHECK=true >> /etc/ecs/ecs.config" in told
    assert f"WARM_POOL_PARAMETER={PLACE}\n" in told
    # At every boot: user data runs at the first one.
    assert "systemctl enable --quiet neuron-fleet-install.service" in told


def test_nodes_that_are_in_no_pool_are_told_nothing_of_one() -> None:
    # Those of a rollout's candidate are launched by another group, whose parameter there is none of.
    candidate = naming.candidate_cluster_name("prod", FLEET.name)

    for told in (script(TO_ONE), script(WARM, candidate)):
        assert "WARM_POOL" not in told
