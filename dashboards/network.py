"""EFA between a fleet's nodes: how much it carries, and whether it struggles. Only where the nodes have it."""

from dashboards.widgets import Row, graph, row, series
from environments.fleet_specs import fleet_spec
from environments.fleets import Fleet
from environments.model import Environment
from fleet import metrics
from fleet.capacity.interfaces import uses_efa
from fleet.instances import instance_type
from fleet.metrics import Unit


def rows(environment: Environment, fleet: Fleet) -> list[Row]:
    """One row, or none for a fleet whose nodes do not speak to each other over EFA."""
    if not uses_efa(fleet_spec(environment, fleet), instance_type(fleet.instance_type)):
        return []
    name, of = environment.name, fleet.name
    received, sent = metrics.EFA_RECEIVE_BYTES, metrics.EFA_TRANSMIT_BYTES
    return [
        row(
            graph(
                "EFA bytes a minute, all nodes",
                Unit.BYTES,
                [series(received, "Sum", name, of, label="received"), series(sent, "Sum", name, of, label="sent")],
            ),
            graph(
                "EFA bytes a minute, by node",
                Unit.BYTES,
                [
                    series(received, "Minimum", name, of, label="least received"),
                    series(received, "Maximum", name, of, label="most received"),
                ],
            ),
            graph(
                "EFA packets sent again",
                Unit.COUNT,
                [series(metrics.EFA_RETRANSMITS, "Maximum", name, of, label="worst node, a minute")],
            ),
            graph(
                "Nodes whose job talks over TCP",
                Unit.COUNT,
                [series(metrics.EFA_FALLBACK_TO_TCP, "Sum", name, of, label="nodes")],
            ),
        )
    ]
