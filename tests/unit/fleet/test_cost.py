"""Wasted dollars, by hand."""

import pytest

from fleet.cost import wasted_usd_per_hour
from fleet.node_state import NodeState


@pytest.mark.parametrize(
    ("state", "tensor", "core", "expected"),
    [
        # 20 x (1 - 10/40) = 15
        (NodeState.RUNNING, 10.0, 90.0, 15.0),
        # At or above the target nothing is wasted.
        (NodeState.RUNNING, 55.0, 90.0, 0.0),
        # Allocated and idle: all of it.
        (NodeState.RUNNING, 0.0, 0.0, 20.0),
        # No FLOPs: 20 x (1 - 35/70) = 10
        (NodeState.RUNNING, None, 35.0, 10.0),
        (NodeState.RUNNING, None, None, None),
        (NodeState.NO_JOB, None, None, 20.0),
        (NodeState.COMPILING, 0.0, 0.0, None),
        (NodeState.BLIND, None, None, None),
        # Work on damaged hardware has to be done again, however busy it looks.
        (NodeState.FAULT, 30.0, 90.0, 20.0),
    ],
)
def test_waste_is_what_utilization_misses_of_its_target(
    state: NodeState, tensor: float | None, core: float | None, expected: float | None
) -> None:
    wasted = wasted_usd_per_hour(20.0, state, tensor_engine_percent=tensor, core_percent=core, target_percent=40.0)

    assert wasted == expected
