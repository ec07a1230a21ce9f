"""Steps and limits that no rollout can follow are refused; whole nodes for each share."""

from typing import Any

import pytest

from fleet.rollout.plan import DEFAULT_STEPS, Plan, PlanError


@pytest.mark.parametrize("steps", [(), (5, 25, 50), (0, 100), (5, 5, 100), (50, 25, 100), (100, 101), (-5, 100)])
def test_steps_must_rise_to_a_hundred(steps: tuple[int, ...]) -> None:
    with pytest.raises(PlanError, match="rise and end at 100"):
        Plan(steps=steps)


@pytest.mark.parametrize(
    "changes",
    [
        {"bake_minutes": 0},
        {"ready_minutes": float("nan")},
        {"pause_hours": -1},
        {"min_requests": 0},
        {"look_seconds": 0},
    ],
)
def test_limits_are_positive(changes: dict[str, Any]) -> None:
    with pytest.raises(PlanError, match=next(iter(changes))):
        Plan(**changes)


@pytest.mark.parametrize(("nodes", "at_each_step"), [(1, [1, 1, 1, 1]), (4, [1, 1, 2, 4]), (16, [1, 4, 8, 16])])
def test_a_share_is_served_by_whole_nodes(nodes: int, at_each_step: list[int]) -> None:
    plan = Plan()

    assert plan.steps == DEFAULT_STEPS == (5, 25, 50, 100)
    assert [plan.nodes_at(step, nodes) for step in range(4)] == at_each_step
