"""What each adapter asks SageMaker, by AWS's own model of the calls, and what it makes of refusals and of silence."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError
from botocore.stub import ANY, Stubber

from fleet.hosting.variants import CANDIDATE, STABLE
from fleet.rollout.facts import Minute, Side
from lambdas.rollout.figures import VariantFigures
from lambdas.rollout.ports import BusyError, NoRoomError
from lambdas.rollout.sagemaker.sides import CandidateInstances, Models, VariantWeights
from lambdas.rollout.sagemaker.state import EndpointLostError
from tests.support.client_shapes import shaped
from tests.support.hosted_endpoint import ENDPOINT, HOSTED, PLACE

AT = datetime(2026, 11, 22, 9, 0, tzinfo=UTC)
ARN = f"arn:aws:sagemaker:us-east-2:111122223333:endpoint/{ENDPOINT}"
RESOURCE = f"endpoint/{ENDPOINT}/variant/stable"
BOTH = {STABLE: ("old", 100.0, 4), CANDIDATE: ("new", 0.0, 4)}
SAGEMAKER_BUSY = f'Cannot update in-progress endpoint "{ARN}".'


def api(service: Any) -> Any:
    return boto3.client(
        service, region_name="us-east-2", aws_access_key_id="x", aws_secret_access_key="x", endpoint_url="http://x"
    )


def described(
    variants: dict[str, tuple[str, float, int]], status: str = "InService", *, pending: str = "", failure: str = ""
) -> dict[str, Any]:
    return {
        "EndpointName": ENDPOINT,
        "EndpointArn": ARN,
        "EndpointConfigName": "serving",
        "EndpointStatus": status,
        "CreationTime": AT,
        "LastModifiedTime": AT,
        "ProductionVariants": [
            {
                "VariantName": name, "CurrentWeight": weight, "DesiredWeight": weight,
                "CurrentInstanceCount": count, "DesiredInstanceCount": count,
            }
            for name, (_, weight, count) in variants.items()
        ],
        **({"PendingDeploymentSummary": {"EndpointConfigName": pending}} if pending else {}),
        **({"FailureReason": failure} if failure else {}),
    }  # fmt: skip


class Told:
    """SageMaker as a stub: each answer is of one call, in order."""

    def __init__(self) -> None:
        self.sagemaker, self.scaling, self.ssm = api("sagemaker"), api("application-autoscaling"), api("ssm")
        self.stubs = {name: Stubber(getattr(self, name)) for name in ("sagemaker", "scaling", "ssm")}

    def endpoint(self, variants: dict[str, tuple[str, float, int]], status: str = "InService", **more: str) -> "Told":
        """One reading: the endpoint, its configuration, and the one that is coming."""
        stub = self.stubs["sagemaker"]
        stub.add_response("describe_endpoint", described(variants, status, **more), {"EndpointName": ENDPOINT})
        models = {name: model for name, (model, _, _) in variants.items()}
        self._configuration("serving", models)
        if more.get("pending"):
            self._configuration(more["pending"], {**models, CANDIDATE: "new"})
        return self

    def _configuration(self, name: str, models: dict[str, str]) -> None:
        answer = {
            "EndpointConfigName": name,
            "EndpointConfigArn": "arn:aws:sagemaker:us-east-2:111122223333:endpoint-config/x",
            "CreationTime": AT,
            "ProductionVariants": [
                {"VariantName": variant, "ModelName": model, "InstanceType": "ml.inf2.48xlarge"}
                for variant, model in models.items()
            ],
        }
        self.stubs["sagemaker"].add_response("describe_endpoint_config", answer, {"EndpointConfigName": name})

    def expects(self, call: str, answer: dict[str, Any], asked: dict[str, Any], of: str = "sagemaker") -> "Told":
        self.stubs[of].add_response(call, answer, asked)
        return self

    def refuses(self, call: str, code: str, message: str = "", of: str = "sagemaker") -> "Told":
        self.stubs[of].add_client_error(call, code, message)
        return self

    @contextmanager
    def done(self) -> Iterator[None]:
        """In it, all that was told is asked for, and nothing else."""
        for stub in self.stubs.values():
            stub.activate()
        yield
        for stub in self.stubs.values():
            stub.assert_no_pending_responses()

    @property
    def weights(self) -> VariantWeights:
        return VariantWeights(self.sagemaker, HOSTED)

    @property
    def models(self) -> Models:
        return Models(self.sagemaker, self.ssm, HOSTED)

    @property
    def instances(self) -> CandidateInstances:
        return CandidateInstances(self.sagemaker, self.scaling, HOSTED)


def shared(stable: float, candidate: float) -> dict[str, tuple[str, float, int]]:
    return {STABLE: ("old", stable, 4), CANDIDATE: ("new", candidate, 4)}


def asked_weights(stable: float, candidate: float) -> dict[str, Any]:
    weights = [{"VariantName": STABLE, "DesiredWeight": stable}, {"VariantName": CANDIDATE, "DesiredWeight": candidate}]
    return {"EndpointName": ENDPOINT, "DesiredWeightsAndCapacities": weights}


@pytest.mark.parametrize(
    ("variants", "percents"),
    [
        (shared(95, 5), (95, 5)),
        # Weights are shares of their sum, whoever has set them.
        (shared(3, 1), (75, 25)),
        ({STABLE: ("old", 1.0, 2)}, (100, 0)),
    ],
)
def test_weights_are_percents_of_what_serves(
    variants: dict[str, tuple[str, float, int]], percents: tuple[int, int]
) -> None:
    told = Told().endpoint(variants)
    with told.done():
        assert told.weights.weights(PLACE) == percents


def test_both_weights_are_set_in_one_call_and_read_back() -> None:
    told = Told().endpoint(BOTH).expects(
        "update_endpoint_weights_and_capacities", {"EndpointArn": ARN}, asked_weights(75.0, 25.0)
    )  # fmt: skip
    told.endpoint(shared(75, 25))
    with told.done():
        told.weights.set_weights(PLACE, 25)


def test_weights_that_do_not_show_yet_are_waited_for() -> None:
    told = Told().endpoint(BOTH).expects("update_endpoint_weights_and_capacities", {"EndpointArn": ARN}, ANY_WEIGHTS)
    told.endpoint(BOTH, "Updating")
    with told.done(), pytest.raises(BusyError, match="75 and 25"):
        told.weights.set_weights(PLACE, 25)


ANY_WEIGHTS = {"EndpointName": ENDPOINT, "DesiredWeightsAndCapacities": ANY}


@pytest.mark.parametrize("status", ["Updating", "Creating", "SystemUpdating", "RollingBack"])
def test_nothing_is_asked_of_an_endpoint_that_is_at_something(status: str) -> None:
    told = Told().endpoint(BOTH, status)
    with told.done(), pytest.raises(BusyError, match=status):
        told.weights.set_weights(PLACE, 25)


@pytest.mark.parametrize("status", ["Failed", "OutOfService", "UpdateRollbackFailed"])
def test_an_endpoint_that_nothing_brings_back_is_no_wait(status: str) -> None:
    told = Told().endpoint(BOTH, status, failure="no capacity")
    with told.done(), pytest.raises(EndpointLostError, match="no capacity"):
        told.weights.set_weights(PLACE, 25)


def test_its_own_scaling_may_come_first() -> None:
    told = Told().endpoint(BOTH)
    told.refuses("update_endpoint_weights_and_capacities", "ValidationException", SAGEMAKER_BUSY)
    with told.done(), pytest.raises(BusyError):
        told.weights.set_weights(PLACE, 25)


def test_another_refusal_is_one() -> None:
    told = Told().endpoint(BOTH)
    told.refuses("update_endpoint_weights_and_capacities", "ThrottlingException", "Rate exceeded")
    with told.done(), pytest.raises(ClientError, match="Rate exceeded"):
        told.weights.set_weights(PLACE, 25)


def test_instances_that_answer_are_those_that_sagemaker_counts() -> None:
    told = Told().endpoint(BOTH).endpoint({STABLE: ("old", 100.0, 3)})
    with told.done():
        assert told.weights.healthy(PLACE.candidate) == 4
        assert told.weights.healthy(PLACE.candidate) == 0


def test_variants_that_nobody_rolled_out_are_left_alone() -> None:
    told = Told().endpoint({STABLE: ("old", 1.0, 2), "mine": ("x", 1.0, 1)})
    with told.done(), pytest.raises(EndpointLostError, match="mine"):
        told.weights.weights(PLACE)


def configured(*variants: tuple[str, str, int, float]) -> dict[str, Any]:
    production = [
        {
            "InstanceType": "ml.inf2.48xlarge", "VariantName": name, "ModelName": model,
            "InitialInstanceCount": count, "InitialVariantWeight": weight,
        }
        for name, model, count, weight in variants
    ]  # fmt: skip
    return {
        "EndpointConfigName": ANY,
        "ProductionVariants": production,
        "KmsKeyId": HOSTED.key,
        "Tags": [{"Key": "project", "Value": "neuron-fleet"}],
    }


CONFIGURED = {"EndpointConfigArn": "arn:aws:sagemaker:us-east-2:111122223333:endpoint-config/x"}
UPDATED = {"EndpointName": ENDPOINT, "EndpointConfigName": ANY}


def test_a_candidate_comes_beside_the_stable_variant_with_as_many_instances_and_no_request() -> None:
    told = Told().endpoint({STABLE: ("old", 100.0, 4)})
    told.expects(
        "create_endpoint_config", CONFIGURED, configured((STABLE, "old", 4, 100.0), (CANDIDATE, "new", 4, 0.0))
    )
    told.expects("update_endpoint", {"EndpointArn": ARN}, UPDATED)
    with told.done():
        told.models.run(PLACE.candidate, "new")


def test_a_promotion_changes_the_model_of_the_variant_without_requests_and_nothing_else() -> None:
    told = Told().endpoint(shared(0, 100))
    told.expects(
        "create_endpoint_config", CONFIGURED, configured((STABLE, "new", 4, 0.0), (CANDIDATE, "new", 4, 100.0))
    )
    told.expects("update_endpoint", {"EndpointArn": ARN}, UPDATED)
    with told.done():
        told.models.run(PLACE.stable, "new")


def test_a_configuration_that_an_earlier_look_made_is_used() -> None:
    told = Told().endpoint({STABLE: ("old", 100.0, 4)})
    told.refuses(
        "create_endpoint_config", "ValidationException", "Cannot create already existing endpoint configuration"
    )
    told.expects("update_endpoint", {"EndpointArn": ARN}, UPDATED)
    with told.done():
        told.models.run(PLACE.candidate, "new")


@pytest.mark.parametrize("call", ["create_endpoint_config", "update_endpoint"])
def test_what_sagemaker_refuses_for_good_is_raised(call: str) -> None:
    told = Told().endpoint({STABLE: ("old", 100.0, 4)})
    if call == "update_endpoint":
        told.expects("create_endpoint_config", CONFIGURED, {**configured(), "ProductionVariants": ANY})
    told.refuses(call, "AccessDeniedException", "not authorized")
    with told.done(), pytest.raises(ClientError, match="not authorized"):
        told.models.run(PLACE.candidate, "new")


def test_a_quota_without_room_is_waited_for() -> None:
    told = Told().endpoint({STABLE: ("old", 100.0, 4)})
    told.expects("create_endpoint_config", CONFIGURED, {**configured(), "ProductionVariants": ANY})
    told.refuses("update_endpoint", "ResourceLimitExceeded", "ml.inf2.48xlarge for endpoint usage is 4")
    with told.done(), pytest.raises(NoRoomError, match=r"no room for it: ml.* for endpoint usage"):
        told.models.run(PLACE.candidate, "new")


def test_what_serves_is_told_from_what_is_coming() -> None:
    alone = {STABLE: ("old", 100.0, 4)}
    told = Told().endpoint(alone, "Updating", pending="next").endpoint(alone, "Updating", pending="next")
    told.endpoint(alone, "Updating", pending="next")
    with told.done():
        assert told.models.of(PLACE.stable) == Side(versions=frozenset({"old"}), is_settled=False)
        assert told.models.of(PLACE.candidate) == Side(versions=frozenset(), is_settled=False)
        assert told.models.target(PLACE.candidate) == "new"


def test_how_many_instances_a_side_is_to_have() -> None:
    alone = {STABLE: ("old", 100.0, 4)}
    told = Told().endpoint(alone).endpoint(alone)
    with told.done():
        assert told.instances.wanted(PLACE.stable) == 4
        assert told.instances.wanted(PLACE.candidate) == 0


def test_a_silent_way_back_shows_in_what_serves_and_its_reason_is_quoted() -> None:
    reason = "The primary container for production variant candidate did not pass the ping health check."
    alone = {STABLE: ("old", 100.0, 4)}
    told = Told().endpoint(alone, failure=reason).endpoint(alone, failure=reason).endpoint(alone)
    with told.done():
        assert told.models.target(PLACE.candidate) == ""
        assert told.instances.lacking(PLACE.candidate) == f"SageMaker went back by itself: {reason}"
        assert told.instances.lacking(PLACE.candidate) == "SageMaker went back by itself: it gives no reason"


@pytest.mark.parametrize(("variants", "pending"), [(BOTH, ""), ({STABLE: ("old", 100.0, 4)}, "next")])
def test_a_reason_of_an_earlier_attempt_is_none_of_this_one(
    variants: dict[str, tuple[str, float, int]], pending: str
) -> None:
    told = Told().endpoint(variants, "Updating" if pending else "InService", pending=pending, failure="of last week")
    with told.done():
        assert told.instances.lacking(PLACE.candidate) == ""


def test_what_was_deployed_last_is_in_a_parameter() -> None:
    answer = {"Parameter": {"Name": HOSTED.declared, "Value": "declared-1a", "Type": "String", "Version": 3}}
    told = Told().expects("get_parameter", answer, {"Name": HOSTED.declared}, of="ssm")
    with told.done():
        assert told.models.newest(PLACE) == "declared-1a"
    missing = Told().refuses("get_parameter", "ParameterNotFound", of="ssm")
    with missing.done(), pytest.raises(ClientError, match="ParameterNotFound"):
        missing.models.newest(PLACE)


def test_another_image_is_a_model_of_its_own_name_made_once() -> None:
    image = "chat@sha256:9"
    asked = {
        "ModelName": ANY,
        "Tags": [{"Key": "project", "Value": "neuron-fleet"}],
        "PrimaryContainer": {"Image": image, "Environment": {"A": "1"}},
        "ExecutionRoleArn": HOSTED.model["ExecutionRoleArn"],
    }
    answer = {"ModelArn": "arn:aws:sagemaker:us-east-2:111122223333:model/x-y"}
    told = Told().expects("create_model", answer, asked)
    told.refuses("create_model", "ValidationException", "Cannot create already existing model")
    told.refuses("create_model", "AccessDeniedException", "no")
    with told.done():
        first, second = told.models.register(PLACE, image), told.models.register(PLACE, image)
        with pytest.raises(ClientError, match="AccessDenied"):
            told.models.register(PLACE, image)

    assert first == second
    assert first.startswith(f"{ENDPOINT}-by-image-")
    # SageMaker API, ModelName: 63 characters at most.
    assert len(first) <= 63


def test_a_candidate_is_let_go_and_waited_for() -> None:
    told = Told().endpoint(BOTH)
    told.expects("create_endpoint_config", CONFIGURED, configured((STABLE, "old", 4, 100.0)))
    told.expects("update_endpoint", {"EndpointArn": ARN}, UPDATED)
    with told.done(), pytest.raises(BusyError, match="instances away"):
        told.instances.ask_for(PLACE.candidate, 0)


SUSPENSIONS = ("DynamicScalingInSuspended", "DynamicScalingOutSuspended", "ScheduledScalingSuspended")


def scaling(told: Told, is_suspended: bool | None) -> None:
    targets = [
        {
            "ServiceNamespace": "sagemaker", "ResourceId": RESOURCE, "MinCapacity": 2, "MaxCapacity": 8,
            "ScalableDimension": "sagemaker:variant:DesiredInstanceCount", "RoleARN": "arn", "CreationTime": AT,
            "SuspendedState": dict.fromkeys(SUSPENSIONS, is_suspended),
        }
    ]  # fmt: skip
    asked = {
        "ServiceNamespace": "sagemaker",
        "ResourceIds": [RESOURCE],
        "ScalableDimension": "sagemaker:variant:DesiredInstanceCount",
    }
    answer = {"ScalableTargets": [] if is_suspended is None else targets}
    told.expects("describe_scalable_targets", answer, asked, of="scaling")


def suspended(told: Told, is_suspended: bool) -> None:
    asked = {
        "ServiceNamespace": "sagemaker",
        "ResourceId": RESOURCE,
        "ScalableDimension": "sagemaker:variant:DesiredInstanceCount",
        "SuspendedState": dict.fromkeys(SUSPENSIONS, is_suspended),
    }
    told.expects("register_scalable_target", {}, asked, of="scaling")


def test_a_candidates_instances_come_and_go_with_it() -> None:
    told = Told().endpoint({STABLE: ("old", 100.0, 4)})
    with told.done():
        told.instances.ask_for(PLACE.candidate, 4)
        told.instances.ask_for(PLACE.candidate, 0)


@pytest.mark.parametrize("scales", [True, False])
@pytest.mark.parametrize("was_suspended", [True, False, None])
def test_scaling_is_told_what_it_does_not_do_already(was_suspended: bool | None, scales: bool) -> None:
    told = Told()
    scaling(told, was_suspended)
    if was_suspended is scales:
        suspended(told, not scales)
    with told.done():
        told.instances.let_scale(PLACE.stable, scales)


@pytest.mark.parametrize("call", ["describe_scalable_targets", "register_scalable_target"])
def test_scaling_that_cannot_be_suspended_is_no_rollout(call: str) -> None:
    told = Told()
    if call == "register_scalable_target":
        scaling(told, False)
    told.refuses(call, "ConcurrentUpdateException", "try later", of="scaling")
    with told.done(), pytest.raises(ClientError, match="try later"):
        told.instances.let_scale(PLACE.stable, False)


@pytest.mark.parametrize("call", ["describe_endpoint", "describe_endpoint_config"])
@pytest.mark.parametrize(
    "ask",
    [
        lambda told: told.weights.weights(PLACE),
        lambda told: told.weights.healthy(PLACE.stable),
        lambda told: told.models.of(PLACE.stable),
        lambda told: told.models.target(PLACE.stable),
        lambda told: told.instances.lacking(PLACE.candidate),
    ],
)
def test_an_endpoint_that_cannot_be_read_is_nothing_but_an_error(call: str, ask: Callable[[Told], Any]) -> None:
    told = Told()
    if call == "describe_endpoint_config":
        told.expects("describe_endpoint", described(BOTH), {"EndpointName": ENDPOINT})
    told.refuses(call, "ThrottlingException", "Rate exceeded")
    with told.done(), pytest.raises(ClientError, match="Rate exceeded"):
        ask(told)


class CloudWatch:
    def __init__(self, **series: dict[datetime, float]) -> None:
        self.series, self.asked = series, dict[str, Any]()

    def get_metric_data(self, **request: Any) -> dict[str, Any]:
        self.asked = request
        results = [
            {"Id": key, "Timestamps": list(values), "Values": list(values.values())}
            for key, values in self.series.items()
        ]
        return {"MetricDataResults": results}

    def describe_alarms(self, **_: Any) -> dict[str, Any]:
        return {}


def test_minutes_are_of_one_variant_and_latencies_are_in_microseconds() -> None:
    later = AT + timedelta(minutes=1)
    cloudwatch = CloudWatch(requests={AT: 100.0, later: 50.0}, errors={AT: 2.0, later: 0.0}, p99={AT: 200_000.0})
    side = VariantFigures(shaped("cloudwatch", cloudwatch)).add_to(
        Side(), PLACE, PLACE.candidate, (), (AT + timedelta(seconds=40), later)
    )

    assert side.minutes == (Minute(AT, 100, 2, 0.2), Minute(later, 50, 0, None))
    # Nobody measures these there, and nothing missing is zero.
    assert (side.runtime_errors, side.usd_per_million_tokens) == (None, None)
    assert cloudwatch.asked["StartTime"] == AT
    stats = {q["MetricStat"]["Metric"]["MetricName"]: q["MetricStat"] for q in cloudwatch.asked["MetricDataQueries"]}
    assert {name: stat["Stat"] for name, stat in stats.items()} == {
        "Invocations": "Sum", "Invocation5XXErrors": "Sum", "Invocation4XXErrors": "Sum",
        "InvocationModelErrors": "Sum", "ModelLatency": "p99",
    }  # fmt: skip
    assert stats["Invocations"]["Metric"]["Namespace"] == "AWS/SageMaker"
    assert stats["Invocations"]["Metric"]["Dimensions"] == [
        {"Name": "EndpointName", "Value": ENDPOINT}, {"Name": "VariantName", "Value": "candidate"}
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("counted", "failed"),
    [
        # Time-outs and broken connections are no 5xx, and no answers.
        ({"errors": {AT: 1.0}, "not_good": {AT: 5.0}}, 5),
        # What the caller did wrong is none of the model's.
        ({"errors": {AT: 1.0}, "refused": {AT: 30.0}, "not_good": {AT: 31.0}}, 1),
        ({"refused": {AT: 30.0}, "not_good": {AT: 30.0}}, 0),
        ({"not_good": {AT: 2.0}}, 2),
        ({"errors": {AT: 3.0}}, 3),
    ],
)
def test_a_request_that_the_model_never_answered_has_failed(counted: dict[str, Any], failed: int) -> None:
    cloudwatch = CloudWatch(requests={AT: 100.0}, **counted)
    side = VariantFigures(shaped("cloudwatch", cloudwatch)).add_to(Side(), PLACE, PLACE.candidate, (), (AT, AT))

    assert side.minutes == (Minute(AT, 100, failed, None),)
