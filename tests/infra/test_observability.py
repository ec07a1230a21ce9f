"""The observability stack: who may speak to the topics, what is kept, and how many alarms there are."""

import pytest
from cdk_nag import AwsSolutionsChecks

from environments.loader import load
from tests.support.synthesis import ENVIRONMENTS, Watched, dashboards, synthesize, watched

STACK = "observability"


@pytest.fixture(params=ENVIRONMENTS)
def environment(request: pytest.FixtureRequest) -> Watched:
    return watched(request.param)


def test_no_unacknowledged_finding_of_cdk_nag(environment: Watched) -> None:
    violations = AwsSolutionsChecks(environment.app).validate_scope(environment.stage).violations

    assert [(found.rule_name, found.description) for found in violations] == []


def test_stacks_stay_far_below_the_resource_limit(environment: Watched) -> None:
    assert max(len(template["Resources"]) for template in environment.templates.values()) < 400


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

    assert policies == {"prod": {"Retain"}, "dev": {"Delete"}}


def test_topics_are_encrypted_with_a_rotated_key(environment: Watched) -> None:
    topics = environment.resources(STACK, "AWS::SNS::Topic")
    keys = environment.resources(STACK, "AWS::KMS::Key")

    assert len(topics) == 2
    assert all("KmsMasterKeyId" in topic for topic in topics)
    assert [key["EnableKeyRotation"] for key in keys] == [True]


def test_the_pager_can_read_the_severity_off_a_topics_name(environment: Watched) -> None:
    names = [topic["TopicName"] for topic in environment.resources(STACK, "AWS::SNS::Topic")]

    assert names == [f"neuron-fleet-{environment.environment.name}-{severity}" for severity in ("page", "ticket")]


def test_only_alarms_of_this_account_publish_and_only_over_tls(environment: Watched) -> None:
    account = environment.environment.account
    region = environment.environment.region
    for policy in environment.resources(STACK, "AWS::SNS::TopicPolicy"):
        deny, allow = policy["PolicyDocument"]["Statement"]
        assert (deny["Effect"], deny["Condition"]) == ("Deny", {"Bool": {"aws:SecureTransport": "false"}})
        assert allow["Principal"] == {"Service": "cloudwatch.amazonaws.com"}
        assert allow["Action"] == "sns:Publish"
        assert allow["Condition"] == {
            "StringEquals": {"aws:SourceAccount": account},
            "ArnLike": {"aws:SourceArn": f"arn:aws:cloudwatch:{region}:{account}:alarm:*"},
        }


def test_alarms_may_use_the_key_of_the_topics(environment: Watched) -> None:
    key = environment.resources(STACK, "AWS::KMS::Key")[0]

    statement = key["KeyPolicy"]["Statement"][-1]
    assert statement["Principal"] == {"Service": "cloudwatch.amazonaws.com"}
    assert set(statement["Action"]) == {"kms:Decrypt", "kms:GenerateDataKey*"}
    assert statement["Condition"] == {"StringEquals": {"aws:SourceAccount": environment.environment.account}}


def test_the_number_of_alarms_does_not_depend_on_the_number_of_nodes() -> None:
    small = load("dev")
    large = small.model_copy(
        update={"fleets": tuple(fleet.model_copy(update={"nodes": 500}) for fleet in small.fleets)}
    )

    assert _alarms(synthesize(large)) == _alarms(synthesize(small))


def test_every_audience_has_its_dashboard(environment: Watched) -> None:
    assert set(dashboards(environment)) == {"operator", "training", "inference", "capacity-and-cost", "agent-health"}


def test_sums_by_the_minute_are_not_stretched_by_the_console(environment: Watched) -> None:
    assert {body["periodOverride"] for body in dashboards(environment).values()} == {"inherit"}


def _alarms(of: Watched) -> int:
    kinds = ("AWS::CloudWatch::Alarm", "AWS::CloudWatch::CompositeAlarm")
    return sum(len(of.resources(STACK, kind)) for kind in kinds)
