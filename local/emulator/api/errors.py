"""An error in the shape that AWS gives it in the protocol of the request."""

import json
import uuid
from typing import Final
from xml.sax.saxutils import escape

from local.emulator.api.requests import ApiRequest

Response = tuple[int, dict[str, str], bytes]
_BAD_REQUEST: Final = 400
# The codes that AWS answers with another status than 400.
_STATUSES: Final = {
    "AccessDenied": 403,
    "DryRunOperation": 412,
    "InsufficientInstanceCapacity": 500,
    "InternalError": 500,
    "UnauthorizedOperation": 403,
}


class AwsError(ValueError):
    """What AWS refuses: its code and its message; ``status`` is the HTTP status of the answer."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.status = _STATUSES.get(code, _BAD_REQUEST)


def answer(error: AwsError, service: str, request: ApiRequest) -> Response:
    """The response that botocore reads as ``ClientError`` with this code; ``service`` is "ec2", "s3", …"""
    if request.is_form or service == "s3":
        return error.status, {"Content-Type": "text/xml"}, _xml(error, service).encode()
    headers = {
        "Content-Type": "application/x-amz-json-1.1",
        "x-amzn-errortype": error.code,
        "x-amzn-query-error": f"{error.code};Sender",
    }
    return error.status, headers, json.dumps({"__type": error.code, "message": error.message}).encode()


def _xml(error: AwsError, service: str) -> str:
    code, message, request_id = escape(error.code), escape(error.message), uuid.uuid4()
    inner = f"<Code>{code}</Code><Message>{message}</Message>"
    if service == "s3":
        return f"<Error>{inner}<RequestId>{request_id}</RequestId></Error>"
    if service == "ec2":
        errors = f"<Errors><Error>{inner}</Error></Errors>"
        return f"<Response>{errors}<RequestID>{request_id}</RequestID></Response>"
    kind = f"<Error><Type>Sender</Type>{inner}</Error>"
    return f"<ErrorResponse>{kind}<RequestId>{request_id}</RequestId></ErrorResponse>"
