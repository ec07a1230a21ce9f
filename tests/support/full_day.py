"""The dashboards that environment `local` deploys, over a day of data in every series that they draw.

The figures are made up, and answered by the embedded AWS's own arithmetic: GetMetricData, SEARCH and Logs Insights.
"""

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any, cast

from fleet import metrics, naming
from local.alarm_evaluation import SeriesKey
from local.alarm_evaluation.statistics import Datum
from local.dashboards_page.cloud import Cloud
from local.dashboards_page.metric_queries import lines
from local.emulator.cloudwatch.metric_data import get_metric_data
from local.emulator.cloudwatch.metric_store import MetricStore
from local.emulator.logs.events import Event
from local.emulator.logs.insights import run
from local.emulator.logs.insights_syntax import parse
from tests.support.watching import dashboards, watched

NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
MINUTES = 24 * 60
PREFIX = "neuron-fleet-local-"
JOBS = ("pretrain-7b-0412", "sweep-0031")
NODES = 4
BLIND, FAULT, SILENT = range(3)
_UNSEEN = {"state": "BLIND", "state_reason": "no readable report for 1620 s: neuron-monitor is silent"}
_ALARM = re.compile(r"<Fn::GetAtt:\[(\w+), Arn\]>")
_SEARCH = re.compile(r"SEARCH\('\{([^}]*)\} ([^']*)'")


@cache
def bodies() -> dict[str, dict[str, Any]]:
    """The dashboards' bodies by name, with the alarms' names where CloudFormation would write their ARNs."""
    of = watched("local")
    resources = of.templates["observability"]["Resources"]
    text = _ALARM.sub(lambda found: str(resources[found[1]]["Properties"]["AlarmName"]), json.dumps(dashboards(of)))
    return {PREFIX + audience: body for audience, body in json.loads(text).items()}


@cache
def day() -> MetricStore:
    """Every series that a dashboard draws, each minute of a day."""
    store = MetricStore()
    keys = dict.fromkeys(key for body in bodies().values() for widget in body["widgets"] for key in _keys(widget))
    first = int(NOW.timestamp()) - MINUTES * 60
    for number, key in enumerate(keys):
        for minute in range(MINUTES):
            store.put(key, first + minute * 60, "None", _datum(key.name, number, minute))
    return store


def _keys(widget: Mapping[str, Any]) -> Iterator[SeriesKey]:
    for line in lines(widget.get("properties", {})):
        if "MetricStat" in line.query:
            metric = line.query["MetricStat"]["Metric"]
            dimensions = ((each["Name"], each["Value"]) for each in metric["Dimensions"])
            yield SeriesKey(metric["Namespace"], metric["MetricName"], frozenset(dimensions))
        for schema, terms in _SEARCH.findall(line.query.get("Expression", "")):
            namespace, *names = schema.split(",")
            asked = dict(re.findall(r'(\w+)="([^"]*)"', terms))
            for job in JOBS:
                values = asked | {metrics.JOB_ID: job}
                yield SeriesKey(namespace, asked["MetricName"], frozenset((name, values[name]) for name in names))


def _datum(name: str, number: int, minute: int) -> Datum:
    wave = 0.5 + 0.4 * math.sin((minute + 37 * number) / (60 + number % 7))
    spec = metrics.CATALOGUE.get(name)
    if spec and spec.kind is metrics.Kind.DISTRIBUTION:
        return Datum.of_values([round(100 * wave * share) for share in (0.4, 0.8, 0.9, 1.0)], [6, 6, 12, 8])
    if spec and spec.kind is metrics.Kind.STATE:
        return Datum.of_values([float((minute // 90 + number) % 4 == 0)])
    return Datum.of_values([wave * _scale(spec)])


def _scale(spec: metrics.MetricSpec | None) -> float:
    scales = {metrics.Unit.PERCENT: 90.0, metrics.Unit.BYTES: 9e9, metrics.Unit.COUNT_PER_SECOND: 42_000.0}
    return scales.get(spec.unit, 24.0) if spec else 24.0


@dataclass
class FullDay:
    """CloudWatch and Logs Insights over the day."""

    answers: dict[str, list[dict[str, Any]]] = field(default_factory=dict)

    def list_dashboards(self, **request: Any) -> dict[str, Any]:
        return {"DashboardEntries": [{"DashboardName": name} for name in bodies()]}

    def get_dashboard(self, **request: Any) -> dict[str, Any]:
        return {"DashboardBody": json.dumps(bodies()[request["DashboardName"]])}

    def get_metric_data(self, **request: Any) -> dict[str, Any]:
        times = {edge: request[edge].timestamp() for edge in ("StartTime", "EndTime")}
        answer = get_metric_data(day(), {**request, **times})
        for result in answer["MetricDataResults"]:
            result["Timestamps"] = [datetime.fromtimestamp(at, UTC) for at in result["Timestamps"]]
        return answer

    def describe_alarms(self, **request: Any) -> dict[str, Any]:
        alarms = [
            {
                "AlarmName": name,
                "StateValue": "ALARM" if "HardwareFault" in name else "OK",
                "StateTransitionedTimestamp": NOW - timedelta(minutes=12),
                "AlarmActions": ["topic"],
            }
            for name in request.get("AlarmNames", ["local/trn1-pretrain/HardwareFault"])
        ]
        return {"MetricAlarms": alarms, "CompositeAlarms": []}

    def start_query(self, **request: Any) -> dict[str, Any]:
        rows = run(parse(request["queryString"], NOW.timestamp()), _events(request["logGroupNames"])).rows
        identity = str(len(self.answers))
        self.answers[identity] = rows
        return {"queryId": identity}

    def get_query_results(self, **request: Any) -> dict[str, Any]:
        rows = self.answers[request["queryId"]]
        return {
            "status": "Complete",
            "results": [[{"field": name, "value": value} for name, value in row.items()] for row in rows],
        }


def _events(groups: Sequence[str]) -> list[Event]:
    """A minute of every node; of the first fleet one is BLIND, one has a FAULT, and one was heard 27 minutes ago."""
    moment = int(NOW.timestamp() * 1000) - 60_000
    if naming.capacity_log_group("local") in groups:
        missing = {"fleet": "trn1-pretrain", "missing": 1, "reason": "InsufficientInstanceCapacity", "action": "wait"}
        return [Event(moment, json.dumps(missing), "group", "stream")]
    fleets = watched("local").environment.fleets
    nodes = [_node_event(fleet, node) for fleet in fleets for node in range(NODES)]
    before = moment - 26 * 60_000
    told = [(before, nodes[BLIND]), (before, nodes[SILENT])]
    told += [(moment, event) for at, event in enumerate(nodes) if at not in (BLIND, FAULT, SILENT)]
    told.append((moment, nodes[FAULT] | {"state": "FAULT", "cores": {"utilization": [0.0] * 32}}))
    told.append((moment, {name: value for name, value in nodes[BLIND].items() if name != "cores"} | _UNSEEN))
    return [Event(at, json.dumps(event), "group", "stream") for at, event in told]


def _node_event(fleet: Any, node: int) -> dict[str, Any]:
    share = {"tensor_engine_utilization": 41.5, "neuron_core_utilization": 96.0, "cost_usd_per_hour": 10.75}
    return {
        "fleet": fleet.name,
        "node": f"i-0{node}41d2a7e3b9f000{len(fleet.name):x}",
        "minute": "2026-11-21T11:59:00Z",
        "state": "RUNNING",
        "state_reason": "executions completed",
        "price": {"kind": "on-demand", "as_of": "2026-10-03"},
        "cores": {"utilization": [(7 * core + 29 * node) % 101 for core in range(32)]},
        "jobs": [
            {**share, "job": job, "job_name": job, "owner": owner, "wasted_usd_per_hour": 2.5 + node + at}
            for at, (job, owner) in enumerate(zip(JOBS, ("foundation-models", "search"), strict=True))
        ],
    }


def full_day() -> Cloud:
    """The endpoint; nobody there tells of changes."""
    cloud = FullDay()
    return Cloud(
        "http://127.0.0.1:4599",
        cast("Any", cloud),
        cast("Any", cloud),
        {"status": {"now": NOW.timestamp()}, "inbox": None}.get,
    )
