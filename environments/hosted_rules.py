"""What must hold of an endpoint that SageMaker runs, and what of a fleet's entry it has no place for: one line each."""

from collections.abc import Iterator
from datetime import datetime
from typing import Final

from environments.endpoint_rules import pins_its_image, serves_what_was_compiled
from environments.fleet_entry_rules import image_is_near, owner_is_a_tag
from environments.fleet_specs import fleet_spec, negotiated_price
from environments.fleets import InferenceFleet
from environments.model import Environment
from environments.strict_model import StrictModel
from fleet import naming
from fleet.capacity.rules import scale, software
from fleet.capacity.rules.case import Case
from fleet.diagnostics import Diagnostic, note, refuse, warn
from fleet.fleet_spec import MarketKind
from fleet.hosting.sizes import hosted_type, sizes
from fleet.hosting.surcharge import Surcharge, surcharge
from fleet.instances import IncompleteInstanceTypeError, catalogue, incomplete_types, instance_type

# SageMaker developer guide, "Custom inference code with hosting services": port 8080, GET /ping, POST /invocations.
PORT: Final = 8080
PING: Final = "/ping"
# SageMaker API: names have 63 characters at most, and those of models for an image 26 more than their endpoint's.
LONGEST_ENDPOINT: Final = 63 - len("-by-image-") - 16
_OF_NODES: Final = {
    "efa": "EFA is of nodes in one placement group",
    "placement_group": "SageMaker places its instances itself",
    "alternative_types": "a variant has one type",
    "gate": "SageMaker launches its own image, in which no gate runs",
    "image_parameter": "SageMaker launches its own image",
    "lnc": "inf2 has one physical core to a logical one",
    "alarms": "they are of what an agent measures, and none runs on SageMaker's instances",
    "target_utilization_percent": "no agent runs on SageMaker's instances, so nobody measures utilization",
}
_OF_ENDPOINT: Final = {
    "certificate_arn": "SageMaker's own address has a certificate, and no load balancer of ours stands before it",
    "clients": "who calls SageMaker is a matter of IAM: each request is signed, whatever network it comes from",
    "liveness_path": "SageMaker asks /ping and nothing else",
    "scaling": "SageMaker has instances of its own: endpoint.sagemaker has their least and most",
}


def diagnose_hosted(environment: Environment, fleet: InferenceFleet, now: datetime | None) -> Iterator[Diagnostic]:
    """Everything that is to be said of ``fleet``, with paths relative to its entry."""
    yield from owner_is_a_tag(fleet.owner)
    if hosted_type(fleet.instance_type) is None:
        yield _no_such_size(fleet)
        return
    yield from _fits_a_name(environment, fleet)
    yield from _market_is_sagemakers(fleet)
    yield from _nothing_is_of_nodes(fleet)
    yield from _container_is_asked_as_sagemaker_asks(fleet)
    yield from _gates_can_be_measured(fleet)
    yield from _scales(fleet)
    yield from image_is_near(environment, fleet)
    if environment.plain_http:
        yield from pins_its_image(fleet.endpoint.container_image)
    yield from _image_is_in_the_regions_ecr(environment, fleet)
    yield from serves_what_was_compiled(environment, fleet)
    case = Case(fleet_spec(environment, fleet), instance_type(fleet.instance_type), now)
    for rule in (*software.RULES, *scale.RULES):
        yield from rule(case)
    yield price_difference(environment, fleet)


def price_difference(environment: Environment, fleet: InferenceFleet) -> Diagnostic:
    """What SageMaker costs beside EC2: a note."""
    found = _surcharge(environment.region, fleet)
    fix = "" if found.usd_per_hour is not None else "write price: {usd_per_hour: …, contract: …, as_of: …}"
    return note("sagemaker-price", "endpoint.engine", "sagemaker", found.text(fleet.nodes), fix)


def price_difference_text(region: str, fleet: InferenceFleet) -> str:
    """The same as one line for people."""
    return _surcharge(region, fleet).text(fleet.nodes)


def _surcharge(region: str, fleet: InferenceFleet) -> Surcharge:
    return surcharge(catalogue()[fleet.instance_type], region, agreed=negotiated_price(region, fleet))


def belongs_to_sagemaker(fleet: InferenceFleet) -> Iterator[Diagnostic]:
    """Settings of SageMaker at an endpoint that ECS runs."""
    for key in (key for key in ("sagemaker", "sagemaker_generation") if _is_written(fleet.endpoint, key)):
        yield refuse(
            "sagemaker-settings-of-ecs",
            f"endpoint.{key}",
            "",
            "these are settings of SageMaker, and ECS runs this endpoint",
            "add engine: sagemaker, or remove them",
        )


def _no_such_size(fleet: InferenceFleet) -> Diagnostic:
    missing = incomplete_types().get(fleet.instance_type)
    if missing is not None:
        gap = IncompleteInstanceTypeError(fleet.instance_type, missing)
        return refuse(gap.code, "instance_type", fleet.instance_type, gap.what, gap.fix)
    return refuse(
        "not-hosted-by-sagemaker",
        "instance_type",
        fleet.instance_type,
        f"endpoints with engine: sagemaker run on inf2, and {fleet.instance_type} is not one of its sizes",
        f"use one of {', '.join(sizes())}, or engine: ecs",
    )


def _fits_a_name(environment: Environment, fleet: InferenceFleet) -> Iterator[Diagnostic]:
    endpoint = naming.hosted_endpoint(environment.name, fleet.name)
    if len(endpoint) > LONGEST_ENDPOINT:
        yield refuse(
            "hosted-name-too-long",
            "name",
            fleet.name,
            f"{endpoint} is longer than the {LONGEST_ENDPOINT} characters that leave room for its models' names",
            "shorten the names of the fleet and the environment",
        )


def _market_is_sagemakers(fleet: InferenceFleet) -> Iterator[Diagnostic]:
    if fleet.market_kind is not MarketKind.ON_DEMAND:
        yield refuse(
            "market-of-sagemaker",
            "market.kind",
            fleet.market.kind,
            f"a {fleet.market.kind} of EC2 does not reach SageMaker's instances",
            "use market: {kind: on-demand}, or engine: ecs",
        )


def _nothing_is_of_nodes(fleet: InferenceFleet) -> Iterator[Diagnostic]:
    written = [(key, why) for key, why in _OF_NODES.items() if _is_written(fleet, key)]
    written += [(f"endpoint.{key}", why) for key, why in _OF_ENDPOINT.items() if _is_written(fleet.endpoint, key)]
    if fleet.endpoint.rollout.shadow:
        written.append(("endpoint.rollout.shadow", "what records and replays requests is told of it by ECS"))
    for path, why in written:
        yield refuse("not-with-sagemaker", path, "", why, f"remove {path}, or use engine: ecs")


def _is_written(part: StrictModel, key: str) -> bool:
    """Whether somebody asks for something else than what there is without asking."""
    return bool(getattr(part, key) != type(part).model_fields[key].default)


def _container_is_asked_as_sagemaker_asks(fleet: InferenceFleet) -> Iterator[Diagnostic]:
    endpoint = fleet.endpoint
    for key, right in (("port", PORT), ("health_path", PING)):
        found = getattr(endpoint, key)
        if key in endpoint.model_fields_set and found != right:
            yield refuse(
                "not-as-sagemaker-asks",
                f"endpoint.{key}",
                found,
                f"SageMaker asks the container at port {PORT}, {PING}, and nowhere else",
                f"write {key}: {right}, or remove it",
            )


def _gates_can_be_measured(fleet: InferenceFleet) -> Iterator[Diagnostic]:
    gates = fleet.endpoint.rollout.gates
    for key in ("runtime_errors", "cost_increase_percent"):
        if key in gates.model_fields_set and getattr(gates, key) is not None:
            yield refuse(
                "gate-without-an-agent",
                f"endpoint.rollout.gates.{key}",
                getattr(gates, key),
                "it is measured by the agent, and none runs on SageMaker's instances",
                f"write {key}: null, or remove it",
            )


def _scales(fleet: InferenceFleet) -> Iterator[Diagnostic]:
    scaling = fleet.endpoint.sagemaker
    if scaling is not None and not scaling.min <= fleet.nodes <= scaling.max:
        yield refuse(
            "nodes-outside-the-scale",
            "endpoint.sagemaker",
            f"{scaling.min} to {scaling.max}",
            f"the fleet has {fleet.nodes} nodes, and would be scaled between {scaling.min} and {scaling.max}",
            "let min be at most nodes, and max at least",
        )
    if fleet.nodes == 1 and (scaling is None or scaling.min == 1):
        yield warn(
            "hosted-on-one-instance",
            "nodes",
            fleet.nodes,
            "SageMaker spreads instances over zones, and one instance lies in one",
            "use two or more",
        )


def _image_is_in_the_regions_ecr(environment: Environment, fleet: InferenceFleet) -> Iterator[Diagnostic]:
    # SageMaker API, ContainerDefinition.Image: "Amazon ECR in the same region"; others need a function for credentials.
    image = fleet.endpoint.container_image
    if f".dkr.ecr.{environment.region}.amazonaws.com/" not in image:
        yield refuse(
            "image-not-in-ecr",
            "endpoint.container_image",
            image,
            f"SageMaker pulls images from Amazon ECR in {environment.region}",
            f"push it to {environment.account}.dkr.ecr.{environment.region}.amazonaws.com/…",
        )
