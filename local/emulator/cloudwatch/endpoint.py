"""CloudWatch's wire protocol: AWS JSON 1.0 with query-compatible errors, as botocore speaks it, and OTLP for series."""

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

from local.emulator.cloudwatch import otlp
from local.emulator.cloudwatch.errors import ApiError
from local.emulator.cloudwatch.service import CloudWatch

logger = logging.getLogger(__name__)
# The one operation that delivers notifications itself; all others come of evaluations.
_TELLS: Final = "SetAlarmState"

Response = tuple[int, dict[str, str], bytes]
Handler = Callable[[str, str, Mapping[str, str], bytes, Mapping[str, Any]], Awaitable[Response]]


def endpoint(region_of_request: Callable[[], CloudWatch], fallback: Handler) -> Handler:
    """The handler of service "monitoring"; operations not served here (dashboards, tags) go to ``fallback``."""

    async def handle(
        method: str, path: str, headers: Mapping[str, str], body: bytes, query: Mapping[str, Any]
    ) -> Response:
        if path == otlp.PATH:
            return _taken(region_of_request(), body, headers)
        name = headers.get("x-amz-target", "").rpartition(".")[2]
        operation = region_of_request().operation(name)
        if operation is None:
            return await fallback(method, path, headers, body, query)
        try:
            request = json.loads(body)
            # Who is told of the new state asks this server in turn, and is waited for: not in the loop that answers.
            told = await asyncio.to_thread(operation, request) if name == _TELLS else operation(request)
            return 200, {"Content-Type": "application/x-amz-json-1.0"}, json.dumps(told or {}).encode()
        except ApiError as error:
            return _refusal(error)
        except KeyError as error:
            return _refusal(ApiError("MissingParameter", f"The parameter {error.args[0]} is required."))

    return handle


def _taken(cloudwatch: CloudWatch, body: bytes, headers: Mapping[str, str]) -> Response:
    try:
        cloudwatch.take_series(body, headers)
    except ApiError as error:
        return _refusal(error)
    return 200, {"Content-Type": "application/json"}, b"{}"


def _refusal(error: ApiError) -> Response:
    logger.info("refused: %s: %s", error.code, error.message)
    headers = {"Content-Type": "application/x-amz-json-1.0", "x-amzn-query-error": f"{error.code};Sender"}
    return error.status, headers, json.dumps({"__type": error.code, "message": error.message}).encode()
