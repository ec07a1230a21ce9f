"""The widgets that are not charts: alarm status, Logs Insights tables, text. And the page's own alarm summary."""

import re
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from markdown_it import MarkdownIt

from local.dashboards_page.cloud import Cloud, DashboardsPageError
from local.dashboards_page.metric_data import alarm_name

if TYPE_CHECKING:
    from mypy_boto3_cloudwatch.literals import AlarmTypeType
    from mypy_boto3_cloudwatch.type_defs import DescribeAlarmsInputTypeDef, DescribeAlarmsOutputTypeDef
    from mypy_boto3_logs.type_defs import ResultFieldTypeDef

# As DescribeAlarms allows in one call.
NAMES_AT_ONCE: Final = 100
QUERY_SECONDS: Final = 15.0
POLL_SECONDS: Final = 0.1
ALARM_TYPES: "Final[Sequence[AlarmTypeType]]" = ["MetricAlarm", "CompositeAlarm"]
STATE_ORDER: Final = {"ALARM": 0, "INSUFFICIENT_DATA": 1, "OK": 2}
_SOURCE: Final = re.compile(r"^\s*SOURCE\s+'([^']+)'\s*\|\s*")
_LIMIT: Final = re.compile(r"\|\s*limit\s+(\d+)", re.IGNORECASE)
# CloudWatch's own notation for a link that looks like a button.
_BUTTON: Final = re.compile(r"\[button(?::\w+)?:")
# No raw HTML: a dashboard's text comes from an endpoint, and the page must not run it.
_MARKDOWN: Final = MarkdownIt("commonmark", {"html": False, "linkify": False}).enable("table")


def text_widget(properties: Mapping[str, Any]) -> dict[str, Any]:
    """Markdown as HTML."""
    return {"html": _MARKDOWN.render(_BUTTON.sub("[", properties.get("markdown", "")))}


def alarm_widget(cloud: Cloud, properties: Mapping[str, Any]) -> dict[str, Any]:
    """The states of the alarms that the widget names; one that is not there is shown as missing."""
    names = [alarm_name(arn) for arn in properties.get("alarms", ())]
    found: dict[str, dict[str, Any]] = {}
    for offset in range(0, len(names), NAMES_AT_ONCE):
        answer = cloud.cloudwatch.describe_alarms(
            AlarmNames=names[offset : offset + NAMES_AT_ONCE], AlarmTypes=ALARM_TYPES, MaxRecords=NAMES_AT_ONCE
        )
        found |= {alarm["name"]: alarm for alarm in _alarms(answer)}
    states = properties.get("states")
    shown = [found.get(name, {"name": name, "state": "MISSING", "since": None, "reason": ""}) for name in names]
    return {"alarms": [alarm for alarm in shown if not states or alarm["state"] in states]}


def alarm_summary(cloud: Cloud, environment: str) -> list[dict[str, Any]]:
    """Every alarm of the environment, those in ALARM first."""
    found: list[dict[str, Any]] = []
    request: DescribeAlarmsInputTypeDef = {
        "AlarmNamePrefix": f"{environment}/", "AlarmTypes": ALARM_TYPES, "MaxRecords": NAMES_AT_ONCE
    }  # fmt: skip
    while True:
        answer = cloud.cloudwatch.describe_alarms(**request)
        found += _alarms(answer)
        if not answer.get("NextToken"):
            return sorted(found, key=lambda alarm: (STATE_ORDER.get(alarm["state"], 3), alarm["name"]))
        request["NextToken"] = answer["NextToken"]


def log_widget(
    cloud: Cloud,
    properties: Mapping[str, Any],
    start: datetime,
    end: datetime,
    sleep: Callable[[float], None] = time.sleep,
) -> dict[str, Any]:
    """The answer of a Logs Insights query as columns and rows."""
    query, groups = properties.get("query", ""), []
    while match := _SOURCE.match(query):
        groups.append(match.group(1))
        query = query[match.end() :]
    identity = cloud.logs.start_query(
        logGroupNames=groups, startTime=int(start.timestamp()), endTime=int(end.timestamp()), queryString=query
    )["queryId"]
    limits = _LIMIT.findall(query)
    return {**table(_await(cloud, identity, sleep)), "limit": int(limits[-1]) if limits else None}


def table(results: "Sequence[Sequence[ResultFieldTypeDef]]") -> dict[str, Any]:
    """Rows of fields as one table; the columns are the fields in the order of their first appearance."""
    rows = [{field["field"]: field.get("value", "") for field in row if field["field"] != "@ptr"} for row in results]
    columns = list(dict.fromkeys(name for row in rows for name in row))
    return {"columns": columns, "rows": [[row.get(name, "") for name in columns] for row in rows]}


def _await(cloud: Cloud, identity: str, sleep: Callable[[float], None]) -> "Sequence[Sequence[ResultFieldTypeDef]]":
    for _ in range(int(QUERY_SECONDS / POLL_SECONDS)):
        answer = cloud.logs.get_query_results(queryId=identity)
        if answer["status"] == "Complete":
            return answer["results"]
        if answer["status"] in {"Failed", "Cancelled", "Timeout"}:
            raise DashboardsPageError(f"The log query ended as {answer['status']}")
        sleep(POLL_SECONDS)
    raise DashboardsPageError(f"The log query took longer than {QUERY_SECONDS:g} s")


def _alarms(answer: "DescribeAlarmsOutputTypeDef") -> list[dict[str, Any]]:
    return [
        {
            "name": alarm["AlarmName"],
            "state": alarm.get("StateValue", "INSUFFICIENT_DATA"),
            "since": _moment(alarm.get("StateTransitionedTimestamp") or alarm.get("StateUpdatedTimestamp")),
            "reason": alarm.get("StateReason", ""),
            "pages": bool(alarm.get("AlarmActions")),
        }
        for alarm in (*answer.get("MetricAlarms", ()), *answer.get("CompositeAlarms", ()))
    ]


def _moment(moment: datetime | None) -> int | None:
    return None if moment is None else int(moment.astimezone(UTC).timestamp() * 1000)
