"""SageMaker's endpoints and their scaling, which ministack does not have: two services, and the types of templates.

Application Auto Scaling of variants: what stacks have registered, and what was suspended since.

Nothing scales by load here; a variant has at least as many instances as its target says.
"""

import json
import secrets
from collections.abc import Callable, Mapping
from typing import Any, Final

import ministack.app
from ministack.core import router
from ministack.core.responses import get_region
from ministack.services.cloudformation import provisioners

from local.emulator.api.answers import served
from local.emulator.api.errors import AwsError, Response, answer
from local.emulator.api.requests import ApiRequest, service_model
from local.emulator.faults import FaultStore
from local.emulator.hosting.endpoint import Entry
from local.emulator.hosting.service import Hosting, Operation
from local.emulator.platform import Platform
from local.emulator.resources.schemas import checked
from local.emulator.resources.store import Made, Resource, ResourceStore, SchemaBackedHandler

TYPE = "AWS::ApplicationAutoScaling::ScalableTarget"


class ScalableTargets:
    """Those of ``resources``, which stacks make."""

    def __init__(self, resources: ResourceStore, hosting: Hosting) -> None:
        self._resources, self._hosting = resources, hosting
        self._suspended: dict[tuple[str, str], Entry] = {}

    def operations(self) -> dict[str, Operation]:
        """By their names in the API."""
        return {"DescribeScalableTargets": self.describe, "RegisterScalableTarget": self.register}

    def describe(self, region: str, asked: Mapping[str, Any]) -> Entry:
        """DescribeScalableTargets."""
        wanted = asked.get("ResourceIds")
        found = [each.properties for each in self._resources.of_type(region, TYPE)]
        shown = [
            {
                **{key: each[key] for key in ("ServiceNamespace", "ResourceId", "ScalableDimension")},
                **{key: int(each[key]) for key in ("MinCapacity", "MaxCapacity")},
                "RoleARN": f"arn:aws:iam::{self._hosting.account}:role/aws-service-role/scaling",
                "CreationTime": 0,
                "SuspendedState": self._suspended.get((region, each["ResourceId"]), _NOTHING),
            }
            for each in found
            if not wanted or each["ResourceId"] in wanted
        ]
        return {"ScalableTargets": shown}

    def register(self, region: str, asked: Mapping[str, Any]) -> Entry:
        """RegisterScalableTarget of one that is there: what is suspended of it."""
        known = [each.properties["ResourceId"] for each in self._resources.of_type(region, TYPE)]
        if asked["ResourceId"] not in known:
            raise AwsError("ValidationException", "MinCapacity and MaxCapacity are required for a new scalable target")
        self._suspended[region, asked["ResourceId"]] = {**_NOTHING, **asked.get("SuspendedState", {})}
        return {}

    def made(self, target: Resource) -> None:
        """Bring the variant to the least that it may have."""
        _, endpoint, _, variant = target.properties["ResourceId"].split("/")
        self._hosting.scale_at_least(target.region, endpoint, variant, int(target.properties["MinCapacity"]))


_NOTHING: Entry = {
    "DynamicScalingInSuspended": False,
    "DynamicScalingOutSuspended": False,
    "ScheduledScalingSuspended": False,
}


_SAGEMAKER: Final = "sagemaker"
_SCALING: Final = "application-autoscaling"
_TARGET: Final = "AWS::ApplicationAutoScaling::ScalableTarget"


def serve_hosting(platform: Platform) -> None:
    """``SERVICE_PATTERNS``, ``SERVICE_HANDLERS`` and ``_RESOURCE_HANDLERS``."""
    hosting = Hosting(platform.account, platform.clock.now, comes_up=lambda variant: _answers(platform.faults, variant))
    targets = ScalableTargets(platform.resources, hosting)
    _serve(_SAGEMAKER, hosting.operations())
    _serve(_SCALING, targets.operations())
    for kind in ("Model", "EndpointConfig", "Endpoint"):
        provisioners._RESOURCE_HANDLERS[f"AWS::SageMaker::{kind}"] = _Templates(kind, hosting).handlers()
    handler = SchemaBackedHandler(_TARGET, platform.account, get_region, platform.resources, made=targets.made)
    provisioners._RESOURCE_HANDLERS[_TARGET] = handler.handlers()


def _answers(faults: FaultStore, variant: Mapping[str, Any]) -> bool:
    """Whether a variant's container answers a ping: unless a failing update is injected on its ``Image``."""
    try:
        faults.check("sagemaker:UpdateEndpoint", {"Image": variant["Image"]})
    except AwsError:
        return False
    return True


def _serve(service: str, operations: Mapping[str, Callable[[str, Mapping[str, Any]], dict[str, Any]]]) -> None:
    model = service_model(service)

    async def handle(
        method: str, path: str, headers: Mapping[str, str], body: bytes, query: Mapping[str, Any]
    ) -> Response:
        request = ApiRequest(method, path, headers, body, query)
        operation = operations.get(request.target)
        if operation is None:
            message = f"The operation {request.target} is not served here"
            return answer(AwsError("UnknownOperationException", message), service, request)
        return served(service, lambda asked: operation(get_region(), asked))(json.loads(body or b"{}"))

    patterns = {"target_prefixes": [model.metadata["targetPrefix"]], "credential_scope": model.signing_name}
    router.SERVICE_PATTERNS[service] = patterns
    ministack.app.SERVICE_HANDLERS[service] = handle


class _Templates:
    """One of SageMaker's types in a stack. Ref answers the ARN, Fn::GetAtt the name."""

    def __init__(self, kind: str, hosting: Hosting) -> None:
        self._kind, self._operations = kind, hosting.operations()

    def handlers(self) -> dict[str, Any]:
        """As ministack's CloudFormation calls them."""
        return {"create": self.create, "update": self.update, "update_with_logical_id": True, "delete": self.delete}

    def create(self, logical_id: str, properties: Mapping[str, Any], _stack: str) -> Made:
        """Make it; without a name it gets one that no other has."""
        key = f"{self._kind}Name"
        settings = checked(f"AWS::SageMaker::{self._kind}", get_region(), properties)
        settings[key] = settings.get(key) or f"{logical_id[:50]}-{secrets.token_hex(6)}"
        arn = self._operations[f"Create{self._kind}"](get_region(), settings)[f"{self._kind}Arn"]
        return arn, {key: settings[key], f"{self._kind}Arn": arn}

    def update(self, physical_id: str, old: Mapping[str, Any], new: Mapping[str, Any], *place: str) -> Made:
        """An endpoint is given another configuration; the others are made anew, and what was there stays."""
        key = f"{self._kind}Name"
        if old == new:
            return physical_id, {key: physical_id.rpartition("/")[2], f"{self._kind}Arn": physical_id}
        if self._kind == "Endpoint":
            self._operations["UpdateEndpoint"](get_region(), new)
            return physical_id, {key: new[key], "EndpointArn": physical_id}
        return self.create(place[-1], new, place[0])

    def delete(self, _physical_id: str, properties: Mapping[str, Any]) -> None:
        """Forget what has a name of its own; a model without one is kept, as templates here ask for."""
        key = f"{self._kind}Name"
        if properties.get(key):
            self._operations[f"Delete{self._kind}"](get_region(), {key: properties[key]})
