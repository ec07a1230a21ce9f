"""Price lists, Savings Plans and Service Quotas, which ministack does not have: a handler each, and the way to them."""

import json
from collections.abc import Callable, Mapping
from typing import Any, Final

import ministack.app
from ministack.core import router
from ministack.core.responses import get_region

from local.emulator.api.answers import served
from local.emulator.api.errors import AwsError, Response, answer
from local.emulator.api.requests import ApiRequest, service_model
from local.emulator.capacity.prices import PriceLists, unknown
from local.emulator.capacity.quotas import Quotas

_PRICING: Final = "pricing"
_PLANS: Final = "savingsplans"


def serve_prices(lists: PriceLists) -> None:
    """``SERVICE_PATTERNS`` and ``SERVICE_HANDLERS`` of both endpoints."""
    products = served(_PRICING, lists.products)
    rates = served(_PLANS, lists.savings_plans_rates)

    async def price_list(
        method: str, path: str, headers: Mapping[str, str], body: bytes, query: Mapping[str, Any]
    ) -> Response:
        return _answered(ApiRequest(method, path, headers, body, query), _PRICING, "GetProducts", products)

    async def plans(
        method: str, path: str, headers: Mapping[str, str], body: bytes, query: Mapping[str, Any]
    ) -> Response:
        return _answered(
            ApiRequest(method, path, headers, body, query), _PLANS, "DescribeSavingsPlansOfferingRates", rates
        )

    prefix = service_model(_PRICING).metadata["targetPrefix"]
    router.SERVICE_PATTERNS[_PRICING] = {"target_prefixes": [prefix], "host_patterns": [r"api\.pricing\."]}
    router.SERVICE_PATTERNS[_PLANS] = {"host_patterns": [rf"{_PLANS}\."], "credential_scope": _PLANS}
    ministack.app.SERVICE_HANDLERS[_PRICING] = price_list
    ministack.app.SERVICE_HANDLERS[_PLANS] = plans


def _answered(
    request: ApiRequest, service: str, only: str, operation: Callable[[Mapping[str, Any]], Response]
) -> Response:
    asked = request.operation(service_model(service))
    return operation(json.loads(request.body or b"{}")) if asked == only else answer(unknown(asked), service, request)


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
