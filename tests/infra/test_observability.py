"""The observability stack: who may speak to the topics, what is kept, and how many alarms there are."""

from collections.abc import Mapping
from dataclasses import replace

import pytest
from aws_cdk import assertions

from environments.fleet_specs import launch_plans
from environments.loader import load
from environments.model import Environment
from fleet.capacity import LaunchPlan
from fleet.load_balancer import EndpointNames
from stacks.observability import ObservabilityStack
from tests.support.templates import new_app
from tests.support.watching import ENVIRONMENTS, Watched, dashboards, flatten, watched

STACK = "observability"


@pytest.fixture(params=ENVIRONMENTS)
def environment(request: pytest.FixtureRequest) -> Watched:
    return watched(request.param)


def test_the_node_log_group_has_the_name_and_retention_that_agents_expect(environment: Watched) -> None:
    groups = environment.resources(STACK, "AWS::Logs::LogGroup")

    assert [(group["LogGroupName"], group["RetentionInDays"]) for group in groups] == [
        (
            f"/neuron-fleet/{environment.environment.name}/nodes",
            environment.environment.monitoring.log_retention_days,
        )
    ]


def test_node_events_survive_their_stack_where_data_is_retained() -> None:
    policies = {
        name: {
            resource["DeletionPolicy"]
            for resource in watched(name).templates[STACK]["Resources"].values()
            if resource["Type"] == "AWS::Logs::LogGroup"
        }
        for name in ("prod", "dev")
    }

    assert policies == {"prod": {"RetainExceptOnCreate"}, "dev": {"Delete"}}


def test_topics_are_encrypted_with_a_rotated_key(environment: Watched) -> None:
    topics = environment.resources(STACK, "AWS::SNS::Topic")
    keys = environment.resources(STACK, "AWS::KMS::Key")

    assert len(topics) == 3
    assert all("KmsMasterKeyId" in topic for topic in topics)
    assert [key["EnableKeyRotation"] for key in keys] == [True]


def test_the_pager_can_read_the_severity_off_a_topics_name(environment: Watched) -> None:
    names = [topic["TopicName"] for topic in environment.resources(STACK, "AWS::SNS::Topic")]

    assert names[:2] == [f"neuron-fleet-{environment.environment.name}-{severity}" for severity in ("page", "ticket")]


def test_nothing_of_ours_stands_behind_the_topic_past_the_pager(environment: Watched) -> None:
    name = environment.environment.name
    told_twice = [
        flatten(alarm["AlarmActions"][1])
        for alarm in environment.resources(STACK, "AWS::CloudWatch::Alarm")
        if len(alarm.get("AlarmActions", ())) == 2
    ]
    subscribed = [
        flatten(subscription["TopicArn"])
        for stack in environment.templates
        for subscription in environment.resources(stack, "AWS::SNS::Subscription")
    ]

    topics = [topic["TopicName"] for topic in environment.resources(STACK, "AWS::SNS::Topic")]
    assert topics[2] == f"neuron-fleet-{name}-past-the-pager"
    assert len(told_twice) == 2
    assert all("PastThePager" in topic for topic in told_twice)
    assert not any("PastThePager" in topic for topic in subscribed)


def test_only_alarms_of_this_account_publish_and_only_over_tls(environment: Watched) -> None:
    account = environment.environment.account
    region = environment.environment.region
    for policy in environment.resources(STACK, "AWS::SNS::TopicPolicy"):
        deny, allow, *of_budgets = policy["PolicyDocument"]["Statement"]
        assert (deny["Effect"], deny["Condition"]) == ("Deny", {"Bool": {"aws:SecureTransport": "false"}})
        assert allow["Principal"] == {"Service": "cloudwatch.amazonaws.com"}
        assert allow["Action"] == "sns:Publish"
        assert allow["Condition"] == {
            "StringEquals": {"aws:SourceAccount": account},
            "ArnLike": {"aws:SourceArn": f"arn:aws:cloudwatch:{region}:{account}:alarm:*"},
        }
        for statement in of_budgets:
            assert statement["Principal"] == {"Service": "budgets.amazonaws.com"}
            assert statement["Action"] == "sns:Publish"
            assert statement["Condition"]["StringEquals"] == {"aws:SourceAccount": account}


def test_alarms_may_use_the_key_of_the_topics(environment: Watched) -> None:
    key = environment.resources(STACK, "AWS::KMS::Key")[0]

    of_services = [s for s in key["KeyPolicy"]["Statement"] if "Service" in s["Principal"]]
    (statement,) = [s for s in of_services if s["Principal"] == {"Service": "cloudwatch.amazonaws.com"}]
    others = {s["Principal"]["Service"] for s in of_services} - {"cloudwatch.amazonaws.com"}
    assert others <= {"budgets.amazonaws.com"}
    assert set(statement["Action"]) == {"kms:Decrypt", "kms:GenerateDataKey*"}
    assert statement["Condition"] == {"StringEquals": {"aws:SourceAccount": environment.environment.account}}


def test_the_number_of_alarms_does_not_depend_on_the_number_of_nodes() -> None:
    small = load("prod")
    large = small.model_copy(
        update={"fleets": tuple(fleet.model_copy(update={"nodes": 2000}) for fleet in small.fleets)}
    )
    few = launch_plans(small)
    many = {name: replace(plan, spec=replace(plan.spec, nodes=2000)) for name, plan in few.items()}

    assert _number_of_alarms(large, many) == _number_of_alarms(small, few)


def test_every_audience_has_its_dashboard(environment: Watched) -> None:
    audiences = {audience for audience in dashboards(environment) if not audience.startswith("endpoint-")}

    assert audiences == {"operator", "training", "inference", "capacity-and-cost", "agent-health"}


def test_sums_by_the_minute_are_not_stretched_by_the_console(environment: Watched) -> None:
    assert {body["periodOverride"] for body in dashboards(environment).values()} == {"inherit"}


def _number_of_alarms(environment: Environment, plans: Mapping[str, LaunchPlan]) -> int:
    app = new_app()
    endpoints = {fleet.name: EndpointNames("app/x/1", "targetgroup/x/1") for fleet in environment.inference_fleets}
    stack = ObservabilityStack(app, "observability", environment=environment, plans=plans, endpoints=endpoints)
    resources = assertions.Template.from_stack(stack).to_json()["Resources"].values()
    return sum(resource["Type"].startswith("AWS::CloudWatch::") for resource in resources)
