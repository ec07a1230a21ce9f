"""What each adapter asks AWS, and what it makes of the answer, of a refusal and of nothing."""

import json
from datetime import UTC, datetime, timedelta
from io import BytesIO
from typing import Any

import pytest
from botocore.exceptions import ClientError

from fleet.rollout.facts import Minute, Side
from fleet.rollout.record import Rollout
from fleet.shadow.comparison import Comparison, Different, encode
from lambdas.rollout import adapters
from lambdas.rollout.ecs import EcsServices, Listener, ScalingGroup, WeightsError
from lambdas.rollout.executions import StateMachine
from lambdas.rollout.figures import CloudWatchFigures, VariantFigures
from lambdas.rollout.objects import ArtifactStore, ShadowReports
from lambdas.rollout.sagemaker.sides import CandidateInstances, Models, VariantWeights
from tests.support.client_shapes import shaped
from tests.support.hosted_endpoint import HOSTED
from tests.support.rollout_endpoint import NEW, OLD, PLACE, Endpoint, client, refused

AT = datetime(2026, 11, 22, 9, 0, tzinfo=UTC)
ROLLOUT = Rollout(
    rollout_id="one", fleet="chat", plan=PLACE.plan, old_version=OLD, new_version=NEW, nodes=4, started_at=AT, since=AT,
    fence=3,
)  # fmt: skip
NEXT = AT + timedelta(minutes=1)


class CloudWatch:
    """Answers series by query id, on two pages; remembers what was asked."""

    def __init__(self, **series: dict[datetime, float]) -> None:
        self.series, self.asked = series, dict[str, Any]()
        self.described = list[dict[str, Any]]()

    def get_metric_data(self, **request: Any) -> dict[str, Any]:
        self.asked = request
        first = "NextToken" not in request
        found = [
            {"Id": key, "Timestamps": list(values)[:1] if first else list(values)[1:],
             "Values": list(values.values())[:1] if first else list(values.values())[1:]}
            for key, values in self.series.items()
        ]  # fmt: skip
        return {"MetricDataResults": found, **({"NextToken": "2"} if first else {})}

    def describe_alarms(self, **request: Any) -> dict[str, Any]:
        self.asked = request
        return {"MetricAlarms": self.described, "CompositeAlarms": []}


def figures(cloudwatch: CloudWatch, tasks: tuple[str, ...] = ()) -> Side:
    found = CloudWatchFigures(shaped("cloudwatch", cloudwatch))
    return found.add_to(Side(), PLACE, PLACE.candidate, tasks, (AT + timedelta(seconds=40), NEXT))


def test_minutes_hold_requests_errors_and_p99_of_one_target_group() -> None:
    cloudwatch = CloudWatch(
        requests={AT: 100.0, NEXT: 50.0}, errors={AT: 2.0}, unreached={NEXT: 3.0}, p99={AT: 0.2, NEXT: 0.4}
    )
    side = figures(cloudwatch)

    # A request that no task took is one that failed, and counts as one.
    assert side.minutes == (Minute(AT, 100, 2, 0.2), Minute(NEXT, 53, 3, 0.4))
    assert cloudwatch.asked["StartTime"] == AT
    names = {query["MetricStat"]["Metric"]["MetricName"] for query in cloudwatch.asked["MetricDataQueries"]}
    assert names == {"RequestCount", "HTTPCode_Target_5XX_Count", "TargetConnectionErrorCount", "TargetResponseTime"}
    groups = {
        d["Value"] for q in cloudwatch.asked["MetricDataQueries"] for d in q["MetricStat"]["Metric"]["Dimensions"]
    }
    assert groups == {"app/chat/1", "targetgroup/candidate/2"}


def test_what_no_agent_reported_is_unknown_and_not_zero() -> None:
    side = figures(CloudWatch(), ("t1", "t2"))

    assert (side.minutes, side.runtime_errors, side.usd_per_million_tokens) == ((), None, None)


def test_failed_executions_and_the_price_of_tokens_are_those_of_the_sides_tasks() -> None:
    cloudwatch = CloudWatch(
        executionerrors_0={AT: 0.0, NEXT: 2.0}, executionerrors_1={AT: 1.0},
        costusdperhour_0={AT: 13.0}, costusdperhour_1={AT: 13.0, NEXT: 13.0},
        tokenspersecond_0={AT: 1000.0}, tokenspersecond_1={AT: 3000.0},
    )  # fmt: skip
    side = figures(cloudwatch, ("t1", "t2"))

    assert side.runtime_errors == 3
    # $26 an hour for 4,000 tokens a second, which are 14.4 million an hour.
    assert side.usd_per_million_tokens == pytest.approx(26 / 14.4)
    jobs = [q["MetricStat"] for q in cloudwatch.asked["MetricDataQueries"] if q["Id"] == "executionerrors_1"]
    assert {"Name": "JobId", "Value": "t2"} in jobs[0]["Metric"]["Dimensions"]
    # A batch that is sent twice doubles a Sum.
    assert jobs[0]["Stat"] == "Maximum"


def test_only_alarms_that_went_off_since_then_count() -> None:
    cloudwatch = CloudWatch()
    cloudwatch.described = [
        {"AlarmName": "prod/chat/HardwareFault", "StateUpdatedTimestamp": NEXT},
        {"AlarmName": "prod/chat/HbmPressure", "StateUpdatedTimestamp": AT},
    ]

    assert CloudWatchFigures(shaped("cloudwatch", cloudwatch)).alarms(PLACE, AT) == ("HardwareFault",)
    assert (cloudwatch.asked["AlarmNamePrefix"], cloudwatch.asked["StateValue"]) == ("prod/chat/", "ALARM")


def test_weights_are_percents_whatever_they_add_up_to() -> None:
    endpoint = Endpoint()
    endpoint.weights = {"arn:stable": 3, "arn:candidate": 1}
    assert Listener(client(endpoint, "elbv2")).weights(PLACE) == (75, 25)

    endpoint.weights = {"arn:stable": 100, "arn:another": 0}
    with pytest.raises(WeightsError, match="arn:another"):
        Listener(client(endpoint, "elbv2")).weights(PLACE)


def test_a_service_in_the_middle_of_a_change_runs_two_versions_and_is_not_settled() -> None:
    endpoint = Endpoint()
    services = EcsServices(client(endpoint, "ecs"), client(endpoint, "ssm"))
    services.run(PLACE.stable, NEW)

    found = services.of(PLACE.stable)
    assert (found.versions, found.is_settled, services.target(PLACE.stable)) == (frozenset({OLD}), False, NEW)


def test_another_image_is_registered_in_the_serving_container_only() -> None:
    endpoint = Endpoint()
    EcsServices(client(endpoint, "ecs"), client(endpoint, "ssm")).register(PLACE, "chat@sha256:9")

    assert [c["image"] for c in endpoint.registered["containerDefinitions"]] == ["chat@sha256:9", "side:1"]
    # What RegisterTaskDefinition refuses is left out, and the family of what the file declares is left alone.
    assert endpoint.registered.keys() == {"family", "containerDefinitions", "memory"}
    assert endpoint.registered["family"] == "neuron-fleet-prod-chat-by-image"


@pytest.mark.parametrize(("status", "runs"), [("RUNNING", True), ("FAILED", False), ("TIMED_OUT", False)])
def test_an_execution_runs_as_long_as_step_functions_says_so(status: str, runs: bool) -> None:
    states = Executions(status)

    assert StateMachine(shaped("stepfunctions", states), "arn:aws:states:r:a:stateMachine:m").runs(ROLLOUT) is runs
    assert states.asked == {"executionArn": "arn:aws:states:r:a:execution:m:chat-one-3"}


def test_an_execution_that_never_began_does_not_run_and_one_that_cannot_be_seen_is_no_answer() -> None:
    assert not StateMachine(shaped("stepfunctions", Executions(refused("ExecutionDoesNotExist", ""))), "arn").runs(
        ROLLOUT
    )
    with pytest.raises(ClientError, match="AccessDenied"):
        StateMachine(shaped("stepfunctions", Executions(refused("AccessDenied", ""))), "arn").runs(ROLLOUT)


class Executions:
    """Answers one status, or an error."""

    def __init__(self, status: str | Exception) -> None:
        self.status, self.asked = status, dict[str, Any]()

    def describe_execution(self, **request: object) -> dict[str, Any]:
        self.asked = request
        if isinstance(self.status, Exception):
            raise self.status
        return {"executionArn": "arn", "stateMachineArn": "arn", "status": self.status, "startDate": AT}

    def start_execution(self, **_: object) -> dict[str, Any]:
        raise AssertionError


def test_nodes_are_asked_for_once_and_a_failed_launch_is_quoted() -> None:
    endpoint = Endpoint()
    group = ScalingGroup(client(endpoint, "autoscaling"))
    group.ask_for(PLACE.candidate, 0)
    assert endpoint.halves["candidate"].asked == 0

    said = {
        "ActivityId": "a", "AutoScalingGroupName": "candidate-group", "Cause": "a user asked for it", "StartTime": AT,
        "StatusCode": "Failed", "StatusMessage": "InsufficientInstanceCapacity: no inf2",
    }  # fmt: skip

    class Failing:
        def describe_scaling_activities(self, **_: object) -> dict[str, Any]:
            return {"Activities": [said]}

        describe_auto_scaling_groups = set_desired_capacity = describe_scaling_activities
        suspend_processes = resume_processes = describe_scaling_activities

    assert ScalingGroup(shaped("autoscaling", Failing())).lacking(PLACE.candidate) == said["StatusMessage"]
    assert group.lacking(PLACE.candidate) == ""


def test_scaling_is_suspended_and_resumed_once_and_nothing_else_is() -> None:
    endpoint = Endpoint()
    group = ScalingGroup(client(endpoint, "autoscaling"))
    for scales in (False, False, True, True):
        group.let_scale(PLACE.stable, scales)

    assert (endpoint.calls["suspend_processes"], endpoint.calls["resume_processes"]) == (1, 1)
    assert endpoint.suspended == {"stable": set(), "candidate": set()}
    group.let_scale(PLACE.stable, False)
    # Launch and Terminate go on: a node that is lost during a rollout is replaced.
    assert endpoint.suspended["stable"] == {"AlarmNotification"}
    assert group.wanted(PLACE.stable) == 4


def test_a_group_that_is_gone_is_named() -> None:
    class Gone:
        def describe_auto_scaling_groups(self, **_: object) -> dict[str, Any]:
            return {"AutoScalingGroups": []}

        describe_scaling_activities = set_desired_capacity = describe_auto_scaling_groups
        suspend_processes = resume_processes = describe_auto_scaling_groups

    with pytest.raises(LookupError, match="stable-group"):
        ScalingGroup(shaped("autoscaling", Gone())).let_scale(PLACE.stable, False)


class Store:
    """The parameter and the bucket."""

    def __init__(self, parameter: str | None, head: Exception | None = None) -> None:
        self.parameter, self.head, self.asked = parameter, head, dict[str, Any]()

    def get_parameter(self, **_: object) -> dict[str, Any]:
        if self.parameter is None:
            raise refused("ParameterNotFound", "GetParameter")
        return {"Parameter": {"Value": self.parameter}}

    def put_parameter(self, **_: object) -> dict[str, Any]:
        raise AssertionError

    def head_object(self, **request: Any) -> dict[str, Any]:
        self.asked = request
        if self.head is not None:
            raise self.head
        return {}


def test_an_artifact_is_whole_when_its_index_is_there() -> None:
    there = Store(json.dumps({"table": "t", "bucket": "b"}))

    assert ArtifactStore(shaped("ssm", there), shaped("s3", there), "/p").has("neuron-artifacts/chat/1f") is True
    assert there.asked == {"Bucket": "b", "Key": "neuron-artifacts/chat/1f/index.json"}
    absent = Store(json.dumps({"bucket": "b"}), refused("404", "HeadObject"))
    assert ArtifactStore(shaped("ssm", absent), shaped("s3", absent), "/p").has("a") is False
    nowhere = Store(None)
    assert ArtifactStore(shaped("ssm", nowhere), shaped("s3", nowhere), "/p").has("a") is None
    denied = Store(json.dumps({"bucket": "b"}), refused("403", "HeadObject"))
    with pytest.raises(ClientError, match="403"):
        ArtifactStore(shaped("ssm", denied), shaped("s3", denied), "/p").has("a")


class Reports:
    """S3 with one report; remembers what was asked."""

    def __init__(self, content: bytes) -> None:
        self.content, self.asked = content, list[tuple[str, str]]()

    def list_objects_v2(self, **request: Any) -> dict[str, Any]:
        self.asked.append((request["Bucket"], request["Prefix"]))
        return {"Contents": [{"Key": f"{request['Prefix']}t1.json"}]} if self.content else {}

    def get_object(self, **request: Any) -> dict[str, Any]:
        self.asked.append((request["Bucket"], request["Key"]))
        return {"Body": BytesIO(self.content)}


def test_the_report_of_each_task_is_read_and_of_the_others_there_is_none() -> None:
    one = Comparison("chat:8", "t1", "chat:7", equal=3, worst=(Different("r1", "/v1/completions", 0.5),))
    s3 = Reports(encode(one))

    assert ShadowReports(shaped("s3", s3)).of(PLACE, NEW, ("t1", "t2")) == (one, None)
    assert s3.asked == [("shadow", "reports/chat/chat:8/"), ("shadow", "reports/chat/chat:8/t1.json")]
    assert ShadowReports(shaped("s3", Reports(b""))).of(PLACE, NEW, ("t1",)) == (None,)


@pytest.mark.parametrize("content", [b"{", b"[]", b'{"version": "chat:8"}', encode(Comparison("v", "t"))[:-9]])
def test_a_report_that_cannot_be_read_is_none(content: bytes) -> None:
    assert ShadowReports(shaped("s3", Reports(content))).of(PLACE, NEW, ("t1",)) == (None,)


def test_a_bucket_that_refuses_ends_the_look() -> None:
    endpoint = Endpoint()

    def deny(call: str) -> None:
        raise refused("AccessDenied", call)

    endpoint.disturb = deny
    with pytest.raises(ClientError, match="AccessDenied"):
        ShadowReports(client(endpoint, "s3")).of(PLACE, NEW, ("t1",))


def test_a_hosted_endpoint_has_sagemakers_sides_and_everything_else_as_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-2")
    ours = Endpoint().dependencies()
    aws = adapters.of_sagemaker(ours, HOSTED)

    kinds = [type(each) for each in (aws.balancer, aws.services, aws.nodes, aws.measured)]
    assert kinds == [VariantWeights, Models, CandidateInstances, VariantFigures]
    assert (aws.store, aws.artifacts, aws.executions) == (ours.store, ours.artifacts, ours.executions)
