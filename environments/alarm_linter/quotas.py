"""What CloudWatch would refuse or take long to take in, and what alarms and metrics cost a month.

Source: "CloudWatch service quotas" of the user guide and the limits in PutMetricAlarm, PutCompositeAlarm and
PutDashboard of the API reference, as of 2026-11: 3 Put operations a second and account; an alarm reads 10 metrics by 10
expressions, over a day at most; 200 alarms on Metrics Insights queries a Region, not adjustable; a composite has 100
children and a rule of 10,240 characters, a child 150 parents; a widget draws 500 metrics, a dashboard 2,500 in 500
widgets.
"""

import re
from collections import Counter
from collections.abc import Iterator
from typing import Final

from environments.alarm_linter.watched import Alarm, Composite, Dashboard, Watched
from fleet import metrics
from fleet.diagnostics import Diagnostic, note, refuse, warn
from fleet.fleet_spec import Purpose
from fleet.prices.wording import amount
from planning.month.cloudwatch import SERIES_OF_A_FLEET, SERIES_OF_A_JOB
from planning.month.prices import service_price

PUTS_PER_SECOND: Final = 3
PATIENCE_MINUTES: Final = 5
METRICS_OF_AN_ALARM: Final = 10
EXPRESSIONS_OF_AN_ALARM: Final = 10
LONGEST_MINUTES: Final = 24 * 60
INSIGHTS_ALARMS: Final = 200
CHILDREN: Final = 100
PARENTS: Final = 150
RULE_CHARACTERS: Final = 10_240
METRICS_OF_A_WIDGET: Final = 500
METRICS_OF_A_DASHBOARD: Final = 2_500
WIDGETS: Final = 500
_INSIGHTS: Final = re.compile(r"^\s*SELECT\b", re.IGNORECASE)


def over_quotas(watched: Watched) -> Iterator[Diagnostic]:
    """Everything that is too large or too many."""
    for alarm in watched.alarms:
        yield from _alarm(alarm)
    yield from _insights(watched.alarms)
    known = {alarm.name for alarm in watched.every}
    for composite in watched.composites:
        yield from _composite(composite, known)
    yield from _parents(watched.composites)
    for dashboard in watched.dashboards:
        yield from _dashboard(dashboard)
    yield from _deploy(len(watched.every))


def _alarm(alarm: Alarm) -> Iterator[Diagnostic]:
    if len(alarm.series) > METRICS_OF_AN_ALARM or len(alarm.expressions) > EXPRESSIONS_OF_AN_ALARM:
        why = f"{len(alarm.series)} metrics and {len(alarm.expressions)} expressions; CloudWatch takes 10 of each"
        yield refuse("alarm-too-many-metrics", alarm.name, len(alarm.series), why, "divide it, and join the parts")
    if alarm.minutes > LONGEST_MINUTES:
        why = f"it looks back {alarm.minutes} minutes; CloudWatch looks back a day at most"
        yield refuse("alarm-looks-too-far-back", alarm.name, alarm.minutes, why, "look at fewer periods")
    if any("SEARCH(" in expression for expression in alarm.expressions):
        yield refuse("alarm-reads-search", alarm.name, "SEARCH", "an alarm cannot read SEARCH", "name its metrics")


def _insights(alarms: tuple[Alarm, ...]) -> Iterator[Diagnostic]:
    reading = sum(any(_INSIGHTS.match(expression) for expression in alarm.expressions) for alarm in alarms)
    if reading > INSIGHTS_ALARMS:
        why = f"{reading} alarms on Metrics Insights queries; a Region has {INSIGHTS_ALARMS}, and no more are to be had"
        yield refuse("metrics-insights-quota", "alarms", reading, why, "read metrics by their names")


def _composite(composite: Composite, known: set[str]) -> Iterator[Diagnostic]:
    if len(set(composite.children)) > CHILDREN:
        why = f"{len(set(composite.children))} children; CloudWatch takes {CHILDREN}"
        yield refuse("composite-too-many-children", composite.name, len(composite.children), why, "nest composites")
    if len(composite.rule) > RULE_CHARACTERS:
        why = f"a rule of {len(composite.rule)} characters; CloudWatch takes {RULE_CHARACTERS}"
        yield refuse("composite-rule-too-long", composite.name, len(composite.rule), why, "nest composites")
    for child in (*composite.children, *filter(None, [composite.suppressor])):
        if child not in known:
            why = f"it reads {child}, which is no alarm of this environment"
            yield refuse("composite-unknown-child", composite.name, child, why, "make that alarm, or do not read it")


def _parents(composites: tuple[Composite, ...]) -> Iterator[Diagnostic]:
    parents = Counter(
        child for composite in composites for child in {*composite.children, *filter(None, [composite.suppressor])}
    )
    for child, count in parents.items():
        if count > PARENTS:
            why = f"{count} composites read it; CloudWatch lets {PARENTS} do so"
            yield refuse("composite-too-many-parents", child, count, why, "make environments of fewer fleets")


def _dashboard(dashboard: Dashboard) -> Iterator[Diagnostic]:
    for widget in dashboard.widgets:
        if len(widget.series) > METRICS_OF_A_WIDGET:
            place = f"{dashboard.name}: {widget.title}"
            why = f"{len(widget.series)} metrics; a widget draws {METRICS_OF_A_WIDGET}"
            yield refuse("widget-too-many-metrics", place, len(widget.series), why, "divide it")
    drawn = sum(len(widget.series) for widget in dashboard.widgets)
    if drawn > METRICS_OF_A_DASHBOARD or len(dashboard.widgets) > WIDGETS:
        why = f"{drawn} metrics in {len(dashboard.widgets)} widgets; {METRICS_OF_A_DASHBOARD} in {WIDGETS} are the most"
        yield refuse("dashboard-too-large", dashboard.name, drawn, why, "make environments of fewer fleets")


def _deploy(alarms: int) -> Iterator[Diagnostic]:
    minutes = alarms / PUTS_PER_SECOND / 60
    if minutes > PATIENCE_MINUTES:
        why = (
            f"{alarms} alarms take {minutes:.0f} minutes to deploy: CloudWatch takes {PUTS_PER_SECOND} a second of an "
            "account"
        )
        yield warn("alarms-deploy-slowly", "alarms", alarms, why, "make environments of fewer fleets")


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
