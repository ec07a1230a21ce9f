"""The rollout stack: what the function may do in full, what no deployment sets again, and a valid state machine."""

import json
from typing import Any

import pytest
from pydantic import TypeAdapter

from environments import loader
from environments.model import Environment
from fleet import naming
from fleet.rollout.facts import RolloutPlace
from stacks.constructs.rollout_machine import definition
from stacks.constructs.serving import artifact_of
from stacks.rollout import FUNCTION
from tests.support.linting import rules_broken
from tests.support.templates import platform, stage_of, templates
from tests.support.watching import flatten

ENVIRONMENTS = loader.available()
STACK = "rollout"


def one(kind: str, under: str = "", environment: str = "prod") -> dict[str, Any]:
    return templates(environment)[STACK].resource(kind, under).properties


def allowed(under: str, environment: str = "prod") -> list[tuple[list[str], list[str], Any]]:
    policy = one("AWS::IAM::Policy", under, environment)
    return [
        (sorted(_many(s["Action"])), sorted(_subject(r) for r in _many(s["Resource"])), s.get("Condition"))
        for s in policy["PolicyDocument"]["Statement"]
    ]


def _many(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _subject(resource: Any) -> str:
    """An ARN as it reads, or which resource it is of."""
    text = resource if isinstance(resource, str) else flatten(resource)
    for part, name in (
        ("Shares", "rule"), ("Unhandled", "queue"), ("Records", "table"), ("ExecutionRole", "execution role"),
        ("TaskRole", "task role"), ("FunctionLogs", "log"), ("inf2chatService", "candidate service"),
        ("inf2chatserviceService", "stable service"), ("Function6", "function"),
    ):  # fmt: skip
        if part in text:
            return name
    return text.replace("<AWS::Partition>", "aws")


def test_the_function_may_move_requests_of_its_endpoints_and_nothing_else() -> None:
    account = "us-east-2:111122223333"
    parameter = f"arn:aws:ssm:{account}:parameter/neuron-fleet/prod"

    assert allowed("Function/Role") == [
        (["logs:CreateLogStream", "logs:PutLogEvents"], ["log"], None),
        (["sqs:SendMessage"], ["queue"], None),
        (["dynamodb:GetItem", "dynamodb:PutItem"], ["table"], None),
        (["elasticloadbalancing:ModifyRule"], ["rule"], None),
        (["ecs:DescribeServices", "ecs:UpdateService"], ["candidate service", "stable service"], None),
        (
            ["iam:PassRole"],
            ["execution role", "task role"],
            {"StringEquals": {"iam:PassedToService": "ecs-tasks.amazonaws.com"}},
        ),
        (
            ["autoscaling:SetDesiredCapacity"],
            [f"arn:aws:autoscaling:{account}:autoScalingGroup:*:autoScalingGroupName/neuron-fleet-prod-rollout-*"],
            None,
        ),
        (["ssm:PutParameter"], [f"{parameter}/served/inf2-chat"], None),
        (["ssm:GetParameter"], [f"{parameter}/compile-cache", f"{parameter}/rollout/inf2-chat"], None),
        (["s3:GetObject"], ["arn:aws:s3:::neuron-fleet-prod-artifacts-062e3657/neuron-artifacts/*/index.json"], None),
        (["s3:ListBucket"], ["arn:aws:s3:::neuron-fleet-prod-artifacts-062e3657"], None),
        (["states:StartExecution"], [f"arn:aws:states:{account}:stateMachine:neuron-fleet-prod-rollout"], None),
        (["states:DescribeExecution"], [f"arn:aws:states:{account}:execution:neuron-fleet-prod-rollout:*"], None),
        (
            [
                "autoscaling:DescribeAutoScalingGroups",
                "autoscaling:DescribeScalingActivities",
                "cloudwatch:DescribeAlarms",
                "cloudwatch:GetMetricData",
                "ecs:DescribeTaskDefinition",
                "ecs:ListTasks",
                "ecs:RegisterTaskDefinition",
                "elasticloadbalancing:DescribeRules",
                "elasticloadbalancing:DescribeTargetHealth",
            ],
            ["*"],
            None,
        ),
    ]


def test_where_requests_are_recorded_the_function_may_read_what_became_of_them_and_no_request() -> None:
    named = loader.load("staging")
    bucket = f"arn:aws:s3:::{naming.shadow_bucket(named.name, named.account, named.region)}"
    artifacts = f"arn:aws:s3:::{naming.artifact_bucket(named.name, named.account, named.region)}"
    of_s3 = [each for each in allowed("Function/Role", "staging") if each[0][0].startswith("s3:")]

    assert of_s3 == [
        (["s3:GetObject"], [f"{artifacts}/neuron-artifacts/*/index.json", f"{bucket}/reports/inf2-chat/*"], None),
        (["s3:ListBucket"], [artifacts], None),
        (["s3:ListBucket"], [bucket], {"StringLike": {"s3:prefix": ["reports/inf2-chat/*"]}}),
    ]
    # One more than where none are recorded, and the rest of them differs in no action.
    plain, more = ([each[0] for each in allowed("Function/Role", name)] for name in ("prod", "staging"))
    assert sorted(more) == sorted([*plain, ["s3:ListBucket"]])


def test_the_state_machine_may_call_the_function_and_nothing_else() -> None:
    assert [actions for actions, _, _ in allowed("Machine/Role")] == [["lambda:InvokeFunction"]]


@pytest.mark.parametrize("environment", ENVIRONMENTS)
def test_where_each_endpoint_is_served_can_be_read(environment: str) -> None:
    (fleet,) = loader.load(environment).inference_fleets
    found = one("AWS::SSM::Parameter", environment=environment)
    place = TypeAdapter(RolloutPlace).validate_json(flatten(found["Value"]))

    assert found["Name"] == naming.rollout_place_parameter(environment, fleet.name)
    assert (place.fleet, place.nodes, place.plan) == (fleet.name, fleet.nodes, fleet.endpoint.rollout.plan())
    has_shadow = fleet.endpoint.rollout.shadow is not None
    named = loader.load(environment)
    bucket = naming.shadow_bucket(named.name, named.account, named.region)
    assert place.shadow_bucket == (bucket if has_shadow else "")
    assert place.stable.target_group != place.candidate.target_group
    assert place.version_parameter == naming.served_version_parameter(environment, fleet.name)
    declared = artifact_of(fleet)
    assert place.artifact == (declared.prefix if declared else "")
    assert bool(place.artifact) == (environment != "local")
    assert len(found["Value"]) < 4096


def changed_image() -> Environment:
    environment = loader.load("prod")
    content = environment.model_dump(mode="json")
    for fleet in content["fleets"]:
        if fleet["purpose"] == "inference":
            fleet["endpoint"]["container_image"] = fleet["endpoint"]["container_image"].replace("13b", "70b")
    return Environment.model_validate(content)


def test_a_new_image_in_the_file_changes_what_is_declared_and_nothing_that_serves() -> None:

    after = {
        each.hierarchical_id.rpartition("/")[2]: each.template for each in stage_of(changed_image()).synth().stacks
    }
    for stack in ("inference", STACK, "capacity"):
        before = templates("prod")[stack].body["Resources"]
        differing = {before[key]["Type"] for key in before if before[key] != after[stack]["Resources"][key]}
        assert differing <= {"AWS::ECS::TaskDefinition", "AWS::IAM::Policy"}, stack


@pytest.mark.parametrize("environment", ENVIRONMENTS)
def test_the_services_are_told_what_rollouts_have_put_there(environment: str) -> None:
    (fleet,) = loader.load(environment).inference_fleets
    served = naming.served_version_parameter(environment, fleet.name)
    inference, capacity = templates(environment)["inference"], templates(environment)["capacity"]
    told = inference.resource("AWS::ECS::Service").properties["TaskDefinition"]["Ref"]

    assert inference.body["Parameters"][told] == {"Type": "AWS::SSM::Parameter::Value<String>", "Default": served}
    # In a stack before, with a value that does not depend on the file's image: no deployment puts it back.
    (parameter,) = [p.properties for p in capacity.resources("AWS::SSM::Parameter") if p.properties["Name"] == served]
    assert parameter["Value"] == naming.endpoint_family(environment, fleet.name)
    definition = inference.resource("AWS::ECS::TaskDefinition")
    assert definition.properties["Family"] == naming.endpoint_family(environment, fleet.name)
    # What serves may be an older one; CloudFormation would take it out of use.
    assert definition.body["UpdateReplacePolicy"] == "Retain"


def test_at_rest_all_requests_go_to_the_stable_side_and_the_other_has_no_node() -> None:
    rule, group = one("AWS::ElasticLoadBalancingV2::ListenerRule"), one("AWS::AutoScaling::AutoScalingGroup")
    stable, candidate = rule["Actions"][0]["ForwardConfig"]["TargetGroups"]

    assert (stable["Weight"], candidate["Weight"]) == (100, 0)
    assert rule["Conditions"] == [{"Field": "path-pattern", "PathPatternConfig": {"Values": ["/*"]}}]
    assert group["MinSize"] == "0"
    assert "DesiredCapacity" not in group
    assert templates("prod")[STACK].resources("AWS::AutoScaling::ScheduledAction") == []


def test_the_candidates_nodes_are_bought_beside_any_reservation_and_join_their_own_cluster() -> None:
    data = one("AWS::EC2::LaunchTemplate")["LaunchTemplateData"]
    name = naming.candidate_cluster_name("prod", "inf2-chat")

    assert "CapacityReservationSpecification" not in data
    assert one("AWS::ECS::Cluster")["ClusterName"] == name
    assert f"ECS_CLUSTER={name} " in flatten(data["UserData"])
    registering = [
        statement["Resource"]
        for policy in templates("prod")["capacity"].resources("AWS::IAM::Policy", "inf2-chat")
        for statement in policy.properties["PolicyDocument"]["Statement"]
        if "ecs:RegisterContainerInstance" in statement["Action"]
    ]
    assert [arn.rpartition("/")[2] for arn in registering[0]] == ["neuron-fleet-prod-inf2-chat", name]


def test_broken_executions_are_told_of() -> None:
    rule = one("AWS::Events::Rule")

    assert rule["EventPattern"]["detail"]["status"] == ["FAILED", "TIMED_OUT", "ABORTED"]
    assert rule["EventPattern"]["source"] == ["aws.states"]
    assert "Unhandled" in flatten(rule["Targets"][0]["Arn"])


def test_the_function_is_where_its_handler_says() -> None:
    module, _, name = FUNCTION.rpartition(".")
    assert one("AWS::Lambda::Function")["Handler"] == FUNCTION
    assert hasattr(__import__(module, fromlist=[name]), name)


def _problems(machine: dict[str, Any]) -> list[str]:
    body = {
        "Resources": {
            "Machine": {
                "Type": "AWS::StepFunctions::StateMachine",
                "Properties": {
                    "RoleArn": "arn:aws:iam::111122223333:role/r",
                    "Definition": machine,
                    "DefinitionSubstitutions": {"Rollout": "arn:aws:lambda:us-east-2:111122223333:function:f"},
                },
            }
        }
    }
    return rules_broken(json.dumps(body))


def test_the_definition_is_of_the_states_language() -> None:
    assert _problems(definition("aws")) == []


@pytest.mark.parametrize(
    ("state", "change"),
    [("Wait", {"Type": "Sleep"}), ("Look", {"TimeoutSeconds": "soon"}), ("IsOver", {"Choices": "none"})],
)
def test_the_check_of_the_language_finds_mistakes(state: str, change: dict[str, Any]) -> None:
    broken = definition("aws")
    broken["States"][state] |= change

    assert _problems(broken)


def test_every_state_is_reached_and_leads_somewhere() -> None:
    states = definition("aws")["States"]
    named = {"Look"} | {s["Next"] for s in states.values() if "Next" in s}
    named |= {s["Default"] for s in states.values() if "Default" in s}
    named |= {choice["Next"] for s in states.values() for choice in s.get("Choices", ())}

    assert named == set(states)
    assert platform("prod").rollout.candidates.keys() == {"inf2-chat"}
