"""CloudWatch in place of ministack's, metrics and queries in its log groups, SNS deliveries that can be waited for."""

import threading
import uuid
from collections.abc import Callable, Mapping
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
from local.emulator.logs.service import start_query


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
    cloudwatch_logs._start_query = start_query


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
