"""How evenly a fleet's cores are used: a heat of all of them over time, and each node's cores as they are now.

Sources: "CloudWatch statistics definitions" (PR is exclusive of its lower bound and inclusive of its upper one, and
needs the values themselves, which these metrics carry); "unnest" and the structure types of Logs Insights.
"""

from math import ceil
from typing import Final

from dashboards import colors
from dashboards.widgets import Shape, graph, log_table, minutes_ago, series
from fleet import naming
from fleet.metrics import MetricSpec, Unit

# From idle to busy; each band is the percentile rank of what lies in it, so that they add up to 100.
_BANDS: Final = (
    ("PR(:5)", "up to 5 %"),
    ("PR(5:20)", "5 to 20"),
    ("PR(20:40)", "20 to 40"),
    ("PR(40:60)", "40 to 60"),
    ("PR(60:80)", "60 to 80"),
    ("PR(80:)", "above 80 %"),
)
NODES_IN_A_TABLE: Final = 50


def heat(title: str, spec: MetricSpec, environment: str, fleet: str) -> Shape:
    """Which part of the fleet's cores was how busy, minute by minute, stacked to 100 percent."""
    bands = [
        series(spec, statistic, environment, fleet, label=label, color=color)
        for (statistic, label), color in zip(_BANDS, colors.HEAT, strict=True)
    ]
    return graph(title, Unit.PERCENT, bands, stacked=True)


def spread_table(environment: str, fleet: str, nodes: int) -> Shape:
    """Per node, how far its cores lie apart: a straggler is a slowest core far below the median."""
    return log_table(
        f"Cores by node, busy percent in the time shown, {_as_many(nodes)}, slowest first",
        naming.node_log_group(environment),
        f'filter fleet = "{fleet}"',
        "fields jsonParse(@message) as event",
        "unnest event.cores.utilization into core",
        "stats min(core) as slowest, pct(core, 50) as median, max(core) as fastest, count_distinct(minute) as minutes "
        "by node",
        "sort slowest asc",
        f"limit {NODES_IN_A_TABLE}",
        height=_height(nodes),
    )


def core_table(environment: str, fleet: str, nodes: int) -> Shape:
    """Per node, every core's busy percent in its newest minute, in the order of the cores; the oldest stand first.

    A node that sees nothing says since when in place of its cores: ``latest`` over what is there in every event never
    answers with an older one.
    """
    return log_table(
        f"Every core, busy percent in its node's last minute, {_as_many(nodes)}",
        naming.node_log_group(environment),
        f'filter fleet = "{fleet}"',
        "fields jsonParse(@message) as event",
        "fields jsonStringify(event.cores.utilization) as busy",
        "fields coalesce(busy, state_reason) as busy_or_why",
        minutes_ago("age"),
        "stats latest(state) as last_state, min(age) as minutes_ago, latest(busy_or_why) as by_core by node",
        "sort minutes_ago desc, node asc",
        f"limit {NODES_IN_A_TABLE}",
        height=_height(nodes),
    )


def _as_many(nodes: int) -> str:
    return f"at most {NODES_IN_A_TABLE} " + (f"of {nodes} nodes" if nodes > NODES_IN_A_TABLE else "nodes")


def _height(nodes: int) -> int:
    """In rows of the dashboard's grid: all of a small fleet, the beginning of a large one."""
    return min(12, 3 + ceil(nodes * 0.6))
