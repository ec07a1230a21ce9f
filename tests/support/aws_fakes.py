"""AWS clients in memory: a DynamoDB table, Logs Insights and Secrets Manager, as far as the Lambdas use them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from botocore.exceptions import ClientError, EndpointConnectionError

Item = Mapping[str, Mapping[str, str]]


def client_error(code: str, operation: str) -> ClientError:
    return ClientError({"Error": {"Code": code, "Message": code}}, operation)


@dataclass
class FakeTable:
    """One table with the key ``id``; knows the writes that the pager makes."""

    items: dict[str, dict[str, Any]] = field(default_factory=dict)
    is_down: bool = False

    def _check(self) -> None:
        if self.is_down:
            raise EndpointConnectionError(endpoint_url="https://dynamodb")

    def get_item(self, **request: Any) -> dict[str, Any]:
        self._check()
        item = self.items.get(request["Key"]["id"]["S"])
        return {"Item": item} if item else {}

    def put_item(self, **request: Any) -> dict[str, Any]:
        self._check()
        item = request["Item"]
        present = self.items.get(item["id"]["S"])
        if (
            "ConditionExpression" in request
            and present
            and not self._may_replace(present, request["ExpressionAttributeValues"])
        ):
            raise client_error("ConditionalCheckFailedException", "PutItem")
        self.items[item["id"]["S"]] = dict(item)
        return {}

    def _may_replace(self, present: Item, values: Item) -> bool:
        if int(present["expiration"]["N"]) < int(values[":now"]["N"]):
            return True
        until = present.get("in_progress_expiration", {"N": "9" * 20})["N"]
        return present["status"]["S"] == "INPROGRESS" and int(until) < int(values[":now_in_millis"]["N"])

    def update_item(self, **request: Any) -> dict[str, Any]:
        self._check()
        names, values = request["ExpressionAttributeNames"], request["ExpressionAttributeValues"]
        if "#transitions" in names:
            return {"Attributes": self._change_set(request["Key"], request["UpdateExpression"], values)}
        item = self.items[request["Key"]["id"]["S"]]
        item[names["#response_data"]] = values[":response_data"]
        item[names["#expiry"]] = values[":expiry"]
        item[names["#status"]] = values[":status"]
        return {}

    def _change_set(self, key: Item, expression: str, values: Mapping[str, Any]) -> dict[str, Any]:
        item = self.items.setdefault(key["id"]["S"], dict(key))
        present, these = set(item.get("transitions", {"SS": []})["SS"]), set(values[":these"]["SS"])
        kept = present | these if expression.startswith("ADD") else present - these
        item.update(transitions={"SS": sorted(kept)}, expiration=values[":until"])
        return item

    def delete_item(self, **request: Any) -> dict[str, Any]:
        self._check()
        self.items.pop(request["Key"]["id"]["S"], None)
        return {}


@dataclass
class FakeLogs:
    """Logs Insights: answers ``messages`` after ``polls`` answers of Running."""

    messages: list[str] = field(default_factory=list)
    polls: int = 0
    final_status: str = "Complete"
    error: Exception | None = None
    queries: list[dict[str, Any]] = field(default_factory=list)
    stopped: list[str] = field(default_factory=list)

    def start_query(self, **request: Any) -> dict[str, Any]:
        if self.error:
            raise self.error
        self.queries.append(request)
        return {"queryId": "query-1"}

    def get_query_results(self, **request: Any) -> dict[str, Any]:
        assert request == {"queryId": "query-1"}
        if self.polls > 0:
            self.polls -= 1
            return {"status": "Running", "results": []}
        rows = [[{"field": "@message", "value": message}, {"field": "@ptr", "value": "p"}] for message in self.messages]
        return {"status": self.final_status, "results": rows}

    def stop_query(self, **request: Any) -> dict[str, Any]:
        self.stopped.append(request["queryId"])
        return {"success": True}


@dataclass
class FakeMetrics:
    """GetMetricData: answers ``series``, or those of ``by_id`` where the query's id is in it, or nothing at all."""

    series: dict[datetime, float] = field(default_factory=dict)
    by_id: dict[str, dict[datetime, float]] = field(default_factory=lambda: {"deployment": {}, "rollout": {}})
    error: Exception | None = None
    asked: list[dict[str, Any]] = field(default_factory=list)

    def get_metric_data(self, **request: Any) -> dict[str, Any]:
        self.asked.append(request)
        if self.error:
            raise self.error
        found = {query["Id"]: self.by_id.get(query["Id"], self.series) for query in request["MetricDataQueries"]}
        return {
            "MetricDataResults": [
                {"Id": name, "Timestamps": list(series), "Values": list(series.values())}
                for name, series in found.items()
            ]
        }


@dataclass
class FakeQueue:
    """One message of a queue, and for how long it is hidden."""

    hidden_for: int = 0

    def change_message_visibility(self, **request: Any) -> dict[str, Any]:
        self.hidden_for = request["VisibilityTimeout"]
        return {}


@dataclass
class FakeSecrets:
    """Secrets by name; an empty one holds bytes, for AWS keeps no empty text."""

    values: dict[str, str]

    def get_secret_value(self, **request: Any) -> dict[str, Any]:
        name = request["SecretId"]
        if name not in self.values:
            raise client_error("ResourceNotFoundException", "GetSecretValue")
        text = self.values[name]
        return {"SecretString": text} if text else {"SecretBinary": b"\x00"}


@dataclass
class FakeTicker:
    """A clock that only sleeping moves."""

    now: float = 0.0

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds
