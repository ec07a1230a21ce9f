"""Alarm messages, node events and a whole pager over fakes."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, cast

from aws_lambda_powertools.utilities.typing import LambdaContext as PowertoolsContext

from fleet.alarm_page import AlarmPage
from lambdas.pager import service, settings
from lambdas.pager.delivery_idempotency import Once
from lambdas.pager.destinations.sending import HttpPoster, Mail, Secrets, Senders, Sign
from lambdas.pager.enrichment import Sources
from lambdas.pager.errors import DeliveryError
from lambdas.pager.incidents import IncidentTable
from lambdas.pager.log_events import CapacityEvent, EventQuery, NodeEvent, events_of, events_of_states
from lambdas.pager.messages import AlarmChange, Severity
from lambdas.pager.metric_queries import ChangeMetrics, WasteMetric
from lambdas.pager.service import Dependencies, Outcome
from tests.support.alarm_pages import RUNBOOKS_URL, alarm_pages
from tests.support.aws_fakes import FakeLogs, FakeMetrics, FakeQueue, FakeSecrets, FakeTable, FakeTicker, client_error
from tests.support.client_shapes import shaped

ALARMS = Path(__file__).parent.parent / "unit/lambdas/pager/alarms"
# The minute of the alarms' StateChangeTime.
AT = datetime(2026, 11, 21, 3, 41, tzinfo=UTC)
SLACK_URL = "https://hooks.slack.test/services/T000/B000/s3cr3t-path"
ROUTING_KEY = "r0ut1ng-k3y"
ENVIRON = {
    "ENVIRONMENT": "prod",
    "NODE_LOG_GROUP": "/neuron-fleet/prod/nodes",
    "CAPACITY_LOG_GROUP": "/neuron-fleet/prod/capacity",
    "PAGING": json.dumps(
        {"destinations": {"pagerduty": ["pagerduty", "prod/pagerduty"], "slack": ["slack", "prod/slack"]}, "routes": []}
    ),
    "WAITING_QUEUE": "https://sqs.test/waiting",
    "RUNBOOKS_URL": RUNBOOKS_URL,
    "IDEMPOTENCY_TABLE": "pages",
}


def alarm_message(shape: str = "metric", **changes: Any) -> str:
    """What SNS brings of an alarm; one that is deployed says what its definition says."""
    message = {**json.loads((ALARMS / f"{shape}.json").read_text()), **changes}
    deployed = alarm_pages().get(message["AlarmName"])
    if deployed and "AlarmDescription" not in changes:
        message["AlarmDescription"] = deployed.description
    return json.dumps(message)


def alarm_change(shape: str = "metric", **changes: Any) -> AlarmChange:
    return AlarmChange.model_validate_json(alarm_message(shape, **changes))


def ok(at: str = "2026-11-21T04:23:12.000+0000", **changes: Any) -> AlarmChange:
    return alarm_change(**{"NewStateValue": "OK", "OldStateValue": "ALARM", "StateChangeTime": at, **changes})


def sns_event(message: str, topic: str = "neuron-fleet-prod-page") -> dict[str, Any]:
    sns = {
        "Type": "Notification",
        "MessageId": "95df01b4-ee98-5cb9-9903-4c221d41eb5e",
        "TopicArn": f"arn:aws:sns:us-east-2:111122223333:{topic}",
        "Subject": "ALARM",
        "Message": message,
        "Timestamp": "2026-11-21T03:41:12.500Z",
        "SignatureVersion": "1",
        "MessageAttributes": {},
    }
    return {"Records": [{"EventSource": "aws:sns", "EventVersion": "1.0", "Sns": sns}]}


def node_event(node: str = "i-0a", minutes_ago: int = 1, **fields: Any) -> dict[str, Any]:
    """One node's event, ``minutes_ago`` before the alarm."""
    minute = AT - timedelta(minutes=minutes_ago)
    return {
        "schema": 1,
        "environment": "prod",
        "fleet": "trn1-pretrain",
        "node": node,
        "instance_type": "trn1.32xlarge",
        "job": "llama-8",
        "job_name": "llama-pretrain",
        "owner": "foundation-models",
        "state": "RUNNING",
        "seq": 1000 - minutes_ago,
        "boot_id": f"boot-{node}",
        "minute": minute.isoformat().replace("+00:00", "Z"),
        "cost_usd_per_hour": 21.5,
        "price": {"usd_per_hour": 21.5, "kind": "on-demand", "source": "AWS price list", "as_of": "2026-11-01"},
        **fields,
    }


def capacity_event(minutes_ago: int = 1, **fields: Any) -> dict[str, Any]:
    """What the capacity watch wrote of a fleet, ``minutes_ago`` before the alarm: a reservation in full use."""
    minute = AT - timedelta(minutes=minutes_ago)
    return {
        "_aws": {"Timestamp": int(minute.timestamp()) * 1000, "CloudWatchMetrics": []},
        "Environment": "prod",
        "Fleet": "trn1-pretrain",
        "MissingNodes": 0,
        "schema": 1,
        "kind": "capacity",
        "environment": "prod",
        "fleet": "trn1-pretrain",
        "minute": minute.isoformat().replace("+00:00", "Z"),
        "owner": "foundation-models",
        "instance_type": "trn1.32xlarge",
        "market": "reservation",
        "wanted": 16,
        "reserved": 16,
        "used": 16,
        "unused": 0,
        "missing": 0,
        "price": {"usd_per_hour": 21.5, "kind": "on-demand", "source": "AWS price list", "as_of": "2026-11-01"},
        "unused_usd_per_hour": 0.0,
        "reservations": [],
        **fields,
    }


def history(node: str, states: Mapping[int, Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Events of a node; ``states`` maps minutes ago to the fields that hold from then on."""
    fields: Mapping[str, Any] = {}
    events = []
    for ago in range(max(states), 0, -1):
        fields = states.get(ago, fields)
        events.append(node_event(node, ago, **fields))
    return events


def parsed(*events: Mapping[str, Any]) -> list[NodeEvent]:
    return [NodeEvent.model_validate(event) for event in events]


class LambdaContext(PowertoolsContext):
    """One invocation with half a minute left."""

    def __init__(self) -> None:
        self._function_name = "pager"
        self._aws_request_id = "3f2a1b60-0000-4000-8000-000000000000"

    @staticmethod
    def get_remaining_time_in_millis() -> int:
        return 30_000


@dataclass
class Inbox:
    """What was posted; a URL that contains a text of ``refuses`` is refused."""

    posts: list[tuple[str, Mapping[str, Any]]] = field(default_factory=list)
    refuses: set[str] = field(default_factory=set)
    mails: list[tuple[str, str, str]] = field(default_factory=list)
    signed: list[Mapping[str, str]] = field(default_factory=list)

    def publish(self, TopicArn: str, Subject: str, Message: str) -> dict[str, Any]:  # noqa: N803 - as AWS names it
        if any(text in TopicArn for text in self.refuses):
            raise client_error("InternalError", "Publish")
        self.mails.append((TopicArn, Subject, Message))
        return {"MessageId": "m"}

    def post(self, url: str, body: Mapping[str, Any], sign: Sign | None = None) -> None:
        if sign:
            self.signed.append(sign(json.dumps(body).encode()))
        if any(text in url for text in self.refuses):
            raise DeliveryError("refused with HTTP 500")
        self.posts.append((url, body))

    @property
    def slack(self) -> list[Mapping[str, Any]]:
        return [body for url, body in self.posts if "slack" in url]

    @property
    def pagerduty(self) -> list[Mapping[str, Any]]:
        return [body for url, body in self.posts if "pagerduty" in url]


@dataclass
class Pager:
    """The service over fakes."""

    logs: FakeLogs = field(default_factory=FakeLogs)
    table: FakeTable = field(default_factory=FakeTable)
    inbox: Inbox = field(default_factory=Inbox)
    ticker: FakeTicker = field(default_factory=FakeTicker)
    secrets: FakeSecrets = field(
        default_factory=lambda: FakeSecrets(
            {"prod/pagerduty": json.dumps({"routing_key": ROUTING_KEY}), "prod/slack": SLACK_URL}
        )
    )

    cloudwatch: FakeMetrics = field(default_factory=FakeMetrics)
    large_fleets: frozenset[str] = frozenset()
    environ: dict[str, str] = field(default_factory=lambda: dict(ENVIRON))
    alarms: Mapping[str, AlarmPage] = field(default_factory=alarm_pages)
    queue: FakeQueue = field(default_factory=FakeQueue)
    # Half an hour after the OK of ``ok()``: an alarm that has not come by then does not come any more.
    moment: float = (AT + timedelta(minutes=72)).timestamp()

    def now(self) -> float:
        return self.moment

    def dependencies(self) -> Dependencies:
        dynamodb: Any = shaped("dynamodb", self.table)
        logs: Any = shaped("logs", self.logs)
        cloudwatch: Any = shaped("cloudwatch", self.cloudwatch)
        once = Once(dynamodb, "pages")
        once.register(LambdaContext())
        return Dependencies(
            settings=self.settings(),
            sources=Sources(
                nodes=EventQuery(logs, "/neuron-fleet/prod/nodes", events_of(NodeEvent), self.ticker),
                states=EventQuery(logs, "/neuron-fleet/prod/nodes", events_of_states, self.ticker),
                capacity=EventQuery(logs, "/neuron-fleet/prod/capacity", events_of(CapacityEvent), self.ticker),
                waste=WasteMetric(cloudwatch, "prod"),
                changes=ChangeMetrics(cloudwatch, "prod"),
                large_fleets=self.large_fleets,
            ),
            incidents=IncidentTable(dynamodb, "pages", AT.timestamp),
            senders=Senders(
                Secrets(shaped("secretsmanager", self.secrets)),
                cast(HttpPoster, self.inbox),
                Mail(shaped("sns", self.inbox)),
                self.now,
            ),
            once=once,
            now=self.now,
        )

    def seen(self, *events: Mapping[str, Any]) -> "Pager":
        self.logs.messages += [json.dumps(event) for event in events]
        return self

    def handle(self, change: AlarmChange, severity: Severity = Severity.PAGE) -> Outcome:
        return service.handle(change, severity, self.dependencies())

    def settings(self) -> settings.Settings:
        return settings.Settings.model_validate({**self.environ, "alarms": self.alarms})
