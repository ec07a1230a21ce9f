"""For the person on call: what fires, is data arriving, is work done, what does it cost, which nodes are worst."""

from collections.abc import Mapping, Sequence
from typing import Final

from aws_cdk import aws_cloudwatch as cw

from dashboards import links, money, platform_health
from dashboards.alarms import AlarmGroup
from dashboards.by_job import EACH_JOB_OF_A_NODE, ROWS, owners_table
from dashboards.widgets import (
    GRAPH_HEIGHT,
    Row,
    Shape,
    alarm_status,
    graph,
    log_table,
    minutes_ago,
    reported_within,
    row,
    series,
)
from fleet import metrics, naming
from fleet.alarms import Severity
from fleet.capacity.plan import LaunchPlan
from fleet.metrics import MetricSpec, Unit

# A minute's event is written after the minute and seen a little later: what is older than this is not now.
NOW_SECONDS: Final = 300


def rows(name: str, plans: Mapping[str, LaunchPlan], alarms: Sequence[AlarmGroup], *, runbooks_url: str) -> list[Row]:
    """The dashboard of the environment called ``name`` from top to bottom; ``plans`` are of every fleet with nodes."""
    fleets = list(plans)
    pages = [alarm for group in alarms for alarm in group.notifying(Severity.PAGE)]
    tickets = [alarm for group in alarms for alarm in group.notifying(Severity.TICKET)]
    return [
        row(alarm_status("Alarms that page", pages)),
        row(links.runbooks(runbooks_url, alarms, height=3)),
        row(alarm_status("Alarms that open a ticket", tickets)),
        row(
            graph("Nodes that report", Unit.COUNT, [series(metrics.AGENT_HEARTBEAT, "Sum", name, f) for f in fleets]),
            graph(
                "Oldest report",
                Unit.SECONDS,
                [series(metrics.REPORT_AGE_SECONDS, "Maximum", name, f) for f in fleets],
            ),
            graph("Blind nodes", Unit.COUNT, [series(metrics.NODES_BLIND, "Sum", name, f) for f in fleets]),
            graph("Hardware errors", Unit.COUNT, [series(metrics.HARDWARE_ERRORS, "Maximum", name, f) for f in fleets]),
        ),
        row(
            graph(
                "Tensor engines, running jobs",
                Unit.PERCENT,
                _mean_and_lowest(
                    metrics.TENSOR_ENGINE_UTILIZATION_WHEN_RUNNING,
                    metrics.LOWEST_JOB_TENSOR_ENGINE_UTILIZATION,
                    name,
                    fleets,
                ),
            ),
            graph(
                "NeuronCores, running jobs",
                Unit.PERCENT,
                _mean_and_lowest(
                    metrics.NEURON_CORE_UTILIZATION_WHEN_RUNNING, metrics.LOWEST_JOB_CORE_UTILIZATION, name, fleets
                ),
            ),
            graph(
                "Executions a minute",
                Unit.COUNT,
                [series(metrics.EXECUTIONS_COMPLETED, "Sum", name, f) for f in fleets],
            ),
            platform_health.changes(name),
        ),
        row(_unwell_nodes(name)),
        row(money.price_text(plans.values())),
        row(
            money.now(name, plans, height=GRAPH_HEIGHT),
            graph(
                "Wasted dollars an hour",
                Unit.NONE,
                [series(metrics.WASTED_USD_PER_HOUR, "Sum", name, f) for f in fleets],
                stacked=True,
            ),
        ),
        row(owners_table(name)),
        row(_worst_nodes(name)),
    ]


def _mean_and_lowest(mean: MetricSpec, lowest: MetricSpec, environment: str, fleets: Sequence[str]) -> list[cw.Metric]:
    """A mean hides the job that starves beside one that does not."""
    return [
        series(spec, statistic, environment, fleet, label=f"{fleet}{which}")
        for fleet in fleets
        for spec, statistic, which in ((mean, "Average", ", mean"), (lowest, "Minimum", ", lowest job"))
    ]


def _unwell_nodes(environment: str) -> Shape:
    """Which nodes the graphs above count: dollars do not find them, because nobody can say what they waste."""
    return log_table(
        f"Nodes with a fault, BLIND, or not heard for {NOW_SECONDS // 60} minutes (or gone), at most {ROWS} nodes",
        naming.node_log_group(environment),
        minutes_ago("age"),
        "stats latest(state) as last_state, min(age) as minutes_ago, latest(state_reason) as why by fleet, node",
        f'filter last_state in ["BLIND", "FAULT"] or minutes_ago > {NOW_SECONDS // 60}',
        "sort minutes_ago desc, fleet asc, node asc",
        f"limit {ROWS}",
        height=4,
    )


def _worst_nodes(environment: str) -> Shape:
    return log_table(
        f"Worst nodes now: at most {ROWS} rows, most wasted first; a shared node has one for each of its jobs",
        naming.node_log_group(environment),
        reported_within(NOW_SECONDS),
        *EACH_JOB_OF_A_NODE,
        # What a node did not measure is the word for why, and never what it measured before.
        "fields coalesce(share.tensor_engine_utilization, state) as tensor_engine_or_state, "
        "coalesce(share.neuron_core_utilization, state) as core_or_state",
        "stats latest(share.wasted_usd_per_hour) as wasted, latest(tensor_engine_or_state) as tensor_engine, "
        "latest(core_or_state) as core, latest(state) as last_state, latest(minute) as last_minute, "
        f"{money.PRICE_COLUMNS} by fleet, node, job_id, job_owner",
        "sort wasted desc",
        f"limit {ROWS}",
    )
