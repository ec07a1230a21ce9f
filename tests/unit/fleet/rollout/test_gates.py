"""What each gate lets through, and what it does not; what was not measured goes no further, and ends nothing."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from fleet.rollout import Facts, Gates, Minute, Plan, Side
from fleet.rollout.gates import judge
from fleet.rollout.record import Phase, Rollout
from tests.support.rollout_endpoint import NEW, OLD, START

GATES = Gates(cost_increase_percent=20)


def rollout(step: int = 0, gates: Gates = GATES, **changes: Any) -> Rollout:
    made = Rollout(
        rollout_id="r",
        fleet="chat",
        plan=Plan(min_requests=1000, gates=gates),
        old_version=OLD,
        new_version=NEW,
        nodes=4,
        started_at=START,
        since=START,
        phase=Phase.BAKING,
        step=step,
    )
    return replace(made, **changes)


def minutes(requests: int, errors: int = 0, p99: float | None = 0.2, count: int = 5) -> tuple[Minute, ...]:
    first = [Minute(START, requests, errors, p99)]
    return tuple(first + [Minute(START + timedelta(minutes=n), 0, 0, p99) for n in range(1, count)])


def facts(candidate: dict[str, Any] | None = None, stable: dict[str, Any] | None = None, **changes: Any) -> Facts:
    good = Side(versions=frozenset({NEW}), healthy=1, minutes=minutes(2000), runtime_errors=0)
    whole = Side(versions=frozenset({OLD}), healthy=4, minutes=minutes(40000), runtime_errors=0)
    made = Facts(replace(whole, **(stable or {})), replace(good, **(candidate or {})), 95, 5)
    return replace(made, **changes)


def test_a_good_candidate_passes() -> None:
    found = judge(rollout(), facts())

    assert (found.breaches, found.unknown) == ((), ())


@pytest.mark.parametrize(
    ("candidate", "breach"),
    [
        ({"minutes": minutes(2000, errors=40)}, "2.0 % of the candidate's answers were 5xx (40 of 2000), over 1 %"),
        # Of a thousand that are still to come, ten may fail: the eleventh is too many, whatever comes.
        ({"minutes": minutes(100, errors=11)}, "11.0 % of the candidate's answers were 5xx (11 of 100), over 1 %"),
        ({"minutes": minutes(2000, p99=0.6)}, "0.600 s, the stable side's 0.200 s: 3.0 times as much, over 1.5"),
        ({"runtime_errors": 1}, "1 executions failed"),
        ({"healthy": 0}, "no target of the candidate is healthy"),
        ({"versions": frozenset({NEW, "other"})}, "runs other, which nobody rolled out"),
    ],
)
def test_what_breaches(candidate: dict[str, Any], breach: str) -> None:
    found = judge(rollout(), facts(candidate))

    assert len(found.breaches) == 1
    assert breach in found.breaches[0]


@pytest.mark.parametrize(
    ("candidate", "waits_for"),
    [
        ({"minutes": ()}, "0 of 1000 requests"),
        ({"minutes": minutes(999, errors=10)}, "999 of 1000 requests"),
        ({"minutes": minutes(2000, p99=None)}, "no minute with a p99 of both"),
        ({"runtime_errors": None}, "have not reported executions"),
    ],
)
def test_what_is_not_known_is_no_breach_and_no_pass(candidate: dict[str, Any], waits_for: str) -> None:
    found = judge(rollout(), facts(candidate))

    assert found.breaches == ()
    assert len(found.unknown) == 1
    assert waits_for in found.unknown[0]


def test_alarms_that_the_plan_does_not_name_end_nothing() -> None:
    assert judge(rollout(), facts(alarms=("HbmPressure",))).breaches == ()
    assert "HardwareFault went off" in judge(rollout(), facts(alarms=("HbmPressure", "HardwareFault"))).breaches[0]


def test_the_same_minutes_are_compared() -> None:
    # The stable side was slow before the candidate had a request: those minutes excuse nothing.
    slow = tuple(Minute(START - timedelta(minutes=n), 9, 0, 5.0) for n in range(1, 9))
    found = judge(rollout(), facts({"minutes": minutes(2000, p99=0.6)}, {"minutes": slow + minutes(40000)}))

    assert "3.0 times as much" in found.breaches[0]


def test_at_a_hundred_percent_the_stable_sides_last_p99_is_compared_with() -> None:
    alone = facts({"minutes": minutes(2000, p99=0.6)}, {"minutes": ()})
    known = rollout(step=3, stable_p99=0.2, gates=Gates())

    assert "3.0 times as much" in judge(known, alone).breaches[0]
    assert judge(replace(known, stable_p99=0.5), alone).breaches == ()
    assert "no minute" in judge(replace(known, stable_p99=None), alone).unknown[0]


@pytest.mark.parametrize(("candidate", "ends"), [(1.21, True), (1.19, False)])
def test_the_price_of_tokens_is_compared_at_a_hundred_percent(candidate: float, ends: bool) -> None:
    last = rollout(step=3, stable_p99=0.2, stable_usd_per_million_tokens=1.0)

    assert bool(judge(last, facts({"usd_per_million_tokens": candidate})).breaches) is ends
    assert "not measured" in judge(last, facts()).unknown[0]
    # Half a dozen requests on a whole node cost what they cost.
    assert judge(rollout(step=1), facts({"usd_per_million_tokens": 99.0})).breaches == ()
