"""The few shapes that dashboards draw. A row shares its width between its shapes; nobody writes a coordinate."""

from collections.abc import Callable, Sequence
from math import ceil
from typing import Final

from aws_cdk import Duration
from aws_cdk import aws_cloudwatch as cw
from aws_cdk.interfaces.aws_cloudwatch import IAlarmRef

from dashboards import colors
from fleet import load_balancer, metrics
from fleet.alarms import AlarmSpec, Comparison, MetricRef
from fleet.load_balancer import EndpointNames
from fleet.metrics import MetricSpec, Unit

MINUTE: Final = Duration.seconds(metrics.PERIOD_SECONDS)
COLUMNS: Final = 24
GRAPH_HEIGHT: Final = 6
# Tiles that stand side by side in a widget as wide as the page, at the width of a laptop's screen.
TILES_IN_A_ROW: Final = 5

# Counts need no unit, and amounts of money have it in their title.
_AXIS_LABELS: Final = {Unit.PERCENT: "%", Unit.SECONDS: "seconds", Unit.BYTES: "bytes"}

_WORDS: Final = {Comparison.BELOW: "below", Comparison.ABOVE: "above", Comparison.AT_LEAST: "at or above"}

# In the order in which they are stacked: work at the bottom, trouble on top.
_STATES: Final = (
    (metrics.NODES_RUNNING, "running", colors.RUNNING),
    (metrics.NODES_CHECKPOINT, "checkpoint or announced", colors.CHECKPOINT),
    (metrics.NODES_COMPILING, "compiling", colors.COMPILING),
    (metrics.NODES_STARTUP, "startup", colors.STARTUP),
    (metrics.NODES_NO_JOB, "no job", colors.NO_JOB),
    (metrics.NODES_DRAINING, "draining", colors.DRAINING),
    (metrics.NODES_BLIND, "blind", colors.UNSEEN),
    (metrics.NODES_FAULT, "fault", colors.ALARM),
)

Shape = Callable[[int], cw.IWidget]
"""A widget that waits to be told its width."""
Row = list[cw.IWidget]


def row(*shapes: Shape) -> Row:
    """The shapes side by side, each as wide as the others."""
    width = COLUMNS // len(shapes)
    return [shape(width) for shape in shapes]


def rows_of(columns: int, shapes: Sequence[Shape]) -> list[Row]:
    """As many rows as the shapes need: for one shape per fleet, however many fleets there are."""
    return [row(*shapes[start : start + columns]) for start in range(0, len(shapes), columns)]


def series(
    spec: MetricSpec,
    statistic: str,
    environment: str,
    fleet: str,
    *,
    label: str | None = None,
    color: str | None = None,
) -> cw.Metric:
    """A fleet-wide series by the minute. A Sum over a fleet's nodes doubles for a minute when a batch is sent twice."""
    return cw.Metric(
        namespace=metrics.NAMESPACE,
        metric_name=spec.name,
        statistic=statistic,
        dimensions_map={metrics.ENVIRONMENT: environment, metrics.FLEET: fleet},
        period=MINUTE,
        label=label or fleet,
        color=color,
    )


def total(spec: MetricSpec, environment: str, fleets: Sequence[str], *, label: str) -> cw.MathExpression:
    """A metric summed over the nodes of several fleets."""
    # Ids have to differ between the expressions of one widget, and fleet names hold dashes.
    prefix = spec.name[0].lower() + spec.name[1:]
    parts = {f"{prefix}{index}": series(spec, "Sum", environment, fleet) for index, fleet in enumerate(fleets)}
    return cw.MathExpression(expression=f"SUM([{', '.join(parts)}])", using_metrics=parts, label=label, period=MINUTE)


def watched(alarm: AlarmSpec, *, label: str) -> cw.IMetric:
    """What an alarm looks at, as a line: its series, or its expression."""
    if isinstance(alarm.metric, MetricRef):
        return _metric(alarm.metric, label)
    parts = {name: _metric(ref, name) for name, ref in alarm.metric.queries}
    return cw.MathExpression(expression=alarm.metric.expression, using_metrics=parts, label=label, period=MINUTE)


def _metric(ref: MetricRef, label: str) -> cw.Metric:
    return cw.Metric(
        namespace=ref.namespace,
        metric_name=ref.name,
        statistic=ref.statistic,
        dimensions_map=dict(ref.dimensions),
        period=MINUTE,
        label=label,
    )


def balancer_series(names: EndpointNames, metric: str, statistic: str, *, label: str) -> cw.Metric:
    """A series of a load balancer, by the minute."""
    return cw.Metric(
        namespace=load_balancer.NAMESPACE,
        metric_name=metric,
        statistic=statistic,
        dimensions_map=dict(names.dimensions(metric)),
        period=MINUTE,
        label=label,
    )


def graph(
    title: str,
    unit: Unit,
    lines: Sequence[cw.IMetric],
    *,
    stacked: bool = False,
    alarms: Sequence[AlarmSpec] = (),
    marks: Sequence[cw.HorizontalAnnotation] = (),
) -> Shape:
    """Lines over time with an axis from zero; thresholds are drawn from the alarms that watch them, and ``marks``."""
    axis = cw.YAxisProps(
        min=0, max=100 if unit is Unit.PERCENT else None, label=_AXIS_LABELS.get(unit), show_units=False
    )
    return lambda width: cw.GraphWidget(
        title=title,
        left=list(lines),
        left_y_axis=axis,
        left_annotations=[*(_threshold(alarm) for alarm in alarms), *marks],
        stacked=stacked,
        legend_position=cw.LegendPosition.BOTTOM,
        width=width,
        height=GRAPH_HEIGHT,
    )


def node_states(environment: str, fleet: str) -> Shape:
    """How many nodes are in which state, stacked: the height is the number of nodes that report."""
    lines = [series(spec, "Sum", environment, fleet, label=label, color=color) for spec, label, color in _STATES]
    return graph("Nodes by state", Unit.COUNT, lines, stacked=True)


def numbers(title: str, values: Sequence[cw.IMetric], *, height: int = 4) -> Shape:
    """The newest values as numbers, with what they did lately behind them."""
    return lambda width: cw.SingleValueWidget(
        title=title, metrics=list(values), sparkline=True, set_period_to_time_range=False, width=width, height=height
    )


def text(markdown: str, *, height: int = 2) -> Shape:
    """A few lines of Markdown."""
    return lambda width: cw.TextWidget(markdown=markdown, width=width, height=height)


def alarm_status(title: str, alarms: Sequence[IAlarmRef]) -> Shape:
    """One tile per alarm, those that fire first; high enough that none is hidden, in a row of its own."""
    return lambda width: cw.AlarmStatusWidget(
        title=title,
        alarms=list(alarms),
        sort_by=cw.AlarmStatusWidgetSortBy.STATE_UPDATED_TIMESTAMP,
        width=width,
        height=1 + max(1, ceil(len(alarms) / TILES_IN_A_ROW)),
    )


def log_table(title: str, log_group: str, *query: str, height: int = 8) -> Shape:
    """A Logs Insights query over the events of one log group, as a table."""
    return lambda width: cw.LogQueryWidget(
        title=title,
        log_group_names=[log_group],
        query_lines=list(query),
        view=cw.LogQueryVisualizationType.TABLE,
        width=width,
        height=height,
    )


def reported_within(seconds: int) -> str:
    """The command that keeps the events of the last ``seconds``, however long the time range is.

    Source: ``now`` in "Boolean, comparison, numeric, datetime, and other functions" of the Logs Insights query syntax.
    """
    return f"filter toMillis(@timestamp) >= (now() * 1000 - {seconds * 1000})"


def minutes_ago(name: str) -> str:
    """The command that calls the whole minutes since an event's time ``name``; source as above."""
    return f"fields floor((now() * 1000 - toMillis(@timestamp)) / 60000) as {name}"


def target(value: float) -> cw.HorizontalAnnotation:
    """A line that a figure is to stay at."""
    return cw.HorizontalAnnotation(value=value, label=f"target {value:g}", color=colors.TARGET, fill=cw.Shading.NONE)


def _threshold(alarm: AlarmSpec) -> cw.HorizontalAnnotation:
    return cw.HorizontalAnnotation(
        value=alarm.threshold,
        label=f"{alarm.key} {_WORDS[alarm.comparison]} {alarm.threshold:g}",
        color=colors.ALARM,
        fill=cw.Shading.NONE,
    )
