"""Before the first share: recorded requests are waited for, judged, and nobody's request goes to the candidate."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from fleet.rollout import Gates, Phase, Plan, Rollout, abort, decide, pause, wanted
from fleet.shadow.comparison import Comparison, Latency
from fleet.shadow.gate import ShadowGate
from tests.support.rollout_endpoint import NEW, OLD, START
from tests.unit.fleet.rollout.test_decide import LATER, at
from tests.unit.fleet.rollout.test_gates import rollout

GOOD = Comparison("chat:8", "t1", "chat:7", equal=100, latency=Latency(0.2, 0.3, 0.2, 0.3))
PLAN = Plan(min_requests=1000, gates=Gates(), shadow=ShadowGate(minutes=20))


def shadowing(**changes: Any) -> Rollout:
    return rollout(phase=Phase.SHADOWING, plan=PLAN, **changes)


def test_a_candidate_that_is_healthy_answers_recorded_requests_before_any_other() -> None:
    ready = rollout(phase=Phase.PREPARING, plan=PLAN)
    after = decide(ready, at(ready), LATER)

    assert after.phase is Phase.SHADOWING
    meant = wanted(after)
    assert (meant.candidate_weight, meant.candidate_nodes) == (0, 1)
    assert (meant.stable_version, meant.candidate_version) == (OLD, NEW)


def test_only_the_first_share_waits_for_it_and_only_where_the_plan_says_so() -> None:
    second = rollout(phase=Phase.PREPARING, plan=PLAN, step=1)
    without = rollout(phase=Phase.PREPARING)

    assert decide(second, at(second), LATER).phase is Phase.BAKING
    assert decide(without, at(without), LATER).phase is Phase.BAKING


def test_good_reports_lead_to_the_first_share_and_stay_in_the_record() -> None:
    one = shadowing()
    after = decide(one, at(one, shadow=(GOOD,)), LATER)

    assert (after.phase, wanted(after).candidate_weight, after.shadow) == (Phase.BAKING, 5, (GOOD,))
    assert "100 of 100 answers as chat:7's" in after.history[-2].text


def test_answers_that_differ_go_back_at_once() -> None:
    one = shadowing()
    after = decide(one, at(one, shadow=(replace(GOOD, different=5),)), START + timedelta(minutes=1))

    assert (after.phase, wanted(after).candidate_weight) == (Phase.ROLLING_BACK, 0)
    assert after.reason == "5 of 105 answers are not as recorded, where 99 % must be"
    assert after.shadow[0].different == 5


def test_reports_that_do_not_come_hold_it_and_then_it_goes_back() -> None:
    one = shadowing()
    held = decide(one, at(one, shadow=(GOOD, None)), START + timedelta(minutes=19))

    assert (held.phase, held.note) == (Phase.SHADOWING, "held: 1 of 2 tasks of the candidate have reported")
    after = decide(one, at(one, shadow=(GOOD, None)), START + timedelta(minutes=20))
    assert after.phase is Phase.ROLLING_BACK
    assert after.reason == "1 of 2 tasks of the candidate have reported, after 20 minutes"


def test_a_candidate_that_fell_sick_meanwhile_gets_no_share() -> None:
    one = shadowing()
    held = decide(one, at(one, shadow=(GOOD,), candidate={"healthy": 0}), LATER)

    assert held.note == "held: 0 of 1 targets of the candidate are healthy"


def test_a_pause_holds_it_and_does_not_keep_it_from_going_back() -> None:
    one = pause(shadowing(), "ann", START)

    assert decide(one, at(one, shadow=(GOOD,)), LATER).note == "paused"
    assert decide(one, at(one, shadow=(replace(GOOD, failed=9),)), LATER).phase is Phase.ROLLING_BACK
    assert abort(one, "ann", LATER).phase is Phase.ROLLING_BACK


@pytest.mark.parametrize("weights", [(95, 5), (0, 100)])
def test_weights_that_somebody_else_has_changed_end_it(weights: tuple[int, int]) -> None:
    one = shadowing()
    seen = replace(at(one, shadow=(GOOD,)), stable_weight=weights[0], candidate_weight=weights[1])

    assert decide(one, seen, LATER).phase is Phase.ROLLING_BACK
