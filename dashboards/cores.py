"""How evenly a fleet's cores are used: a heat of all of them over time, and each node's cores as they are now.

Sources: "CloudWatch statistics definitions" (PR is exclusive of its lower bound and inclusive of its upper one, and
needs the values themselves, which these metrics carry); "unnest" and the structure types of Logs Insights.
"""

from math import ceil
from typing import Final

from dashboards.widgets import Shape, graph, log_table, series
from fleet import naming
from fleet.metrics import MetricSpec, Unit

# From cold to hot; each band is the percentile rank of what lies in it, so that they add up to 100.
_BANDS: Final = (
    ("PR(:5)", "up to 5 %", "#8c96a3"),
    ("PR(5:20)", "5 to 20", "#5b8def"),
    ("PR(20:40)", "20 to 40", "#3bb5b0"),
    ("PR(40:60)", "40 to 60", "#8fc45a"),
    ("PR(60:80)", "60 to 80", "#f0b429"),
    ("PR(80:)", "above 80 %", "#e8703a"),
)
NODES_IN_A_TABLE: Final = 50


def heat(title: str, spec: MetricSpec, environment: str, fleet: str) -> Shape:
    """Which part of the fleet's cores was how busy, minute by minute, stacked to 100 percent."""
    bands = [
        series(spec, statistic, environment, fleet, label=label, color=color) for statistic, label, color in _BANDS
    ]
    return graph(title, Unit.PERCENT, bands, stacked=True)


def spread_table(environment: str, fleet: str, nodes: int) -> Shape:
    """Per node, how far its cores lie apart: a straggler is a slowest core far below the median."""
    return log_table(
        "Cores by node, busy percent in the time shown",
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
    """Per node, every core's busy percent in the newest minute, in the order of the cores."""
    return log_table(
        "Every core, busy percent in the newest minute",
        naming.node_log_group(environment),
        f'filter fleet = "{fleet}"',
        "fields jsonParse(@message) as event",
        "fields jsonStringify(event.cores.utilization) as busy",
        "stats latest(state) as last_state, latest(busy) as by_core by node",
        "sort node asc",
        f"limit {NODES_IN_A_TABLE}",
        height=_height(nodes),
    )


def _height(nodes: int) -> int:
    """In rows of the dashboard's grid: all of a small fleet, the beginning of a large one."""
    return min(12, 3 + ceil(nodes * 0.6))
