"""From phase to phase: what is waited for, how long, and where it goes when that does not come."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from fleet.rollout import (
    Facts,
    Gates,
    Outcome,
    Phase,
    RefusedError,
    Rollout,
    Side,
    abort,
    decide,
    pause,
    resume,
    wanted,
)
from fleet.rollout.phases import look_again
from fleet.rollout.record import next_minute
from tests.support.rollout_endpoint import NEW, OLD, START
from tests.unit.fleet.rollout.test_gates import facts, minutes, rollout

LATER = START + timedelta(minutes=11)


def at(rollout: Rollout, **changes: Any) -> Facts:
    """Good facts with the weights that the rollout wants."""
    meant = wanted(rollout)
    return facts(stable_weight=meant.stable_weight, candidate_weight=meant.candidate_weight, **changes)


def test_a_bake_ends_by_time_and_then_the_next_share_is_prepared() -> None:
    one = rollout()

    assert decide(one, at(one), START + timedelta(minutes=9)).phase is Phase.BAKING
    after = decide(one, at(one), LATER)
    assert (after.phase, after.step, wanted(after).candidate_weight) == (Phase.PREPARING, 1, 5)


@pytest.mark.parametrize("step", range(4))
def test_a_breach_goes_back_in_one_step(step: int) -> None:
    one = rollout(step=step, stable_p99=0.2)
    after = decide(one, at(one, candidate={"minutes": minutes(2000, errors=40)}), LATER)

    assert after.phase is Phase.ROLLING_BACK
    assert wanted(after).candidate_weight == 0
    assert "2.0 %" in after.reason


def test_no_requests_hold_and_then_go_back() -> None:
    one, none = rollout(), {"minutes": ()}
    held = decide(one, at(one, candidate=none), LATER)

    assert held.phase is Phase.BAKING
    assert held.note.startswith("held: the candidate has answered 0 of 1000 requests")
    after = decide(one, at(one, candidate=none), LATER + timedelta(minutes=60))
    assert after.phase is Phase.ROLLING_BACK
    assert "0 of 1000 requests" in after.reason


def test_what_is_never_healthy_gets_no_request() -> None:
    one = rollout(phase=Phase.PREPARING)
    sick = at(one, candidate={"healthy": 0, "no_nodes": "There is no Spot capacity"})

    assert decide(one, sick, LATER).phase is Phase.PREPARING
    after = decide(one, sick, START + timedelta(minutes=90))
    assert after.phase is Phase.ROLLING_BACK
    assert "0 of 1 targets" in after.reason
    assert "no Spot capacity" in after.reason


def test_no_request_goes_to_the_candidate_in_a_minute_with_answers_of_the_rollout_before() -> None:
    before = rollout(phase=Phase.ENDED, since=START + timedelta(seconds=10))
    one = rollout(phase=Phase.PREPARING, not_before=next_minute(before))

    early = decide(one, at(one), START + timedelta(seconds=59))
    assert (early.phase, early.note) == (Phase.PREPARING, "until 09:01 UTC answers may be those of the rollout before")
    assert decide(one, at(one), START + timedelta(seconds=60)).phase is Phase.BAKING
    # What has ended as a minute begins may have answered in it.
    assert next_minute(replace(before, since=START)) == START + timedelta(minutes=1)


def test_nobody_goes_back_to_a_side_without_a_healthy_target() -> None:
    one = rollout()
    after = decide(one, at(one, candidate={"runtime_errors": 9}, stable={"healthy": 0}), LATER)

    assert after.phase is Phase.BAKING
    assert "no healthy target to go back to" in after.note


def test_weights_that_somebody_else_has_changed_end_it() -> None:
    one = rollout(step=1)
    after = decide(one, facts(stable_weight=100, candidate_weight=0), LATER)

    assert after.phase is Phase.ROLLING_BACK
    assert "100 to 0 and not 75 to 25: somebody else" in after.reason


def test_compiled_graphs_are_waited_for() -> None:
    one = rollout(phase=Phase.ARTIFACT, artifact="neuron-artifacts/chat/12")

    assert decide(one, at(one, has_artifact=False), LATER).phase is Phase.ARTIFACT
    assert decide(one, at(one, has_artifact=None), LATER).phase is Phase.ARTIFACT
    assert decide(one, at(one, has_artifact=True), LATER).phase is Phase.PREPARING
    late = decide(one, at(one, has_artifact=False), START + timedelta(hours=1))
    assert late.phase is Phase.ROLLING_BACK
    assert "neuron-artifacts/chat/12 are not in the store after 60 minutes" in late.reason


def test_it_is_done_when_the_stable_side_serves_the_new_version() -> None:
    promoting = decide(rollout(step=3, gates=Gates()), at(rollout(step=3)), LATER)
    assert (promoting.phase, wanted(promoting).stable_version) == (Phase.PROMOTING, NEW)

    on_the_way = at(promoting, stable={"versions": frozenset({OLD, NEW})})
    assert decide(promoting, on_the_way, LATER).phase is Phase.PROMOTING
    brought = Side(versions=frozenset({NEW}), healthy=4)
    returning = decide(promoting, replace(at(promoting), stable=brought), LATER)
    assert (returning.phase, wanted(returning).candidate_weight) == (Phase.RETURNING, 0)

    # ECS may roll a service back by itself, after all: what it runs is looked at, and not what it was told.
    silently = replace(at(returning), stable=Side(versions=frozenset({OLD}), healthy=4))
    assert decide(returning, silently, LATER + timedelta(hours=1)).phase is Phase.RETURNING
    over = decide(returning, replace(at(returning), stable=brought), LATER + timedelta(minutes=3))
    assert (over.phase, over.outcome) == (Phase.ENDED, Outcome.DONE)


def test_the_candidate_keeps_its_nodes_until_it_has_given_its_last_answer() -> None:
    back = rollout(phase=Phase.ROLLING_BACK)

    assert wanted(back).candidate_nodes is None
    assert decide(back, at(back), START + timedelta(seconds=149)).phase is Phase.ROLLING_BACK
    over = decide(back, at(back), START + timedelta(seconds=150))
    assert (over.outcome, wanted(over).candidate_nodes) == (Outcome.ROLLED_BACK, 0)


def test_a_stable_side_that_cannot_be_brought_along_is_held_and_can_be_taken_up_again() -> None:
    stuck = rollout(step=3, phase=Phase.PROMOTING)
    held = decide(stuck, at(stuck), START + timedelta(minutes=240))

    assert (held.phase, held.outcome, wanted(held).candidate_weight) == (Phase.ENDED, Outcome.HELD, 100)
    assert "chat:7" in held.reason
    assert resume(held, "ann", LATER).phase is Phase.PROMOTING
    assert abort(held, "ann", LATER).phase is Phase.RESTORING


def test_a_pause_stops_the_steps_and_not_the_gates() -> None:
    one = pause(rollout(), "ann", START)

    assert decide(one, at(one), LATER).note == "paused"
    assert decide(one, at(one, candidate={"runtime_errors": 1}), LATER).phase is Phase.ROLLING_BACK
    assert decide(resume(one, "ann", LATER), at(one), LATER).phase is Phase.PREPARING
    forgotten = decide(one, at(one), START + timedelta(hours=12))
    assert (forgotten.phase, forgotten.reason) == (Phase.ROLLING_BACK, "it was paused for 12 hours")


def test_an_abort_goes_back_from_wherever_it_is() -> None:
    assert abort(rollout(), "ann", LATER).phase is Phase.ROLLING_BACK
    # Its stable side has the new version: it gets the old one before any request.
    assert abort(rollout(phase=Phase.PROMOTING), "ann", LATER).phase is Phase.RESTORING
    with pytest.raises(RefusedError, match="roll out the old one"):
        abort(rollout(phase=Phase.RETURNING), "ann", LATER)
    with pytest.raises(RefusedError, match="has ended"):
        abort(rollout(phase=Phase.ENDED, outcome=Outcome.DONE), "ann", LATER)


def test_looks_are_rarer_while_nothing_is_judged() -> None:
    # Ninety minutes of each share's nodes, and half a day of pause, within the events of one execution.
    assert look_again(rollout()) == 30
    assert look_again(rollout(phase=Phase.PREPARING)) == 60
    assert look_again(pause(rollout(), "ann", START)) == 120


@pytest.mark.parametrize(("left", "nodes"), [(None, 4), (4, 4), (2, 2), (6, 4), (0, 1)])
def test_a_node_that_left_before_scaling_stood_still_is_not_waited_for(left: int | None, nodes: int) -> None:
    one = rollout(phase=Phase.ARTIFACT, nodes=4)

    assert decide(one, at(one, stable_nodes=left), LATER).nodes == nodes


def test_the_stable_side_scales_when_the_rollout_has_ended_and_not_when_it_is_held() -> None:
    ended = [rollout(phase=Phase.ENDED, outcome=outcome) for outcome in Outcome]

    assert {one.outcome: wanted(one).scales for one in ended} == {
        Outcome.DONE: True, Outcome.ROLLED_BACK: True, Outcome.HELD: False,
    }  # fmt: skip
    assert not any(wanted(rollout(phase=phase)).scales for phase in Phase if phase is not Phase.ENDED)
