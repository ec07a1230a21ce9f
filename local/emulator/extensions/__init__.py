"""All that is changed inside ministack, in one place: what it lacks is registered, what it gets wrong is replaced.

Written against the release that requirements-local.txt pins. Each function says which of ministack's names it touches.
"""

import threading
import uuid
from collections.abc import Callable, Mapping, Sequence
from types import SimpleNamespace
from typing import Any

import ministack.app
from ministack.core.responses import get_region, request_scope
from ministack.services import alb, cloudformation, cloudwatch, cloudwatch_logs, ec2, sns, ssm
from ministack.services.cloudformation import provisioners

from fleet.metric_statistics import Datum
from local.emulator.cloudwatch.endpoint import endpoint
from local.emulator.cloudwatch.metric_store import SeriesKey
from local.emulator.cloudwatch.service import CloudWatch, Publish
from local.emulator.extensions.faults import fail_where_planted
from local.emulator.logs.emf import metrics_of_event
from local.emulator.logs.service import start_query
from local.emulator.platform import Platform
from local.emulator.resources import weighted_forward
from local.emulator.resources.alarm_handler import COMPOSITE_ALARM, METRIC_ALARM, AlarmHandler
from local.emulator.resources.ec2 import capacity_reservations_xml, placement_group_record
from local.emulator.resources.handler import Made, SchemaBackedHandler
from local.emulator.resources.public_parameters import PublicParameters
from local.emulator.resources.types import ECHOED_ATTRIBUTES, SCHEMA_BACKED_TYPES


def install(platform: Platform) -> None:
    """Change ministack, once, before it serves its first request."""

    def cloudwatch_of_request() -> CloudWatch:
        return platform.cloudwatch(get_region())

    _serve_cloudwatch(cloudwatch_of_request)
    _register_resources(platform, cloudwatch_of_request)
    _answer_ec2(platform)
    _read_logs(cloudwatch_of_request)
    _keep_weights()
    ssm._PUBLIC_AMI_PARAMETERS = PublicParameters(ssm._PUBLIC_AMI_PARAMETERS, get_region)
    fail_where_planted(platform.faults)


def _serve_cloudwatch(cloudwatch_of_request: Callable[[], CloudWatch]) -> None:
    """``SERVICE_HANDLERS["monitoring"]`` and the metrics that other services record about themselves."""
    fallback = ministack.app.SERVICE_HANDLERS["monitoring"]
    ministack.app.SERVICE_HANDLERS["monitoring"] = endpoint(cloudwatch_of_request, fallback)

    def record_metric(
        namespace: str,
        metric_name: str,
        value: float,
        unit: str = "None",
        dimensions: Mapping[str, str] | None = None,
    ) -> None:
        key = SeriesKey(namespace, metric_name, frozenset((dimensions or {}).items()))
        service = cloudwatch_of_request()
        service.metrics.put(key, service.clock.now(), unit, Datum.of_values([value]))

    cloudwatch.record_metric = record_metric


def _register_resources(platform: Platform, cloudwatch_of_request: Callable[[], CloudWatch]) -> None:
    """``_RESOURCE_HANDLERS``: a type that is in neither table fails the deploy as "Unrecognized resource types"."""
    for type_name in SCHEMA_BACKED_TYPES:
        if type_name not in provisioners._RESOURCE_HANDLERS:
            handler = SchemaBackedHandler(type_name, platform.account, get_region, platform.resources)
            provisioners._RESOURCE_HANDLERS[type_name] = handler.handlers()
    for type_name, names in ECHOED_ATTRIBUTES.items():
        provisioners._RESOURCE_HANDLERS[type_name]["create"] = _with_attributes(
            provisioners._RESOURCE_HANDLERS[type_name]["create"], names
        )
    for type_name in (METRIC_ALARM, COMPOSITE_ALARM):
        alarms = AlarmHandler(type_name, platform.clock, lambda: cloudwatch_of_request().alarms)
        provisioners._RESOURCE_HANDLERS[type_name] = alarms.handlers()


def _with_attributes(create: Callable[..., Made], names: Sequence[str]) -> Callable[..., Made]:
    """A handler that also answers Fn::GetAtt for properties which the template sets."""

    def create_with_attributes(logical_id: str, properties: Mapping[str, Any], stack: str) -> Made:
        physical_id, attributes = create(logical_id, properties, stack)
        return physical_id, {name: properties[name] for name in names if name in properties} | attributes

    return create_with_attributes


def _answer_ec2(platform: Platform) -> None:
    """``ec2._ACTION_MAP``: reservations are always an empty list there, placement groups only those made by its API."""
    describe_placement_groups = ec2._ACTION_MAP["DescribePlacementGroups"]

    def reservations(parameters: Mapping[str, list[str]]) -> object:
        found = platform.resources.of_type(get_region(), "AWS::EC2::CapacityReservation")
        inner = capacity_reservations_xml(found, parameters)
        return ec2._xml(200, "DescribeCapacityReservationsResponse", inner)

    def placement_groups(parameters: Mapping[str, list[str]]) -> object:
        groups = platform.resources.of_type(get_region(), "AWS::EC2::PlacementGroup")
        made = {group.physical_id: placement_group_record(group) for group in groups}
        ec2._placement_groups.update(made)
        try:
            return describe_placement_groups(parameters)
        finally:
            for name in made:
                ec2._placement_groups.pop(name)

    ec2._ACTION_MAP["DescribeCapacityReservations"] = reservations
    ec2._ACTION_MAP["DescribePlacementGroups"] = placement_groups


def _keep_weights() -> None:
    """``alb._parse_actions`` and ``_action_xml`` for the API, ``_elbv2_listener_actions`` for templates."""
    parse, answer, of_template = alb._parse_actions, alb._action_xml, provisioners._elbv2_listener_actions

    def parse_actions(parameters: Mapping[str, list[str]], prefix: str = "DefaultActions") -> list[dict[str, Any]]:
        return [
            weighted_forward.with_config(
                action, weighted_forward.config_of_request(parameters, f"{prefix}.member.{number}")
            )
            for number, action in enumerate(parse(parameters, prefix), start=1)
        ]

    def action_xml(action: Mapping[str, Any]) -> str:
        return str(answer(action)).removesuffix("</member>") + weighted_forward.config_xml(action) + "</member>"

    def template_actions(
        properties: Mapping[str, Any], load_balancer: str | None, prop: str = "DefaultActions"
    ) -> list[dict[str, Any]]:
        made = of_template(properties, load_balancer, prop)
        return [
            weighted_forward.with_config(action, asked.get("ForwardConfig"))
            for action, asked in zip(made, properties.get(prop) or [], strict=True)
        ]

    alb._parse_actions = parse_actions
    alb._action_xml = action_xml
    provisioners._elbv2_listener_actions = template_actions


def _read_logs(cloudwatch_of_request: Callable[[], CloudWatch]) -> None:
    """``cloudwatch_logs._append_log_events`` for metrics in log events, ``_start_query`` for the query language."""
    append = cloudwatch_logs._append_log_events

    def append_and_extract(stream: dict[str, Any], events: list[dict[str, Any]]) -> None:
        append(stream, events)
        store = cloudwatch_of_request().metrics
        for event in events:
            for key, timestamp, unit, datum in metrics_of_event(event["message"], event["timestamp"] / 1000):
                store.put(key, timestamp, unit, datum)

    cloudwatch_logs._append_log_events = append_and_extract
    cloudwatch_logs._start_query = start_query


class _Delivery(threading.Thread):
    """A delivery to one subscriber; the thread that publishes finds it in its own list and can wait for it."""

    started = threading.local()

    def start(self) -> None:
        super().start()
        getattr(self.started, "deliveries", []).append(self)


def publisher(account: str) -> Callable[[str], Publish]:
    """SNS delivery that returns when every subscriber is done (``sns._threading``: a Lambda runs on a thread there)."""
    sns._threading = SimpleNamespace(Thread=_Delivery)

    def publish_in(region: str) -> Publish:
        def publish(topic_arn: str, subject: str, message: str) -> None:
            deliveries: list[threading.Thread] = []
            _Delivery.started.deliveries = deliveries
            with request_scope(account, region):
                sns._fanout(topic_arn, str(uuid.uuid4()), message, subject)
            for delivery in deliveries:
                delivery.join()
            del _Delivery.started.deliveries

        return publish

    return publish_in


def stacked_resources() -> int:
    """How many resources the deployed stacks hold, over all regions."""
    return sum(len(stack.get("_resources", {})) for stack in cloudformation._stacks._data.values())
