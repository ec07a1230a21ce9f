"""StartQuery on the stored log events, in place of ministack's subset of the query language."""

import json
import uuid
from collections.abc import Iterator, Mapping
from typing import Any

from ministack.services import cloudwatch_logs

from local.emulator.logs.events import Event
from local.emulator.logs.insights import QueryResult, run
from local.emulator.logs.insights_nodes import QueryError
from local.emulator.logs.insights_syntax import parse

Response = tuple[int, dict[str, str], bytes]


def start_query(request: Mapping[str, Any]) -> Response:
    """Run the query at once and keep its rows for GetQueryResults; a malformed query is refused here, as on AWS."""
    groups = cloudwatch_logs._resolve_query_log_groups(request)
    for group in groups:
        if group not in cloudwatch_logs._log_groups:
            return _refused("ResourceNotFoundException", f"Log group '{group}' does not exist")
    try:
        query = parse(request.get("queryString", ""))
        result = run(query, _events(groups, int(request["startTime"]), int(request["endTime"])), request.get("limit"))
    except QueryError as error:
        return _refused("MalformedQueryException", str(error))
    query_id = str(uuid.uuid4())
    cloudwatch_logs._queries[query_id] = _stored(query_id, request, result)
    return 200, {"Content-Type": "application/x-amz-json-1.1"}, json.dumps({"queryId": query_id}).encode()


def _events(groups: list[str], start: int, end: int) -> Iterator[Event]:
    """The events of ``[start, end]``, unix seconds, of every stream."""
    for group in groups:
        for stream_name, stream in cloudwatch_logs._log_groups[group]["streams"].items():
            for event in stream["events"]:
                if start * 1000 <= event["timestamp"] <= end * 1000:
                    yield Event(event["timestamp"], event["message"], group, stream_name, event.get("eventId", ""))


def _stored(query_id: str, request: Mapping[str, Any], result: QueryResult) -> dict[str, Any]:
    return {
        "queryId": query_id,
        "queryString": request.get("queryString", ""),
        "status": "Complete",
        "results": [[{"field": name, "value": value} for name, value in row.items()] for row in result.rows],
        "statistics": {
            "recordsMatched": float(result.matched),
            "recordsScanned": float(result.scanned),
            "bytesScanned": float(result.bytes_scanned),
        },
    }


def _refused(code: str, message: str) -> Response:
    body = json.dumps({"__type": code, "message": message}).encode()
    return 400, {"Content-Type": "application/x-amz-json-1.1", "x-amzn-errortype": code}, body
