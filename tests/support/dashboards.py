"""An endpoint in memory with two deployed dashboards that hold every kind of widget, and three hours of data."""

import json
import math
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from local.dashboards_page.cloud import Cloud
from tests.support.client_shapes import shaped

NOW = datetime(2026, 11, 21, 3, 40, tzinfo=UTC)
ARN = "arn:aws:cloudwatch:us-east-2:000000000000:alarm:"
FLEET = ["Environment", "local", "Fleet", "trn1-pretrain"]
THRESHOLD = {"label": "pages below 20 %", "value": 20, "yAxis": "left"}

OPERATOR: dict[str, Any] = {
    "widgets": [
        {
            "type": "alarm",
            "x": 0,
            "y": 0,
            "width": 16,
            "height": 4,
            "properties": {
                "title": "Alarms that page",
                "alarms": [
                    ARN + f"local/trn1-pretrain/{key}"
                    for key in ("LowUtilization", "HardwareFault", "IdleAllocated", "FleetBlind", "JobHang", "Gone")
                ],
            },
        },
        {
            "type": "text",
            "x": 16,
            "y": 0,
            "width": 8,
            "height": 4,
            "properties": {
                "markdown": "### On call\nStart at the [runbook](docs/runbooks/README.md), worst fleet first.\n\n"
                "- `FAULT` needs a new node\n- `BLIND` says nothing about the job"
            },
        },
        {
            "type": "metric",
            "x": 0,
            "y": 4,
            "width": 12,
            "height": 3,
            "properties": {
                "view": "singleValue",
                "title": "Money, USD an hour",
                "region": "us-east-2",
                "stat": "Maximum",
                "period": 60,
                "metrics": [
                    ["NeuronFleet", "CostUsdPerHour", *FLEET, {"label": "Cost", "id": "cost"}],
                    [".", "WastedUsdPerHour", ".", ".", ".", ".", {"label": "Wasted", "id": "wasted"}],
                    [{"expression": "100*wasted/cost", "label": "Share wasted %", "id": "share"}],
                ],
            },
        },
        {
            "type": "metric",
            "x": 12,
            "y": 4,
            "width": 12,
            "height": 3,
            "properties": {
                "view": "singleValue",
                "title": "Nodes",
                "region": "us-east-2",
                "metrics": [["NeuronFleet", "AgentHeartbeat", *FLEET, {"label": "Heartbeats"}]],
            },
        },
        {
            "type": "metric",
            "x": 0,
            "y": 7,
            "width": 12,
            "height": 7,
            "properties": {
                "view": "timeSeries",
                "title": "Tensor-engine utilization",
                "region": "us-east-2",
                "period": 60,
                "metrics": [
                    ["NeuronFleet", "TensorEngineUtilization", *FLEET, {"label": "average", "stat": "Average"}],
                    ["...", {"label": "p10", "stat": "p10"}],
                ],
                "yAxis": {"left": {"min": 0, "max": 100, "label": "Percent", "showUnits": False}},
                "annotations": {"horizontal": [THRESHOLD]},
            },
        },
        {
            "type": "metric",
            "x": 12,
            "y": 7,
            "width": 12,
            "height": 7,
            "properties": {
                "view": "timeSeries",
                "stacked": True,
                "title": "Node states",
                "region": "us-east-2",
                "period": 60,
                "metrics": [
                    ["NeuronFleet", name, *FLEET, {"label": name.removeprefix("Nodes").upper()}]
                    for name in ("NodesRunning", "NodesCompiling", "NodesFault", "NodesBlind")
                ],
                "yAxis": {"left": {"min": 0, "label": "Nodes"}},
            },
        },
        {
            "type": "log",
            "x": 0,
            "y": 14,
            "width": 16,
            "height": 6,
            "properties": {
                "title": "Worst nodes",
                "region": "us-east-2",
                "view": "table",
                "query": "SOURCE '/neuron-fleet/local/nodes' | stats max(wasted_usd_per_hour) by node",
            },
        },
        {
            "type": "metric",
            "x": 16,
            "y": 14,
            "width": 8,
            "height": 6,
            "properties": {"title": "Blind", "view": "timeSeries", "annotations": {"alarms": [ARN + "watched"]}},
        },
        {
            "type": "metric",
            "x": 0,
            "y": 20,
            "width": 12,
            "height": 5,
            "properties": {"title": "Never sent", "view": "timeSeries", "metrics": [["NeuronFleet", "Unknown"]]},
        },
        {
            "type": "explorer",
            "x": 12,
            "y": 20,
            "width": 12,
            "height": 5,
            "properties": {"title": "Of another kind"},
        },
    ]
}
TRAINING: dict[str, Any] = {
    "widgets": [{"type": "text", "x": 0, "y": 0, "width": 24, "height": 3, "properties": {"markdown": "# Training"}}]
}


def figure(name: str, statistic: str, minute: int) -> float | None:
    """The value of a metric ``minute`` minutes before NOW; None where nothing was measured."""
    stalled = 5 <= minute <= 55
    if name == "Unknown" or (name.startswith("TensorEngine") and (minute > 150 or 80 < minute < 95)):
        return None
    utilization = (9.0 if stalled else 36.0) + 1.5 * math.sin(minute / 4) - (6 if statistic == "p10" else 0)
    compiling = minute > 150
    return {
        "TensorEngineUtilization": utilization,
        "CostUsdPerHour": 86.0,
        "WastedUsdPerHour": 61.25 if stalled or minute < 5 else 8.6,
        "AgentHeartbeat": 1.0,
        "NodesRunning": 0.0 if compiling else 3.0 if minute < 20 else 4.0,
        "NodesCompiling": 4.0 if compiling else 0.0,
        "NodesFault": 1.0 if minute < 20 else 0.0,
        "NodesBlind": 0.0,
    }[name]


@dataclass
class FakeCloudWatch:
    """Dashboards, metrics and alarms. ``error`` is raised by every call."""

    dashboards: dict[str, Any] = field(
        default_factory=lambda: {"neuron-fleet-local-operator": OPERATOR, "neuron-fleet-local-training": TRAINING}
    )
    error: Exception | None = None
    metric_requests: list[dict[str, Any]] = field(default_factory=list)

    def _check(self) -> None:
        if self.error:
            raise self.error

    def list_dashboards(self, **request: Any) -> dict[str, Any]:
        self._check()
        names = [name for name in self.dashboards if name.startswith(request["DashboardNamePrefix"])]
        return {"DashboardEntries": [{"DashboardName": name} for name in names]}

    def get_dashboard(self, **request: Any) -> dict[str, Any]:
        self._check()
        return {"DashboardBody": json.dumps(self.dashboards[request["DashboardName"]])}

    def get_metric_data(self, **request: Any) -> dict[str, Any]:
        self._check()
        self.metric_requests.append(request)
        results = [
            self._result(query, request) for query in request["MetricDataQueries"] if query.get("ReturnData", True)
        ]
        return {"MetricDataResults": results}

    def _result(self, query: dict[str, Any], request: dict[str, Any]) -> dict[str, Any]:
        if "Expression" in query:
            # The one expression of the dashboard above, on the newest values.
            return {"Id": query["Id"], "Label": query["Label"], "Timestamps": [NOW], "Values": [100 * 61.25 / 86]}
        stat = query["MetricStat"]
        name = stat["Metric"]["MetricName"]
        stamps: list[datetime] = []
        values: list[float] = []
        period = stat["Period"] // 60
        for minute in range(0, int((request["EndTime"] - request["StartTime"]).total_seconds()) // 60, period):
            value = figure(name, stat["Stat"], minute)
            if value is not None:
                stamps.insert(0, NOW - timedelta(minutes=minute))
                values.insert(0, value)
        return {"Id": query["Id"], "Label": query.get("Label", name), "Timestamps": stamps, "Values": values}

    def describe_alarms(self, **request: Any) -> dict[str, Any]:
        self._check()
        names = request.get("AlarmNames")
        if names == ["watched"]:
            return {"MetricAlarms": [self._watched()], "CompositeAlarms": []}
        kinds: dict[str, list[dict[str, Any]]] = {"MetricAlarms": [], "CompositeAlarms": []}
        for key, state, ago in (
            ("LowUtilization", "ALARM", 43),
            ("HardwareFault", "ALARM", 19),
            ("IdleAllocated", "OK", 170),
            ("FleetBlind", "OK", 178),
            ("JobHang", "INSUFFICIENT_DATA", 178),
            ("PartOfComposite", "ALARM", 43),
        ):
            name = f"local/trn1-pretrain/{key}"
            told = [] if key == "PartOfComposite" else ["topic"]
            if names is None or name in names:
                kinds["CompositeAlarms" if key == "LowUtilization" else "MetricAlarms"].append(
                    {
                        "AlarmName": name,
                        "StateValue": state,
                        "StateReason": "Threshold Crossed",
                        "StateTransitionedTimestamp": NOW - timedelta(minutes=ago),
                        "AlarmActions": told,
                    }
                )
        return kinds

    def _watched(self) -> dict[str, Any]:
        return {
            "AlarmName": "watched",
            "Namespace": "NeuronFleet",
            "MetricName": "NodesBlind",
            "Dimensions": [],
            "Statistic": "Maximum",
            "Period": 60,
            "Threshold": 0.5,
            "StateValue": "OK",
        }


@dataclass
class FakeInsights:
    """One table of worst nodes."""

    queries: list[dict[str, Any]] = field(default_factory=list)

    def start_query(self, **request: Any) -> dict[str, Any]:
        self.queries.append(request)
        return {"queryId": "q"}

    def get_query_results(self, **_: Any) -> dict[str, Any]:
        rows = [
            ("i-0c41d2a7e3b9f0001", "llama-pretrain", "FAULT", "21.5"),
            ("i-0c41d2a7e3b9f0002", "llama-pretrain", "RUNNING", "13.25"),
            ("i-0c41d2a7e3b9f0003", "<b>not markup</b>", "RUNNING", "13.25"),
        ]
        columns = ("node", "job_name", "state", "max(wasted_usd_per_hour)")
        return {
            "status": "Complete",
            "results": [
                [{"field": name, "value": value} for name, value in zip(columns, row, strict=True)]
                + [{"field": "@ptr", "value": "x"}]
                for row in rows
            ],
        }


def slack(text: str, *paragraphs: str) -> dict[str, Any]:
    sections = [{"type": "section", "text": {"type": "mrkdwn", "text": paragraph}} for paragraph in paragraphs]
    return {"text": text, "blocks": [{"type": "header", "text": {"type": "plain_text", "text": text}}, *sections]}


MESSAGES: list[dict[str, Any]] = [
    {
        "channel": "slack",
        "received_at": (NOW - timedelta(minutes=43)).timestamp(),
        "body": slack(
            "PAGE local/trn1-pretrain: Low utilization since 2026-11-21 02:45 UTC",
            "The fleet wastes money: utilization is below its threshold.",
            "*Job:* llama-pretrain (llama-8), owner foundation-models\n*Money:* $61.25 an hour wasted",
            "*Nodes, worst first*\n• i-0c41d2a7e3b9f0001: trn1.32xlarge, 9 % utilization, $15.31/h",
        ),
    },
    {
        "channel": "pagerduty",
        "received_at": (NOW - timedelta(minutes=19)).timestamp(),
        "body": {
            "event_action": "trigger",
            "payload": {
                "summary": "PAGE local/trn1-pretrain: Hardware fault since 2026-11-21 03:20 UTC",
                "custom_details": {"nodes": ["i-0c41d2a7e3b9f0001: dma-abort on device 3: replace"], "job": "llama"},
            },
        },
    },
    {
        "channel": "slack",
        "received_at": (NOW - timedelta(minutes=2)).timestamp(),
        "body": slack("RESOLVED local/inf2-chat: Endpoint errors after 12 min", "Endpoint errors is over."),
    },
]


def fake_cloud(
    cloudwatch: FakeCloudWatch | None = None, logs: FakeInsights | None = None, *, has_inbox: bool = True
) -> Cloud:
    """The endpoint, with or without the control addresses of the embedded AWS."""
    control: dict[str, dict[str, Any]] = {
        "status": {"ready": True, "now": NOW.timestamp()},
        "inbox": {"messages": MESSAGES},
    }
    return Cloud(
        "http://127.0.0.1:4599",
        shaped("cloudwatch", cloudwatch or FakeCloudWatch()),
        shaped("logs", logs or FakeInsights()),
        control.get if has_inbox else lambda _: None,
    )
