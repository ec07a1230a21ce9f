"""From somebody's wish to a block that was bought once: asked for, approved by a named person, claimed, bought.

EC2's PurchaseCapacityBlock has no client token, so a call that was not answered may have bought. The record is
therefore claimed before the call, and a claim is never claimed again: what became of an unanswered call is found by
looking for the block, not by asking for it a second time. Anything unclear ends without a purchase.
"""

from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from fleet.approval import RefusedError
from fleet.blocks.offering import Offering
from fleet.string_enum import StringEnum

# An approval is of one offer at one price, and offers change: what was approved is bought soon or not at all.
APPROVAL_LASTS: Final = timedelta(hours=1)
# A request that nobody answers lapses.
REQUEST_LASTS: Final = timedelta(hours=24)
# How long an unanswered purchase is looked for before people are asked to look themselves.
SEARCH_LASTS: Final = timedelta(hours=2)


class Status(StringEnum):
    """Where a request is. PURCHASING holds from before the call until its outcome is known."""

    REQUESTED = "requested"
    APPROVED = "approved"
    PURCHASING = "purchasing"
    PURCHASED = "purchased"
    REJECTED = "rejected"
    LAPSED = "lapsed"
    FAILED = "failed"
    UNCERTAIN = "uncertain"


@dataclass(frozen=True, slots=True)
class Request:
    """One wish for one offer. Principals are IAM ARNs; times are UTC; ``reason`` is why it ended as it did."""

    request_id: str
    fleet: str
    offering: Offering
    requested_by: str
    requested_at: datetime
    status: Status = Status.REQUESTED
    approved_by: str | None = None
    approved_at: datetime | None = None
    claimed_at: datetime | None = None
    reservation_id: str | None = None
    reason: str | None = None
    is_adopted: bool = False
    """The block was bought elsewhere and is only looked after: what it cost is not known, and its fee says 0."""


def adopted(fleet: str, reservation_id: str, offering: Offering, at: datetime) -> Request:
    """A request for a block that is there already, because the fleet's environment file names it."""
    return Request(
        request_id=adopted_id(fleet, reservation_id),
        fleet=fleet,
        offering=offering,
        requested_by="environment file",
        requested_at=at,
        status=Status.PURCHASED,
        reservation_id=reservation_id,
        is_adopted=True,
    )


def adopted_id(fleet: str, reservation_id: str) -> str:
    """The id of the request for a block that an environment file names."""
    return f"{fleet}-{reservation_id}"


def approve(request: Request, principal: str, approvers: Collection[str], at: datetime) -> Request:
    """The request, approved. The same person may say it twice.

    Raises:
        RefusedError: nobody is named, this is not one of them, it is the one who asks, or it is too late.
    """
    if not approvers:
        raise RefusedError(f"fleet {request.fleet}: nobody is named who may approve a purchase; name them in approvers")
    if principal not in approvers:
        raise RefusedError(f"{principal} may not approve purchases for fleet {request.fleet}")
    if principal == request.requested_by:
        raise RefusedError(f"{principal} asked for it; somebody else has to approve it")
    request = lapse(request, at)
    if request.status is Status.APPROVED and request.approved_by == principal:
        return request
    if request.status is not Status.REQUESTED:
        raise RefusedError(f"request {request.request_id} is {request.status}, and cannot be approved")
    return replace(request, status=Status.APPROVED, approved_by=principal, approved_at=at)


def reject(request: Request, principal: str) -> Request:
    """The request, ended by a person before anything was bought; anybody who may see it may stop it.

    Raises:
        RefusedError: a purchase has begun.
    """
    if request.status in {Status.PURCHASING, Status.PURCHASED, Status.UNCERTAIN}:
        raise RefusedError(f"request {request.request_id} is {request.status}; a Capacity Block cannot be cancelled")
    return replace(request, status=Status.REJECTED, reason=f"rejected by {principal}")


def claim(request: Request, approvers: Collection[str], at: datetime) -> Request:
    """The request, about to be bought: to be stored, on the condition that nobody stored anything since, before the
    call. Whoever stores it makes the call, and nobody else ever does.

    Raises:
        RefusedError: it is not approved, the approver is no longer one, or the approval is too old.
    """
    request = lapse(request, at)
    if request.status is not Status.APPROVED:
        raise RefusedError(f"request {request.request_id} is {request.status}, and not approved")
    if request.approved_by not in approvers:
        raise RefusedError(f"{request.approved_by} approved request {request.request_id} and may not any more")
    return replace(request, status=Status.PURCHASING, claimed_at=at)


def bought(request: Request, reservation_id: str) -> Request:
    """The request with its block; the first reservation that is found for it stays."""
    if request.status is Status.PURCHASED:
        return request
    if request.status not in {Status.PURCHASING, Status.UNCERTAIN}:
        raise RefusedError(f"request {request.request_id} is {request.status}; nothing was bought for it")
    return replace(request, status=Status.PURCHASED, reservation_id=reservation_id, reason=None)


def refused(request: Request, reason: str) -> Request:
    """The request after EC2 said no: nothing was bought, and a new search is needed."""
    return replace(request, status=Status.FAILED, reason=reason) if request.status is Status.PURCHASING else request


def not_found(request: Request, at: datetime) -> Request:
    """The request after one more search for its unanswered purchase; in the end people have to look."""
    if request.status is not Status.PURCHASING or request.claimed_at is None or at - request.claimed_at < SEARCH_LASTS:
        return request
    reason = "the purchase was never answered and no block was found; look in EC2 before anything else is bought"
    return replace(request, status=Status.UNCERTAIN, reason=reason)


def lapse(request: Request, at: datetime) -> Request:
    """The request as it is at ``at``: without an answer, or approved and not bought, it comes to an end."""
    if request.status is Status.REQUESTED and at - request.requested_at >= REQUEST_LASTS:
        return replace(request, status=Status.LAPSED, reason="nobody answered within a day")
    if request.status is Status.APPROVED and request.approved_at and at - request.approved_at >= APPROVAL_LASTS:
        return replace(request, status=Status.LAPSED, reason="approved, and not bought within an hour; search again")
    if request.status in {Status.REQUESTED, Status.APPROVED} and at >= request.offering.end:
        return replace(request, status=Status.LAPSED, reason="the offer is over")
    return request
