"""What the agents measured on a fleet's nodes, summed by one Logs Insights query over the node log."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Final

from botocore.exceptions import BotoCoreError, ClientError

from fleet.blocks.post_mortem import NodeMinutes
from fleet.node_state import NodeState
from lambdas.shared.log_query import LogQuery, LogQueryError, Ticker

if TYPE_CHECKING:
    from mypy_boto3_logs import CloudWatchLogsClient

BUDGET_SECONDS: Final = 60.0
POLL_SECONDS: Final = 1.0
# 64 instances in a block, 8 states each.
ROW_LIMIT: Final = 1000
# A minute that was sent twice counts once: first one row for each minute, then the sums.
_QUERY: Final = """filter fleet = "{fleet}"
| stats max(coalesce(tensor_engine_utilization, neuron_core_utilization)) as used, max(wasted_usd_per_hour) as waste,
  max(cost_usd_per_hour) as cost by node, state, boot_id, seq
| stats count(*) as minutes, avg(used) as utilization, sum(waste) as wasted, sum(cost) as counted
  by node, state
| limit {limit}"""


class UsageError(Exception):
    """What the agents measured cannot be read now."""


class NodeLogUsage:
    """Reads ``log_group`` within ``budget`` seconds. The log forgets: a block longer than that is measured in part."""

    def __init__(
        self, logs: "CloudWatchLogsClient", log_group: str, ticker: Ticker, budget: float = BUDGET_SECONDS
    ) -> None:
        self._query = LogQuery(logs, log_group, ticker, budget=budget, pause=POLL_SECONDS)

    def minutes(self, fleet: str, start: datetime, end: datetime) -> tuple[NodeMinutes, ...]:
        """One entry for each node that reported between ``start`` and ``end``.

        Raises:
            UsageError: it cannot be read now.
        """
        try:
            rows = self._query.rows(_QUERY.format(fleet=fleet, limit=ROW_LIMIT), start, end)
        except LogQueryError as error:
            raise UsageError(str(error)) from error
        except (BotoCoreError, ClientError) as error:
            raise UsageError(f"the log query failed: {error}") from error
        by_node: dict[str, list[Mapping[str, str]]] = {}
        for row in rows:
            by_node.setdefault(row["node"], []).append(row)
        return tuple(_node(name, states) for name, states in sorted(by_node.items()))


def _node(name: str, states: Iterable[Mapping[str, str]]) -> NodeMinutes:
    # A minute of a blind node was reported, and not measured.
    seen = {row["state"]: row for row in states if row["state"] != NodeState.BLIND}
    running = seen.get(NodeState.RUNNING, {})
    utilization = running.get("utilization")
    return NodeMinutes(
        node=name,
        measured=sum(int(row["minutes"]) for row in seen.values()),
        running=int(running.get("minutes", 0)),
        utilization_percent=float(utilization) if utilization else None,
        # Dollars an hour, a minute each.
        wasted_usd=sum(float(row.get("wasted") or 0.0) for row in seen.values()) / 60,
        counted_usd=sum(float(row.get("counted") or 0.0) for row in seen.values()) / 60,
    )
