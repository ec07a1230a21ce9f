"""The operations of SageMaker that rollouts and templates need, by region."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from local.emulator.api.errors import AwsError
from local.emulator.hosting.endpoint import ComesUp, Endpoint, Entry

Operation = Callable[[str, Mapping[str, Any]], Entry]


def _always(_variant: Mapping[str, Any]) -> bool:
    return True


@dataclass(slots=True)
class Hosting:
    """Of one account. ``comes_up`` says whether a variant's instances, of this ``Image``, answer a ping."""

    account: str
    now: Callable[[], float]
    change_seconds: float = 2.0
    """How long a change of configuration takes; hours of virtual time know nothing of minutes."""
    weights_seconds: float = 0.5
    comes_up: ComesUp = _always
    _models: dict[tuple[str, str], Entry] = field(default_factory=dict)
    _configurations: dict[tuple[str, str], Entry] = field(default_factory=dict)
    _endpoints: dict[tuple[str, str], Endpoint] = field(default_factory=dict)

    def operations(self) -> dict[str, Operation]:
        """By their names in the API."""
        return {
            "CreateModel": self.create_model,
            "DescribeModel": lambda region, asked: self._found(self._models, region, asked["ModelName"], "model"),
            "DeleteModel": lambda region, asked: self._gone(self._models, region, asked["ModelName"]),
            "CreateEndpointConfig": self.create_configuration,
            "DescribeEndpointConfig": lambda region, asked: self._configuration(region, asked["EndpointConfigName"]),
            "DeleteEndpointConfig": lambda region, asked: self._gone(
                self._configurations, region, asked["EndpointConfigName"]
            ),
            "CreateEndpoint": self.create_endpoint,
            "DescribeEndpoint": lambda region, asked: self._endpoint(region, asked["EndpointName"]).described(),
            "UpdateEndpoint": self.update_endpoint,
            "UpdateEndpointWeightsAndCapacities": self.update_weights,
            "DeleteEndpoint": lambda region, asked: self._gone(self._endpoints, region, asked["EndpointName"]),
        }

    def create_model(self, region: str, asked: Mapping[str, Any]) -> Entry:
        """CreateModel."""
        return {"ModelArn": self._make(self._models, region, "model", asked["ModelName"], dict(asked))}

    def create_configuration(self, region: str, asked: Mapping[str, Any]) -> Entry:
        """CreateEndpointConfig; a variant's model has to be there."""
        for each in asked["ProductionVariants"]:
            self._found(self._models, region, each["ModelName"], "model")
            if int(each["InitialInstanceCount"]) < 1:
                raise AwsError("ValidationException", "InitialInstanceCount: must be greater than or equal to 1")
        name = asked["EndpointConfigName"]
        arn = self._arn(region, "endpoint-config", name)
        # DescribeEndpointConfig answers no tags.
        given = {key: value for key, value in asked.items() if key != "Tags"}
        entry = {**given, "EndpointConfigArn": arn, "CreationTime": 0}
        self._make(self._configurations, region, "endpoint configuration", name, entry)
        return {"EndpointConfigArn": arn}

    def create_endpoint(self, region: str, asked: Mapping[str, Any]) -> Entry:
        """CreateEndpoint."""
        name, configuration = asked["EndpointName"], asked["EndpointConfigName"]
        variants = self._configuration(region, configuration)["ProductionVariants"]
        coming = (configuration, [dict(each) for each in variants])
        if (region, name) in self._endpoints:
            raise AwsError("ValidationException", f'Cannot create already existing endpoint "{name}".')
        arn = self._arn(region, "endpoint", name)
        made = Endpoint(name, arn, configuration, coming=coming, until=self.now() + self.change_seconds)
        self._endpoints[region, name] = made
        return {"EndpointArn": arn}

    def update_endpoint(self, region: str, asked: Mapping[str, Any]) -> Entry:
        """UpdateEndpoint."""
        endpoint, configuration = self._endpoint(region, asked["EndpointName"]), asked["EndpointConfigName"]
        variants = self._configuration(region, configuration)["ProductionVariants"]
        endpoint.begin(self.now(), self.change_seconds, (configuration, variants))
        return {"EndpointArn": endpoint.arn}

    def update_weights(self, region: str, asked: Mapping[str, Any]) -> Entry:
        """UpdateEndpointWeightsAndCapacities: all variants that are named, or none of them."""
        endpoint = self._endpoint(region, asked["EndpointName"])
        serves = {each["VariantName"]: each for each in endpoint.serves}
        for change in asked["DesiredWeightsAndCapacities"]:
            if change["VariantName"] not in serves:
                raise AwsError("ValidationException", f"There is no variant {change['VariantName']}")
        endpoint.begin(self.now(), self.weights_seconds)
        for change in asked["DesiredWeightsAndCapacities"]:
            wanted = {key: change[key] for key in ("DesiredWeight", "DesiredInstanceCount") if key in change}
            serves[change["VariantName"]].update(wanted)
        return {"EndpointArn": endpoint.arn}

    def scale_at_least(self, region: str, endpoint: str, variant: str, instances: int) -> None:
        """What Application Auto Scaling does when a target is registered: once the endpoint is in service, at once."""
        found = self._endpoint(region, endpoint)
        coming = found.coming[1] if found.status == "Creating" and found.coming else []
        for each in [entry for entry in coming if entry["VariantName"] == variant]:
            each["InitialInstanceCount"] = max(instances, int(each["InitialInstanceCount"]))
        for each in [entry for entry in found.serves if entry["VariantName"] == variant]:
            each["DesiredInstanceCount"] = max(instances, each["DesiredInstanceCount"])
            each["CurrentInstanceCount"] = max(instances, each["CurrentInstanceCount"])

    def variants(self, region: str, endpoint: str) -> dict[str, Entry]:
        """What serves, by variant: DescribeEndpoint's figures and the model."""
        found = self._endpoint(region, endpoint)
        models = self._configuration(region, found.configuration)["ProductionVariants"]
        by_name = {each["VariantName"]: each["ModelName"] for each in models}
        return {each["VariantName"]: {**each, "ModelName": by_name[each["VariantName"]]} for each in found.serves}

    def _endpoint(self, region: str, name: str) -> Endpoint:
        endpoint = self._endpoints.get((region, name))
        if endpoint is None:
            raise AwsError("ValidationException", f'Could not find endpoint "{self._arn(region, "endpoint", name)}".')
        endpoint.settle(self.now(), lambda variant: self.comes_up({**variant, "Image": self._image(region, variant)}))
        return endpoint

    def _image(self, region: str, variant: Mapping[str, Any]) -> str:
        model = self._found(self._models, region, variant["ModelName"], "model")
        return str(model.get("PrimaryContainer", {}).get("Image", ""))

    def _configuration(self, region: str, name: str) -> Entry:
        return self._found(self._configurations, region, name, "endpoint configuration")

    def _make(self, where: dict[tuple[str, str], Entry], region: str, kind: str, name: str, entry: Entry) -> str:
        arn = self._arn(region, kind.replace("endpoint configuration", "endpoint-config"), name)
        if (region, name) in where:
            raise AwsError("ValidationException", f'Cannot create already existing {kind} "{arn}".')
        where[region, name] = entry
        return arn

    def _found(self, where: Mapping[tuple[str, str], Entry], region: str, name: str, kind: str) -> Entry:
        if (region, name) not in where:
            raise AwsError("ValidationException", f'Could not find {kind} "{name}".')
        return where[region, name]

    def _gone(self, where: dict[tuple[str, str], Any], region: str, name: str) -> Entry:
        where.pop((region, name), None)
        return {}

    def _arn(self, region: str, kind: str, name: str) -> str:
        return f"arn:aws:sagemaker:{region}:{self.account}:{kind}/{name.lower()}"
