"""What the functions that a clock wakes would write in the virtual hours of a scenario.

They are deployed, and they read the machine's clock, which has no part in virtual time. Every node of a scenario has
its capacity from the first minute to the last: nothing is missing, and nothing that is reserved lies idle.
"""

from collections.abc import Iterator
from datetime import UTC, datetime

from environments.fleets import Fleet
from environments.markets import CapacityBlock, Reservation
from environments.model import Environment
from fleet import metrics, operations_metrics
from fleet.operations_metrics import (
    CAPACITY_BLOCK_PROBLEMS,
    CAPACITY_WATCH_PROBLEMS,
    DEPLOYMENTS_IN_PROGRESS,
    LEDGER_PROBLEMS,
)

Datums = list[dict[str, object]]


def datums(environment: Environment, minute: float) -> dict[str, Datums]:
    """By namespace, what is written of the minute that starts at ``minute``, a unix second."""
    looked = [
        CAPACITY_WATCH_PROBLEMS,
        LEDGER_PROBLEMS,
        DEPLOYMENTS_IN_PROGRESS,
        *([CAPACITY_BLOCK_PROBLEMS] if environment.block_fleets else []),
    ]
    here = {operations_metrics.ENVIRONMENT: environment.name}
    return {
        operations_metrics.NAMESPACE: [_datum(metric.name, 0, "Count", here, minute) for metric in looked],
        metrics.NAMESPACE: [
            _datum(spec.name, value, spec.unit.value, here | {metrics.FLEET: fleet.name}, minute)
            for fleet in environment.node_fleets
            for spec, value in _capacity(fleet, minute)
        ],
    }


def _capacity(fleet: Fleet, minute: float) -> Iterator[tuple[metrics.MetricSpec, float]]:
    yield metrics.MISSING_NODES, 0
    yield metrics.PRESENT_NODES, fleet.nodes
    # An agent whose monitor is dead is heard all the same.
    yield metrics.SILENT_NODES, 0
    # A scenario's prices are of its own time.
    yield metrics.STALE_PRICE, 0
    if isinstance(fleet.market, Reservation | CapacityBlock):
        yield metrics.RESERVED_INSTANCES, fleet.market.instances or fleet.nodes
        yield metrics.UNUSED_RESERVED_INSTANCES, 0
        yield metrics.UNUSED_RESERVATION_USD_PER_HOUR, 0
    if isinstance(fleet.market, CapacityBlock):
        left = fleet.market.ends_at - datetime.fromtimestamp(minute, UTC)
        yield metrics.CAPACITY_BLOCK_MINUTES_LEFT, max(0.0, left.total_seconds() // 60)


def _datum(name: str, value: float, unit: str, dimensions: dict[str, str], minute: float) -> dict[str, object]:
    return {"name": name, "timestamp": minute, "dimensions": dimensions, "unit": unit, "values": [float(value)]}
