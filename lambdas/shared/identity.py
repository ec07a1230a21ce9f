"""Who approves: proved, not claimed.

The caller signs STS's GetCallerIdentity for one request id and sends the signed URL. STS answers with the ARN of
whoever signed it, so a name cannot be made up; and a signature for another action, request or environment is of no
use, because the header that names them is part of what was signed.
"""

import http.client
import json
import re
import urllib.parse
from collections.abc import Callable, Mapping
from typing import Final

from fleet.approval import HEADER, RefusedError

# The answer is asked for as JSON, so that no XML has to be read.
_HEADERS: Final = {"Accept": "application/json"}
_ASSUMED: Final = re.compile(r"arn:(?P<partition>[\w-]+):sts::(?P<account>\d{12}):assumed-role/(?P<role>[^/]+)/.+")
_ROLE_WITH_PATH: Final = re.compile(r"(?P<front>arn:[\w-]+:iam::\d{12}:role/)(?:.*/)?(?P<role>[^/]+)")

STS_SECONDS: Final = 5
_ANSWER_LIMIT: Final = 64 * 1024

Get = Callable[[str, Mapping[str, str]], tuple[int, bytes]]


def caller(url: str, sts_host: str, bound_to: str, get: Get) -> str:
    """The ARN of whoever signed ``url`` for ``bound_to``; a role's own ARN where it was a session of it.

    ``get`` fetches a URL with headers and answers with the status and the body.

    Raises:
        RefusedError: it is not a signed GetCallerIdentity of STS, it is not bound, or STS does not accept it.
    """
    parts = urllib.parse.urlsplit(url)
    query = urllib.parse.parse_qs(parts.query, strict_parsing=False)
    if parts.scheme != "https" or parts.netloc != sts_host or parts.path not in {"", "/"}:
        raise RefusedError("the signed URL is not one of STS")
    if query.get("Action") != ["GetCallerIdentity"]:
        raise RefusedError("the signed URL asks for something else than GetCallerIdentity")
    signed = ";".join(query.get("X-Amz-SignedHeaders", [])).lower().split(";")
    if HEADER not in signed:
        raise RefusedError(f"the signature does not cover the header {HEADER}")
    status, body = get(url, {**_HEADERS, HEADER: bound_to})
    if status != 200:
        raise RefusedError(f"STS does not accept the signature: HTTP {status}")
    try:
        answer = json.loads(body)["GetCallerIdentityResponse"]["GetCallerIdentityResult"]
        return principal(str(answer["Arn"]))
    except (ValueError, KeyError, TypeError) as error:
        raise RefusedError("STS's answer is not understood") from error


def principal(arn: str) -> str:
    """``arn`` as approvers are named: a role without its path, because a session's ARN does not have it."""
    session = _ASSUMED.fullmatch(arn)
    if session is not None:
        return f"arn:{session['partition']}:iam::{session['account']}:role/{session['role']}"
    role = _ROLE_WITH_PATH.fullmatch(arn)
    return f"{role['front']}{role['role']}" if role is not None else arn


def get(url: str, headers: Mapping[str, str]) -> tuple[int, bytes]:
    """GET over TLS, once, without following anything: the status and the first 64 KB of the body.

    Raises:
        RefusedError: the host did not answer in time.
    """
    parts = urllib.parse.urlsplit(url)
    connection = http.client.HTTPSConnection(parts.netloc, timeout=STS_SECONDS)
    try:
        connection.request("GET", f"{parts.path or '/'}?{parts.query}", headers=dict(headers))
        answer = connection.getresponse()
        return answer.status, answer.read(_ANSWER_LIMIT)
    except (OSError, http.client.HTTPException) as error:
        raise RefusedError(f"STS does not answer: {type(error).__name__}") from error
    finally:
        connection.close()
