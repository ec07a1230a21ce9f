"""What CloudWatch knows of either side: requests, 5xx and p99 by the minute, failed executions, dollars for tokens."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final

from fleet import load_balancer, metrics, naming
from fleet.load_balancer import EndpointNames
from fleet.rollout.facts import Minute, RolloutPlace, Side, SidePlace, median
from lambdas.rollout.ports import Window

if TYPE_CHECKING:
    from mypy_boto3_cloudwatch import CloudWatchClient
    from mypy_boto3_cloudwatch.type_defs import MetricDataQueryTypeDef, MetricStatTypeDef, MetricTypeDef
from fleet.hosting import variants
from fleet.hosting.variants import VariantNames

Series = dict[datetime, float]
_REQUESTS, _ERRORS, _UNREACHED, _P99 = "requests", "errors", "unreached", "p99"
_OF_BALANCER: Final = {
    _REQUESTS: (load_balancer.REQUEST_COUNT, "Sum"),
    _ERRORS: (load_balancer.TARGET_5XX, "Sum"),
    # Requests that no task took: the balancer answers them with a 502 that counts for no target group.
    _UNREACHED: (load_balancer.TARGET_CONNECTION_ERRORS, "Sum"),
    _P99: (load_balancer.TARGET_RESPONSE_TIME, "p99"),
}
# One node writes one datum a minute; a batch that is sent twice changes neither of these.
_OF_TASK: Final = {
    metrics.EXECUTION_ERRORS.name: "Maximum",
    metrics.COST_USD_PER_HOUR.name: "Average",
    metrics.TOKENS_PER_SECOND.name: "Average",
}
# GetMetricData takes 500 queries.
_TASKS: Final = 150


class CloudWatchFigures:
    """CloudWatch."""

    def __init__(self, cloudwatch: "CloudWatchClient") -> None:
        self._cloudwatch = cloudwatch

    def add_to(self, side: Side, place: RolloutPlace, of: SidePlace, tasks: tuple[str, ...], during: Window) -> Side:
        """``side`` with its minutes, failed executions and price of tokens in that time."""
        start = during[0].astimezone(UTC).replace(second=0, microsecond=0)
        queries = [query(name, load_balancer.NAMESPACE, *of_balancer(of.names, name)) for name in _OF_BALANCER]
        for number, task in enumerate(tasks[:_TASKS]):
            dimensions = {
                metrics.ENVIRONMENT: place.environment, metrics.FLEET: place.fleet, metrics.JOB_ID: task
            }  # fmt: skip
            queries += [
                query(f"{name.lower()}_{number}", metrics.NAMESPACE, name, statistic, dimensions)
                for name, statistic in _OF_TASK.items()
            ]
        found = self._ask(queries, start, during[1])
        return replace(
            side,
            minutes=_minutes(found),
            runtime_errors=_errors(_by_task(found, metrics.EXECUTION_ERRORS.name)),
            usd_per_million_tokens=_price(
                _by_task(found, metrics.COST_USD_PER_HOUR.name), _by_task(found, metrics.TOKENS_PER_SECOND.name)
            ),
        )

    def alarms(self, place: RolloutPlace, since: datetime) -> tuple[str, ...]:
        """Keys of the fleet's alarms that went off since then and are on."""
        prefix = naming.alarm_name(place.environment, place.fleet, "")
        pages = self._cloudwatch.get_paginator("describe_alarms").paginate(
            AlarmNamePrefix=prefix, StateValue="ALARM", AlarmTypes=["MetricAlarm", "CompositeAlarm"]
        )
        return tuple(
            alarm["AlarmName"].removeprefix(prefix)
            for page in pages
            for alarm in [*page.get("MetricAlarms", ()), *page.get("CompositeAlarms", ())]
            if alarm["StateUpdatedTimestamp"] > since
        )

    def _ask(self, queries: Sequence["MetricDataQueryTypeDef"], start: datetime, now: datetime) -> dict[str, Series]:
        # To the end of the minute that runs, and whatever the clocks differ by.
        end = now + timedelta(minutes=1)
        pages = self._cloudwatch.get_paginator("get_metric_data").paginate(
            MetricDataQueries=queries, StartTime=start, EndTime=end, ScanBy="TimestampAscending"
        )
        found: dict[str, Series] = {}
        for page in pages:
            for result in page["MetricDataResults"]:
                at = found.setdefault(result["Id"], {})
                at.update(zip(result["Timestamps"], result["Values"], strict=True))
        return found


def of_balancer(names: EndpointNames, which: str) -> tuple[str, str, dict[str, str]]:
    """Name, statistic and dimensions of one of the load balancer's metrics."""
    name, statistic = _OF_BALANCER[which]
    return name, statistic, dict(names.dimensions(name))


def query(
    identifier: str, namespace: str, name: str, statistic: str, dimensions: Mapping[str, str]
) -> "MetricDataQueryTypeDef":
    """One series by the minute, as GetMetricData is asked for it."""
    metric: MetricTypeDef = {
        "Namespace": namespace,
        "MetricName": name,
        "Dimensions": [{"Name": key, "Value": value} for key, value in dimensions.items()],
    }
    stat: MetricStatTypeDef = {"Metric": metric, "Period": metrics.PERIOD_SECONDS, "Stat": statistic}
    return {"Id": identifier, "MetricStat": stat, "ReturnData": True}


def _minutes(found: Mapping[str, Series]) -> tuple[Minute, ...]:
    requests, errors, unreached = (found.get(name, {}) for name in (_REQUESTS, _ERRORS, _UNREACHED))
    p99 = found.get(_P99, {})
    # The load balancer leaves out what was nothing: a minute with requests and without 5xx had none.
    return tuple(
        Minute(
            at=at,
            requests=int(requests.get(at, 0)) + int(unreached.get(at, 0)),
            errors=int(errors.get(at, 0)) + int(unreached.get(at, 0)),
            p99=p99.get(at),
        )
        for at in sorted({*requests, *errors, *unreached})
    )


def _by_task(found: Mapping[str, Series], name: str) -> list[Series]:
    return [series for key, series in found.items() if key.startswith(f"{name.lower()}_") and series]


def _errors(tasks: Sequence[Series]) -> int | None:
    return int(sum(sum(series.values()) for series in tasks)) if tasks else None


def _price(costs: Sequence[Series], tokens: Sequence[Series]) -> float | None:
    """Dollars for a million tokens: the median of the minutes in which both are known."""
    paid, made = _total(costs), _total(tokens)
    prices = [paid[at] / (made[at] * 3600) * 1e6 for at in paid.keys() & made.keys() if made[at] > 0]
    return median(prices) if prices else None


def _total(tasks: Sequence[Series]) -> Series:
    total: Series = {}
    for series in tasks:
        for at, value in series.items():
            total[at] = total.get(at, 0.0) + value
    return total


_REQUESTS, _ERRORS, _P99 = "requests", "errors", "p99"
_REFUSED, _NOT_GOOD = "refused", "not_good"
# The model's own time: SageMaker's overhead is the same for both variants and would hide what differs between them.
_OF_VARIANT = {
    _REQUESTS: (variants.INVOCATIONS, "Sum"),
    _ERRORS: (variants.ERRORS_5XX, "Sum"),
    _REFUSED: (variants.ERRORS_4XX, "Sum"),
    _NOT_GOOD: (variants.MODEL_ERRORS, "Sum"),
    _P99: (variants.MODEL_LATENCY, "p99"),
}


class VariantFigures(CloudWatchFigures):
    """CloudWatch; alarms are those of every endpoint."""

    def add_to(self, side: Side, place: RolloutPlace, of: SidePlace, tasks: tuple[str, ...], during: Window) -> Side:
        """``side`` with its minutes in that time. Executions and dollars for tokens nobody measures there."""
        start = during[0].astimezone(UTC).replace(second=0, microsecond=0)
        dimensions = dict(VariantNames(of.cluster, of.service).dimensions)
        queries = [
            query(key, variants.NAMESPACE, name, statistic, dimensions)
            for key, (name, statistic) in _OF_VARIANT.items()
        ]
        found = self._ask(queries, start, during[1])
        requests, errors, p99 = found.get(_REQUESTS, {}), _failed(found), found.get(_P99, {})
        return replace(
            side,
            minutes=tuple(
                Minute(
                    at=at,
                    requests=int(requests.get(at, 0)),
                    errors=int(errors.get(at, 0)),
                    p99=p99[at] / variants.MICROSECONDS if at in p99 else None,
                )
                for at in sorted({*requests, *errors})
            ),
        )


def _failed(found: Mapping[str, Series]) -> Series:
    """5xx, and what the model never answered: a container that hangs or dies has given no 5xx."""
    errors, refused, not_good = (found.get(key, {}) for key in (_ERRORS, _REFUSED, _NOT_GOOD))
    minutes = {*errors, *not_good}
    return {at: max(errors.get(at, 0.0), not_good.get(at, 0.0) - refused.get(at, 0.0)) for at in minutes}
