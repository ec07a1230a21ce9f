"""What the embedded Auto Scaling makes of a policy, against what its user guide says of each kind."""

from typing import Any

import pytest

from local.emulator.extensions.scaling_policies import ALARMS, SUSPENDED, ScalingPolicies

TRACKED = {
    "PolicyType": "TargetTrackingScaling",
    "EstimatedInstanceWarmup": 600,
    "TargetTrackingConfiguration": {"TargetValue": 4.0},
}
ONE_LESS = {
    "PolicyType": "SimpleScaling", "AdjustmentType": "ChangeInCapacity", "ScalingAdjustment": -1, "Cooldown": 900,
}  # fmt: skip
TO_ONE = {
    "PolicyType": "StepScaling", "AdjustmentType": "ExactCapacity", "StepAdjustments": [{"ScalingAdjustment": 1}],
}  # fmt: skip


def group(desired: int, **more: Any) -> dict[str, Any]:
    return {"AutoScalingGroupName": "g", "DesiredCapacity": desired, "MinSize": 0, "MaxSize": 4, **more}


@pytest.mark.parametrize(
    ("desired", "load", "wanted"), [(1, 9.0, 3), (1, 40.0, 4), (2, 4.0, 2), (3, 1.0, 3), (2, None, 2)]
)
def test_target_tracking_asks_for_nodes_in_proportion(desired: int, load: float | None, wanted: int) -> None:
    assert ScalingPolicies().wanted(TRACKED, group(desired), load, 0) == wanted


def test_nodes_that_warm_up_are_not_asked_for_twice() -> None:
    policies = ScalingPolicies()
    assert policies.wanted(TRACKED, group(1), 8.0, 0) == 2
    # The one node that is warm still has all of the load.
    assert policies.wanted(TRACKED, group(2), 8.0, 60) == 2
    # It is worse than it was.
    assert policies.wanted(TRACKED, group(2), 12.0, 120) == 3
    assert policies.wanted(TRACKED, group(3), 8.0, 900) == 4


def test_only_simple_scaling_pauses() -> None:
    policies = ScalingPolicies()
    assert policies.wanted(ONE_LESS, group(4), None, 0) == 3
    assert policies.wanted(ONE_LESS, group(3), None, 899) == 3
    assert policies.wanted(TRACKED, group(3), 8.0, 899) == 4
    assert policies.wanted(ONE_LESS, group(3), None, 900) == 2


def test_what_changes_nothing_begins_no_pause() -> None:
    policies = ScalingPolicies()
    assert policies.wanted(ONE_LESS, group(2, MinSize=2), None, 0) == 2
    # A node has come since: the first that leaves waits for nobody.
    assert policies.wanted(ONE_LESS, group(3, MinSize=2), None, 60) == 2


def test_a_step_sets_the_size_and_the_group_has_the_last_word() -> None:
    policies = ScalingPolicies()
    assert policies.wanted(TO_ONE, group(0), None, 0) == 1
    assert policies.wanted(TO_ONE, group(3, MinSize=2), None, 0) == 2


def test_a_group_that_stands_still_does_nothing() -> None:
    still = group(1, **{SUSPENDED: {ALARMS}})
    policies = ScalingPolicies()
    assert [policies.wanted(each, still, 40.0, 0) for each in (TRACKED, ONE_LESS, TO_ONE)] == [1, 1, 1]
    # And forgets nothing of it: no pause has begun.
    assert policies.wanted(ONE_LESS, group(2), None, 1) == 1
