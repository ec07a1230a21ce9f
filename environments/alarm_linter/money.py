"""What alarms and metrics cost a month, and whether a fleet has more series than its budget."""

from collections.abc import Iterator
from typing import Final

from environments.alarm_linter.watched import Alarm, Watched
from fleet import metrics
from fleet.diagnostics import Diagnostic, note, refuse, warn
from fleet.fleet_spec import Purpose
from fleet.prices.wording import amount
from planning.month.cloudwatch import SERIES_OF_A_FLEET, SERIES_OF_A_JOB
from planning.month.prices import service_price

# More of CloudWatch's money than this for alarms, and less of it measures anything.
ALARMS_SHARE: Final = 0.5
DEAR_ALARM_USD: Final = 1.0


def costs(watched: Watched, cloudwatch_usd_per_month: float | None) -> Iterator[Diagnostic]:
    """The alarms' price as a note, or as a warning where it is much of what CloudWatch may cost."""
    per_metric, per_composite = service_price("alarm-metric-month"), service_price("composite-alarm-month").usd
    for alarm in watched.alarms:
        if (usd := per_metric.usd * _metrics(alarm)) > DEAR_ALARM_USD:
            why = f"it reads {_metrics(alarm)} metrics, which cost ${amount(usd)} a month ({per_metric.label})"
            yield warn("alarm-is-dear", alarm.name, amount(usd), why, "let nodes publish what it computes")
    usd = per_metric.usd * sum(map(_metrics, watched.alarms)) + per_composite * len(watched.composites)
    count = f"{len(watched.alarms)} alarms and {len(watched.composites)} composites"
    said = f"{count} cost ${amount(usd)} a month ({per_metric.label})"
    if cloudwatch_usd_per_month is not None and usd > ALARMS_SHARE * cloudwatch_usd_per_month:
        why = f"{said}: over half of the ${amount(cloudwatch_usd_per_month)} that CloudWatch may cost"
        fix = "raise monitoring.cloudwatch_usd_per_month, or make fewer fleets"
        yield warn("alarms-cost", "alarms", amount(usd), why, fix)
    else:
        yield note("alarms-cost", "alarms", amount(usd), said)


def _metrics(alarm: Alarm) -> int:
    return max(1, len(alarm.series))


def over_series_budget(catalogue: dict[str, metrics.MetricSpec]) -> Iterator[Diagnostic]:
    """An error where nodes would publish more series than the budget has; each is paid for by every fleet or job."""
    of_agents = [spec for spec in catalogue.values() if spec.publisher is metrics.Publisher.AGENT]
    # No fleet both trains and serves.
    of_fleets = [sum(s.per_fleet and s.only_of in (None, purpose) for s in of_agents) for purpose in Purpose]
    for of, count, budget in (
        ("fleet", max(of_fleets), SERIES_OF_A_FLEET.expected),
        ("job", sum(spec.per_job for spec in of_agents), SERIES_OF_A_JOB.high),
    ):
        if count > budget:
            why = f"{count} series of each {of}; the budget has {budget}"
            yield refuse(f"{of}-over-series-budget", "metrics", count, why, "publish it in the node's log event alone")
