"""The endpoint of ``rollout_endpoint`` as SageMaker has it: two variants, one change at a time, minutes for each.

Store, executions and figures are those of the other world; what SageMaker answers is the embedded one's, in virtual
time, and the adapters are the real ones.
"""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from typing import Any

from botocore.exceptions import ClientError

from fleet.hosting.variants import CANDIDATE, STABLE
from fleet.load_balancer import EndpointNames
from fleet.rollout.facts import HostedPlace, Minute, SidePlace
from lambdas.rollout.ports import Dependencies
from lambdas.rollout.sagemaker.sides import CandidateInstances, Models, VariantWeights
from lambdas.rollout.sagemaker.state import read_once
from local.emulator.api.errors import AwsError
from local.emulator.hosting.service import Hosting
from tests.support.rollout_endpoint import NEW, OLD, START, Candidate, Endpoint, client
from tests.support.rollout_endpoint import PLACE as ON_NODES

ENDPOINT = "neuron-fleet-prod-chat"
REGION = "us-east-2"
HOSTED = HostedPlace(
    endpoint=ENDPOINT,
    declared="/neuron-fleet/prod/declared-model/chat/1",
    model={
        "PrimaryContainer": {"Image": "chat@sha256:8", "Environment": {"A": "1"}},
        "ExecutionRoleArn": "arn:aws:iam::1:role/r",
    },
    variant={"InstanceType": "ml.inf2.48xlarge"},
    key="arn:aws:kms:us-east-2:1:key/k",
    tags={"project": "neuron-fleet"},
)


def side(name: str) -> SidePlace:
    return SidePlace(cluster=ENDPOINT, service=name, target_group="", group="", names=EndpointNames("", ""))


PLACE = replace(
    ON_NODES, rule="", stable=side(STABLE), candidate=side(CANDIDATE), family=ENDPOINT, container="", scales=True,
    hosted=HOSTED,
)  # fmt: skip
# What of SageMaker is called, by boto3's names.
CALLS = {
    "describe_endpoint": "DescribeEndpoint",
    "describe_endpoint_config": "DescribeEndpointConfig",
    "create_endpoint_config": "CreateEndpointConfig",
    "create_model": "CreateModel",
    "update_endpoint": "UpdateEndpoint",
    "update_endpoint_weights_and_capacities": "UpdateEndpointWeightsAndCapacities",
}


class HostedEndpoint(Endpoint):
    """``halves`` mirror what SageMaker has, for whoever asks for them."""

    place = PLACE

    def __init__(self, candidate: Candidate | None = None, requests_per_minute: int = 600) -> None:
        super().__init__(candidate, requests_per_minute)
        self.hosting = Hosting("1", self._seconds, weights_seconds=60, comes_up=self._comes_up)
        self._operations = self.hosting.operations()
        for model in (OLD, NEW):
            self.sagemaker("CreateModel", ModelName=model)
        first = {
            "VariantName": STABLE, "ModelName": OLD, "InitialInstanceCount": 4, "InitialVariantWeight": 100.0,
        }  # fmt: skip
        self.sagemaker("CreateEndpointConfig", EndpointConfigName="first", ProductionVariants=[first])
        self.sagemaker("CreateEndpoint", EndpointName=ENDPOINT, EndpointConfigName="first")
        self.scaling: dict[str, bool] = {}
        self.was_suspended_while_shared = True
        self.parameters = {HOSTED.declared: NEW}
        self.has_room = True
        super().advance(3)
        self._mirror()

    def _seconds(self) -> float:
        return self.now.timestamp()

    def _comes_up(self, variant: Mapping[str, Any]) -> bool:
        is_stuck = self.is_stable_stuck and variant["VariantName"] == STABLE and variant["ModelName"] == NEW
        return not is_stuck and (variant["ModelName"] != NEW or self.candidate_does.is_healthy)

    def sagemaker(self, operation: str, **request: Any) -> dict[str, Any]:
        try:
            return self._operations[operation](REGION, request)
        except AwsError as error:
            raise ClientError({"Error": {"Code": error.code, "Message": error.message}}, operation) from error

    def __getattr__(self, name: str) -> Any:
        if name not in CALLS:
            raise AttributeError(name)
        return lambda **request: self._asked(CALLS[name], **request)

    def _asked(self, operation: str, **request: Any) -> dict[str, Any]:
        if operation == "UpdateEndpoint" and not self.has_room:
            limit = "The account-level service limit 'ml.inf2.48xlarge for endpoint usage' is 4 Instances"
            raise ClientError({"Error": {"Code": "ResourceLimitExceeded", "Message": limit}}, operation)
        answer = self.sagemaker(operation, **request)
        if operation == "UpdateEndpointWeightsAndCapacities":
            stable, candidate = (int(each["DesiredWeight"]) for each in request["DesiredWeightsAndCapacities"])
            self.weight_history.append((stable, candidate))
        return answer

    def dependencies(self) -> Dependencies:
        return self._dependencies(client(self, "sagemaker"))

    def dependencies_of_one_look(self) -> Dependencies:
        """As the function makes them: the endpoint is read once, and again after a change."""
        return self._dependencies(read_once(client(self, "sagemaker")))

    def _dependencies(self, sagemaker: Any) -> Dependencies:
        return replace(
            super().dependencies(),
            balancer=VariantWeights(sagemaker, HOSTED),
            services=Models(sagemaker, client(self, "ssm"), HOSTED),
            nodes=CandidateInstances(sagemaker, client(self, "application-autoscaling"), HOSTED),
        )

    def somebody_shares(self, stable: int, candidate: int) -> None:
        """Somebody else changes the weights, if SageMaker takes it."""
        shares = {STABLE: stable, CANDIDATE: candidate}
        changes = [{"VariantName": name, "DesiredWeight": share} for name, share in shares.items()]
        try:
            self.sagemaker(
                "UpdateEndpointWeightsAndCapacities", EndpointName=ENDPOINT, DesiredWeightsAndCapacities=changes
            )
        except ClientError:
            return

    def advance(self, seconds: float) -> None:
        self.hosting.change_seconds = self.delay.total_seconds()
        self.now += timedelta(seconds=seconds)
        self._mirror()
        if self.nodes_wanted not in (None, self.halves[STABLE].asked) and not any(self.scaling.values()):
            self._scale()
        if self.shares[1] > 0:
            self.was_suspended_while_shared &= all(self.scaling.values()) and bool(self.scaling)
        for name, half in self.halves.items():
            share = self.shares[name == CANDIDATE] / 100
            count = round(self.requests_per_minute * share * seconds / 60)
            if count:
                new = half.running == NEW
                errors = round(count * self.candidate_does.error_percent / 100) if new else 0
                p99 = self.candidate_does.p99 if new else 0.2
                half.minutes.append(Minute(self.now.replace(second=0), count, errors, p99))

    def _scale(self) -> None:
        """What Application Auto Scaling does by the load, if SageMaker takes it."""
        change = {"VariantName": STABLE, "DesiredInstanceCount": self.nodes_wanted}
        with suppress(ClientError):
            self.sagemaker(
                "UpdateEndpointWeightsAndCapacities", EndpointName=ENDPOINT, DesiredWeightsAndCapacities=[change]
            )

    def _mirror(self) -> None:
        variants = self.hosting.variants(REGION, ENDPOINT)
        for name, half in self.halves.items():
            found = variants.get(name)
            half.running = half.target = found["ModelName"] if found else ""
            half.nodes = half.healthy = half.asked = found["CurrentInstanceCount"] if found else 0
        total = sum(each["CurrentWeight"] for each in variants.values())
        candidate = round(100 * variants[CANDIDATE]["CurrentWeight"] / total) if CANDIDATE in variants else 0
        self.weights = {"arn:stable": 100 - candidate, "arn:candidate": candidate}

    def minutes_of(self, of: SidePlace) -> list[Minute]:
        return self.halves[of.service].minutes

    def describe_scalable_targets(self, **request: Any) -> dict[str, Any]:
        assert request["ResourceIds"] == [f"endpoint/{ENDPOINT}/variant/{STABLE}"]
        target = {
            "ServiceNamespace": "sagemaker", "ResourceId": request["ResourceIds"][0],
            "ScalableDimension": request["ScalableDimension"], "MinCapacity": 1, "MaxCapacity": 8,
            "RoleARN": "arn:aws:iam::1:role/r", "CreationTime": START,
        }  # fmt: skip
        return {"ScalableTargets": [{**target, "SuspendedState": self.scaling} if self.scaling else target]}

    def register_scalable_target(self, **request: Any) -> dict[str, Any]:
        assert request.keys() == {"ServiceNamespace", "ResourceId", "ScalableDimension", "SuspendedState"}
        self.scaling = request["SuspendedState"]
        self.suspended["stable"] = {"AlarmNotification"} if all(self.scaling.values()) else set()
        return {}

    def get_parameter(self, Name: str) -> dict[str, Any]:  # noqa: N803 - as AWS names it
        return {"Parameter": {"Value": self.parameters[Name]}}
