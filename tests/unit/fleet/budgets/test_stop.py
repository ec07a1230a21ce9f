"""Who stops a month, and when it is over."""

from datetime import UTC, datetime, timedelta

import pytest

from fleet.approval import RefusedError
from fleet.budgets.spending import StopMode, may_be_stopped
from fleet.budgets.stop import Standing, Stop, approve, looked_at, resume
from fleet.fleet_spec import MarketKind, Purpose

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
ADA = "arn:aws:iam::111122223333:role/ada"


def at(mode: StopMode, *, is_used_up: bool = True, stop: Stop | None = None, now: datetime = NOW) -> Standing:
    return looked_at(stop, mode, is_used_up=is_used_up, now=now).standing


def test_only_on_demand_and_spot_training_may_be_stopped() -> None:
    stoppable = [(p, m) for p in Purpose for m in MarketKind if may_be_stopped(p, m)]

    assert stoppable == [(Purpose.TRAINING, MarketKind.ON_DEMAND), (Purpose.TRAINING, MarketKind.SPOT)]


def test_a_used_up_budget_does_what_the_file_says() -> None:
    assert [at(mode) for mode in (StopMode.NEVER, StopMode.ASK, StopMode.AUTO)] == [
        Standing.WITHIN,
        Standing.ASKED,
        Standing.STOPPED,
    ]
    assert at(StopMode.AUTO, is_used_up=False) is Standing.WITHIN


def test_a_question_stays_one_until_it_is_answered() -> None:
    asked = looked_at(None, StopMode.ASK, is_used_up=True, now=NOW)

    assert looked_at(asked, StopMode.ASK, is_used_up=True, now=NOW + timedelta(hours=9)) == asked
    assert approve(asked, ADA, {ADA}, NOW).standing is Standing.STOPPED
    assert resume(asked, ADA, {ADA}, NOW).standing is Standing.RESUMED


def test_a_person_who_goes_on_is_not_stopped_again_in_this_month() -> None:
    stopped = looked_at(None, StopMode.AUTO, is_used_up=True, now=NOW)
    resumed = resume(stopped, ADA, {ADA}, NOW)

    assert looked_at(resumed, StopMode.AUTO, is_used_up=True, now=NOW + timedelta(days=5)) == resumed
    assert at(StopMode.AUTO, stop=resumed, now=NOW + timedelta(days=15)) is Standing.STOPPED


@pytest.mark.parametrize(
    ("mode", "is_used_up", "later"),
    [
        (StopMode.AUTO, False, timedelta(0)),
        (StopMode.NEVER, True, timedelta(0)),
        (StopMode.AUTO, False, timedelta(days=15)),
    ],
    ids=["a larger budget", "no stop any more", "a new month"],
)
def test_a_stop_ends(mode: StopMode, is_used_up: bool, later: timedelta) -> None:
    stopped = looked_at(None, StopMode.AUTO, is_used_up=True, now=NOW)

    assert at(mode, is_used_up=is_used_up, stop=stopped, now=NOW + later) is Standing.WITHIN


@pytest.mark.parametrize("decide", [approve, resume])
def test_only_who_is_named_decides_and_only_what_there_is(decide: type) -> None:
    asked, within = Stop("2026-11", Standing.ASKED), Stop("2026-11")

    with pytest.raises(RefusedError, match=r"nobody is named.*budgets\.approvers"):
        decide(asked, ADA, (), NOW)
    with pytest.raises(RefusedError, match=r"bo is not in budgets\.approvers"):
        decide(asked, "bo", {ADA}, NOW)
    with pytest.raises(RefusedError, match="stands at within"):
        decide(within, ADA, {ADA}, NOW)
