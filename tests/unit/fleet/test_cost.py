"""Wasted dollars, by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet.cost import split_usd, wasted_usd_per_hour
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


@pytest.mark.parametrize(
    ("usd", "weights", "parts"),
    [
        (20.0, (3, 1), (15.0, 5.0)),
        # 21.5 / 3 = 7.1666666...: 3 x 7.166666 is 21.499998, and the two millionths that are left go to the first two.
        (21.5, (1, 1, 1), (7.166667, 7.166667, 7.166666)),
        # 10 x 1.5 / 4 and 10 x 2.5 / 4
        (10.0, (1.5, 2.5), (3.75, 6.25)),
        (10.0, (4, 0), (10.0, 0.0)),
        # Nobody holds anything: in equal parts.
        (9.0, (0, 0, 0), (3.0, 3.0, 3.0)),
        (0.0, (1, 2), (0.0, 0.0)),
        # Alone, to the last digit.
        (1.23456789, (7,), (1.23456789,)),
        (5.0, (), ()),
    ],
)
def test_a_price_is_split_by_weight(usd: float, weights: tuple[float, ...], parts: tuple[float, ...]) -> None:
    assert split_usd(usd, weights) == parts


@given(
    st.integers(min_value=0, max_value=200_000_000),
    st.lists(st.floats(min_value=0, max_value=128, allow_nan=False), min_size=2, max_size=16),
)
def test_the_parts_add_up_to_the_price_to_the_millionth(millionths: int, weights: list[float]) -> None:
    parts = split_usd(millionths / 1_000_000, weights)

    assert sum(round(part * 1_000_000) for part in parts) == millionths
    assert all(part >= 0 for part in parts)
