"""The protocols that carry JSON documents, behind the same kind of function as the query protocols."""

import json
from collections.abc import Callable, Mapping
from typing import Any

from local.emulator.api.errors import AwsError, Response, answer
from local.emulator.api.requests import ApiRequest

Operation = Callable[[dict[str, Any]], dict[str, Any]]


def served(service: str, serve: Operation) -> Callable[[Mapping[str, Any]], Response]:
    """``serve`` behind the wire: a document in, a document out; ``AwsError`` as JSON services answer it."""

    def handle(request: Mapping[str, Any]) -> Response:
        try:
            content = json.dumps(serve(dict(request))).encode()
        except AwsError as error:
            return answer(error, service, ApiRequest("POST", "/", {}, b"", {}))
        return 200, {"Content-Type": "application/json"}, content

    return handle
