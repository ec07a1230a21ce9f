"""A request's way to a block, and everything that ends it without one."""

from dataclasses import replace
from datetime import timedelta

import pytest

from fleet.approval import RefusedError
from fleet.blocks import purchase
from fleet.blocks.purchase import Status
from tests.support import block_world
from tests.support.block_world import APPROVER, BEGIN, REQUESTER, STRANGER

ASKED = block_world.request(BEGIN + timedelta(hours=30), 24)
APPROVED = purchase.approve(ASKED, APPROVER, {APPROVER}, BEGIN)
CLAIMED = purchase.claim(APPROVED, {APPROVER}, BEGIN)


@pytest.mark.parametrize(
    ("principal", "approvers", "why"),
    [
        (APPROVER, set(), "fleet frontier: nobody is named who may approve a purchase; name them in approvers"),
        (STRANGER, {APPROVER}, f"{STRANGER} may not approve purchases for fleet frontier"),
        (REQUESTER, {REQUESTER}, f"{REQUESTER} asked for it; somebody else has to approve it"),
    ],
)
def test_only_somebody_else_who_is_named_may_approve(principal: str, approvers: set[str], why: str) -> None:
    with pytest.raises(RefusedError) as refusal:
        purchase.approve(ASKED, principal, approvers, BEGIN)

    assert str(refusal.value) == why


def test_an_approval_that_is_said_twice_is_one_and_keeps_its_time() -> None:
    assert purchase.approve(APPROVED, APPROVER, {APPROVER}, BEGIN + timedelta(minutes=5)) == APPROVED


def test_a_request_that_nobody_answers_lapses_after_a_day_and_an_approval_after_an_hour() -> None:
    assert purchase.lapse(ASKED, BEGIN + timedelta(hours=23, minutes=59)).status is Status.REQUESTED
    assert purchase.lapse(ASKED, BEGIN + timedelta(hours=24)).status is Status.LAPSED
    assert purchase.lapse(APPROVED, BEGIN + timedelta(minutes=59)).status is Status.APPROVED
    assert purchase.lapse(APPROVED, BEGIN + timedelta(minutes=60)).status is Status.LAPSED


def test_what_is_claimed_is_never_claimed_again() -> None:
    for request in (ASKED, CLAIMED, purchase.bought(CLAIMED, "cr-1"), purchase.refused(CLAIMED, "no")):
        with pytest.raises(RefusedError):
            purchase.claim(request, {APPROVER}, BEGIN)


def test_a_purchase_that_has_begun_cannot_be_rejected() -> None:
    assert purchase.reject(APPROVED, STRANGER).status is Status.REJECTED
    with pytest.raises(RefusedError, match="cannot be cancelled"):
        purchase.reject(CLAIMED, STRANGER)


def test_an_unanswered_purchase_is_looked_for_for_two_hours_and_then_people_have_to() -> None:
    assert purchase.not_found(CLAIMED, BEGIN + timedelta(minutes=119)).status is Status.PURCHASING
    uncertain = purchase.not_found(CLAIMED, BEGIN + timedelta(minutes=120))
    assert uncertain.status is Status.UNCERTAIN

    assert purchase.bought(uncertain, "cr-1") == replace(CLAIMED, status=Status.PURCHASED, reservation_id="cr-1")


def test_the_first_reservation_that_is_found_stays() -> None:
    assert purchase.bought(purchase.bought(CLAIMED, "cr-1"), "cr-2").reservation_id == "cr-1"
