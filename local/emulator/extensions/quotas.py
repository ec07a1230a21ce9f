"""Service Quotas, which ministack does not have: a handler, and the way to it."""

import json
from collections.abc import Mapping
from typing import Any, Final

import ministack.app
from ministack.core import router
from ministack.core.responses import get_region

from local.emulator.api.answers import served
from local.emulator.api.errors import AwsError, Response, answer
from local.emulator.api.requests import ApiRequest, service_model
from local.emulator.capacity.quotas import Quotas

_ENDPOINT: Final = "servicequotas"


def serve_quotas(quotas: Quotas) -> None:
    """``SERVICE_PATTERNS`` and ``SERVICE_HANDLERS`` of the endpoint."""
    operations = {
        "GetServiceQuota": served(_ENDPOINT, lambda request: quotas.get(get_region(), request)),
        "ListServiceQuotas": served(_ENDPOINT, lambda request: quotas.list(get_region(), request)),
    }

    async def handle(
        method: str, path: str, headers: Mapping[str, str], body: bytes, query: Mapping[str, Any]
    ) -> Response:
        request = ApiRequest(method, path, headers, body, query)
        operation = operations.get(request.target)
        if operation is None:
            message = f"The operation {request.target} is not served here"
            return answer(AwsError("UnknownOperationException", message), _ENDPOINT, request)
        return operation(json.loads(body or b"{}"))

    prefix = service_model("service-quotas").metadata["targetPrefix"]
    router.SERVICE_PATTERNS[_ENDPOINT] = {"target_prefixes": [prefix], "host_patterns": [rf"{_ENDPOINT}\."]}
    ministack.app.SERVICE_HANDLERS[_ENDPOINT] = handle
