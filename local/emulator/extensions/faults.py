"""Where injected failures happen: before a service answers a call, and before a stack makes or changes a resource."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import ministack.app
from ministack.services.cloudformation import provisioners, stacks

from local.emulator.api.errors import AwsError, Response, answer
from local.emulator.api.requests import ApiRequest, service_model
from local.emulator.faults import FaultStore
from local.emulator.resources.store import Made

Handler = Callable[[str, str, Mapping[str, str], bytes, Mapping[str, Any]], Awaitable[Response]]


def fail_where_injected(faults: FaultStore) -> None:
    """Every entry of ``SERVICE_HANDLERS``, after the last one was registered; the stacks' two ways to a resource."""
    for endpoint, handler in list(ministack.app.SERVICE_HANDLERS.items()):
        ministack.app.SERVICE_HANDLERS[endpoint] = _gated(endpoint, handler, faults)
    _gate_resources(faults)


def resource_types() -> frozenset[str]:
    """The types that a stack can hold here."""
    return frozenset(provisioners._RESOURCE_HANDLERS)


def _gated(endpoint: str, handler: Handler, faults: FaultStore) -> Handler:
    async def handle(
        method: str, path: str, headers: Mapping[str, str], body: bytes, query: Mapping[str, Any]
    ) -> Response:
        for service in faults.services(endpoint):
            request = ApiRequest(method, path, headers, body, query)
            try:
                faults.check(f"{service}:{request.operation(service_model(service))}", request.parameters())
            except AwsError as error:
                return answer(error, endpoint, request)
        return await handler(method, path, headers, body, query)

    return handle


def _gate_resources(faults: FaultStore) -> None:
    """``stacks._provision_resource`` and ``_update_resource``, which raise to fail a resource."""
    provision, update = stacks._provision_resource, stacks._update_resource

    def provision_resource(type_name: str, logical_id: str, properties: dict[str, Any], stack: str) -> Made:
        faults.check_resource(type_name, properties, stack, logical_id)
        made: Made = provision(type_name, logical_id, properties, stack)
        return made

    def update_resource(type_name: str, physical_id: str, old: object, new: object, *place: Any) -> Made:  # noqa: ANN401 - passed on as ministack calls it
        stack, logical_id = place[0], place[1] if len(place) > 1 else physical_id
        if old != new:
            faults.check_resource(type_name, new, stack, logical_id)
        made: Made = update(type_name, physical_id, old, new, *place)
        return made

    stacks._provision_resource = provision_resource
    stacks._update_resource = update_resource
