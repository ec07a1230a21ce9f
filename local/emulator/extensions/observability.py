"""CloudWatch in place of ministack's, metrics and queries in its log groups, SNS deliveries that can be waited for.

StartQuery on the stored log events, in place of ministack's subset of the query language.
"""

import json
import threading
import uuid
from collections.abc import Callable, Iterator, Mapping
from types import SimpleNamespace
from typing import Any

import ministack.app
from ministack.core.responses import request_scope
from ministack.services import cloudwatch, cloudwatch_logs, sns

from local.alarm_evaluation import SeriesKey
from local.alarm_evaluation.statistics import Datum
from local.emulator.cloudwatch.endpoint import endpoint
from local.emulator.cloudwatch.service import CloudWatch, Publish
from local.emulator.logs.emf import metrics_of_event
from local.emulator.logs.events import Event
from local.emulator.logs.insights import QueryResult, run
from local.emulator.logs.insights_nodes import QueryError
from local.emulator.logs.insights_syntax import parse

Response = tuple[int, dict[str, str], bytes]


def start_query(request: Mapping[str, Any], now: float) -> Response:
    """Run the query at ``now`` and keep its rows for GetQueryResults; a malformed one is refused here, as on AWS."""
    groups = cloudwatch_logs._resolve_query_log_groups(request)
    for group in groups:
        if group not in cloudwatch_logs._log_groups:
            return _refused("ResourceNotFoundException", f"Log group '{group}' does not exist")
    try:
        query = parse(request.get("queryString", ""), now)
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


def serve_cloudwatch(cloudwatch_of_request: Callable[[], CloudWatch]) -> None:
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


def read_logs(cloudwatch_of_request: Callable[[], CloudWatch]) -> None:
    """``cloudwatch_logs._append_log_events`` for metrics in log events, ``_start_query`` for the query language."""
    append = cloudwatch_logs._append_log_events

    def append_and_extract(stream: dict[str, Any], events: list[dict[str, Any]]) -> None:
        append(stream, events)
        store = cloudwatch_of_request().metrics
        for event in events:
            for key, timestamp, unit, datum in metrics_of_event(event["message"], event["timestamp"] / 1000):
                store.put(key, timestamp, unit, datum)

    cloudwatch_logs._append_log_events = append_and_extract
    cloudwatch_logs._start_query = lambda request: start_query(request, cloudwatch_of_request().clock.now())


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
