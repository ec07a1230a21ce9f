"""Filters and pages, as EC2 understands them.

The protocols that carry JSON documents, behind the same kind of function as the query protocols.
"""

import base64
import json
from collections.abc import Callable, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any, Final

from local.emulator.api.errors import AwsError, Response, answer
from local.emulator.api.requests import ApiRequest

Entry = dict[str, Any]
_LARGEST_PAGE: Final = 1000


def matching(found: Sequence[Entry], filters: Sequence[Mapping[str, Any]], fields: Mapping[str, str]) -> list[Entry]:
    """The entries that every filter matches; ``*`` and ``?`` are wildcards, ``fields`` names what can be filtered by.

    Raises:
        AwsError: a filter that the operation does not have.
    """
    for each in filters:
        name = str(each.get("Name", ""))
        if name not in fields and name != "tag-key" and not name.startswith("tag:"):
            raise AwsError("InvalidParameterValue", f"The filter '{name}' is invalid")
    return [entry for entry in found if all(_matches(entry, each, fields) for each in filters)]


def _matches(entry: Entry, wanted: Mapping[str, Any], fields: Mapping[str, str]) -> bool:
    name, patterns = wanted["Name"], wanted.get("Values", [])
    tags = {tag["Key"]: tag["Value"] for tag in entry.get("Tags", [])}
    if name == "tag-key":
        values = list(tags)
    elif name.startswith("tag:"):
        values = [tags[name[4:]]] if name[4:] in tags else []
    else:
        values = [entry.get(fields[name])]
    return any(fnmatchcase(str(value), pattern) for value in values if value is not None for pattern in patterns)


def page(found: Sequence[Entry], request: Mapping[str, Any], *, size: str = "MaxResults") -> tuple[list[Entry], Entry]:
    """This page of the entries, and ``{"NextToken": …}`` when there is another."""
    return _page(found, request.get(size), request.get("NextToken"), lambda token: {"NextToken": token})


def json_page(found: Sequence[Entry], request: Mapping[str, Any]) -> tuple[list[Entry], Entry]:
    """As ``page``, for the services that write ``maxResults`` and ``nextToken``."""
    return _page(found, request.get("maxResults"), request.get("nextToken"), lambda token: {"nextToken": token})


def _page(
    found: Sequence[Entry], size: int | None, token: str | None, more: Callable[[str], Entry]
) -> tuple[list[Entry], Entry]:
    try:
        start = int(base64.b64decode(token)) if token else 0
    except ValueError as error:
        raise AwsError("InvalidNextToken", "The specified pagination token is not valid.") from error
    end = start + min(size or _LARGEST_PAGE, _LARGEST_PAGE)
    rest = more(base64.b64encode(str(end).encode()).decode()) if end < len(found) else {}
    return list(found[start:end]), rest


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
