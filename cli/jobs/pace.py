"""What CloudWatch has of a job: tokens a second, tokens so far, and how busy its tensor engines are."""

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final

from cli.account import Account
from cli.jobs.found import Found
from fleet import metrics
from fleet.jobs.progress import Pace
from fleet.metrics import MetricSpec

if TYPE_CHECKING:
    from mypy_boto3_cloudwatch.type_defs import MetricDataQueryTypeDef, MetricTypeDef

_LATELY: Final = timedelta(minutes=10)
# CloudWatch keeps one-minute figures for 15 days, five-minute ones for 63, hourly ones for 455.
_PERIODS: Final = ((timedelta(days=1), 60), (timedelta(days=30), 300))
_LONGEST_PERIOD: Final = 3600


def pace_of(account: Account, environment: str, found: Found, now: datetime) -> Pace:
    """As the job's nodes reported it; a job that reports nothing has a pace of nothing known.

    Raises:
        AwsError: CloudWatch does not answer.
    """
    end = min(now, found.stopped) if found.stopped else now
    end = end.replace(second=0, microsecond=0) + (timedelta(minutes=1) if found.stopped else timedelta())
    lately = _values(account, environment, found, (end - _LATELY, end), 60)
    done = None
    if found.created is not None and found.created < end:
        period = next((p for longest, p in _PERIODS if end - found.created <= longest), _LONGEST_PERIOD)
        sums = _values(account, environment, found, (found.created, end), period)["tokens"]
        # A rate of each node for each of its minutes.
        done = sum(sums) * metrics.PERIOD_SECONDS if sums else None
    busy = lately["busy"]
    return Pace(tuple(lately["tokens"]), done, sum(busy) / len(busy) if busy else None)


def _values(
    account: Account, environment: str, found: Found, span: tuple[datetime, datetime], period: int
) -> dict[str, list[float]]:
    queries = [
        _query("tokens", metrics.TOKENS_PER_SECOND, "Sum", environment, found, period),
        _query("busy", metrics.TENSOR_ENGINE_UTILIZATION, "Average", environment, found, period),
    ]
    pages = account.cloudwatch.get_paginator("get_metric_data").paginate(
        MetricDataQueries=queries, StartTime=span[0], EndTime=span[1], ScanBy="TimestampAscending"
    )
    values: dict[str, list[float]] = {"tokens": [], "busy": []}
    for page in pages:
        for result in page.get("MetricDataResults", []):
            values[result["Id"]] += result.get("Values", [])
    return values


def _query(
    key: str, metric: MetricSpec, statistic: str, environment: str, found: Found, period: int
) -> "MetricDataQueryTypeDef":
    dimensions = dict(zip(metrics.JOB_DIMENSIONS, (environment, found.fleet.name, found.job_id), strict=True))
    named: MetricTypeDef = {
        "Namespace": metrics.NAMESPACE,
        "MetricName": metric.name,
        "Dimensions": [{"Name": name, "Value": value} for name, value in dimensions.items()],
    }
    return {"Id": key, "MetricStat": {"Metric": named, "Period": period, "Stat": statistic}, "ReturnData": True}
