"""For the person on call: what fires, is data arriving, is work done, what does it cost, which nodes are worst."""

from collections.abc import Mapping, Sequence

from dashboards import links, money, platform_health
from dashboards.alarms import AlarmGroup
from dashboards.by_job import EACH_JOB_OF_A_NODE, owners_table
from dashboards.widgets import GRAPH_HEIGHT, Row, Shape, alarm_status, graph, log_table, row, series
from fleet import metrics, naming
from fleet.alarms import Severity
from fleet.capacity.plan import LaunchPlan
from fleet.metrics import Unit


def rows(name: str, plans: Mapping[str, LaunchPlan], alarms: Sequence[AlarmGroup], *, runbooks_url: str) -> list[Row]:
    """The dashboard of the environment called ``name`` from top to bottom; ``plans`` are of every fleet with nodes."""
    fleets = list(plans)
    pages = [alarm for group in alarms for alarm in group.notifying(Severity.PAGE)]
    tickets = [alarm for group in alarms for alarm in group.notifying(Severity.TICKET)]
    return [
        row(alarm_status("Alarms that page", pages)),
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
                [series(metrics.TENSOR_ENGINE_UTILIZATION_WHEN_RUNNING, "Average", name, f) for f in fleets],
            ),
            graph(
                "NeuronCores, running jobs",
                Unit.PERCENT,
                [series(metrics.NEURON_CORE_UTILIZATION_WHEN_RUNNING, "Average", name, f) for f in fleets],
            ),
            graph(
                "Executions a minute",
                Unit.COUNT,
                [series(metrics.EXECUTIONS_COMPLETED, "Sum", name, f) for f in fleets],
            ),
            platform_health.changes(name),
        ),
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
        row(links.runbooks(runbooks_url, alarms, height=3)),
    ]


def _worst_nodes(environment: str) -> Shape:
    return log_table(
        "Worst nodes, by dollars wasted; a shared node has a row for each of its jobs",
        naming.node_log_group(environment),
        *EACH_JOB_OF_A_NODE,
        "stats avg(share.wasted_usd_per_hour) as wasted, avg(share.tensor_engine_utilization) as tensor_engine, "
        f"avg(share.neuron_core_utilization) as core, latest(state) as last_state, {money.PRICE_COLUMNS} "
        "by fleet, node, job_id, job_owner",
        "sort wasted desc",
        "limit 20",
    )
