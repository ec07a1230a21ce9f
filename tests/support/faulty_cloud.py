"""CloudWatch as it is on a bad day: it throttles, is away, or stores what it was sent and never says so."""

import json
import random
from collections import Counter
from collections.abc import Sequence
from typing import Any

from botocore.exceptions import ClientError, EndpointConnectionError, ReadTimeoutError

from agents.minute.batch import Datum
from agents.sinks.cloudwatch import CloudWatchSink, EmfLogsSink
from agents.sinks.sink import Sink

_URL = "https://cloudwatch.invalid"


class FaultyCloud:
    """Both services' clients in one. ``events`` and ``requests`` are what was stored, as often as it was."""

    def __init__(self, chance: random.Random) -> None:
        self.is_away = False
        self.throttled = 0.2
        self.unanswered = 0.02
        self.events: list[dict[str, Any]] = []
        self.requests: list[Sequence[Datum]] = []
        self.answers: Counter[str] = Counter()
        self._chance = chance

    def sinks(self) -> tuple[Sink, ...]:
        """The agent's own sinks, with this instead of boto3's clients."""
        made = (CloudWatchSink("us-east-2"), EmfLogsSink("us-east-2", "/g"))
        for sink in made:
            sink.__dict__["_client"] = self
        return made

    def recover(self) -> None:
        """The bad day is over."""
        self.is_away, self.throttled, self.unanswered = False, 0.0, 0.0

    def put_metric_data(self, **request: Any) -> dict[str, Any]:
        """PutMetricData."""
        self._refuse("PutMetricData")
        self.requests.append(request["MetricData"])
        return self._answer()

    def put_log_events(self, **request: Any) -> dict[str, Any]:
        """PutLogEvents."""
        self._refuse("PutLogEvents")
        self.events.extend(json.loads(event["message"]) for event in request["logEvents"])
        return self._answer()

    def _refuse(self, operation: str) -> None:
        if self.is_away:
            self.answers["no connection"] += 1
            raise EndpointConnectionError(endpoint_url=_URL)
        if self._chance.random() < self.throttled:
            self.answers["throttled"] += 1
            raise ClientError({"Error": {"Code": "ThrottlingException", "Message": "Rate exceeded"}}, operation)

    def _answer(self) -> dict[str, Any]:
        if self._chance.random() < self.unanswered:
            self.answers["stored, not answered"] += 1
            raise ReadTimeoutError(endpoint_url=_URL)
        self.answers["confirmed"] += 1
        return {"ResponseMetadata": {"RetryAttempts": 0}}
