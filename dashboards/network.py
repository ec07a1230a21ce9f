"""EFA between a fleet's nodes: how much it carries, and whether it struggles. Only where the nodes have it."""

from dashboards.widgets import Row, graph, row, series
from fleet import metrics
from fleet.capacity.plan import LaunchPlan
from fleet.metrics import Unit


def rows(environment: str, plan: LaunchPlan) -> list[Row]:
    """One row, or none for a fleet whose nodes do not speak to each other over EFA."""
    if not plan.uses_efa:
        return []
    at = (environment, plan.spec.name)
    received, sent = metrics.EFA_RECEIVE_BYTES, metrics.EFA_TRANSMIT_BYTES
    return [
        row(
            graph(
                "EFA bytes a minute, all nodes",
                Unit.BYTES,
                [
                    series(received, "Sum", *at, label="received"),
                    series(sent, "Sum", *at, label="sent"),
                ],
            ),
            graph(
                "EFA bytes a minute, by node",
                Unit.BYTES,
                [
                    series(received, "Minimum", *at, label="least received"),
                    series(received, "Maximum", *at, label="most received"),
                ],
            ),
            graph(
                "EFA packets sent again",
                Unit.COUNT,
                [series(metrics.EFA_RETRANSMITS, "Maximum", *at, label="worst node, a minute")],
            ),
            graph(
                "Nodes whose job talks over TCP",
                Unit.COUNT,
                [series(metrics.EFA_FALLBACK_TO_TCP, "Sum", *at, label="nodes")],
            ),
        )
    ]
