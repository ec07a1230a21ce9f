"""The stop of a month whose budget is used up: who decides, and when it is over.

It is the environment's budget that stops; owners' budgets only speak. With a new month, with a larger budget, and when
somebody says so, everything that was closed is opened again.
"""

from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import datetime

from fleet.approval import RefusedError
from fleet.budgets.spending import StopMode
from fleet.string_enum import StringEnum


class Standing(StringEnum):
    """Where it is. RESUMED holds until the month ends: somebody has decided to go on."""

    WITHIN = "within"
    ASKED = "asked"
    STOPPED = "stopped"
    RESUMED = "resumed"


@dataclass(frozen=True, slots=True)
class Stop:
    """One month's. ``month`` is ``2026-11``; ``by`` is who approved or resumed it, None where no person did."""

    month: str
    standing: Standing = Standing.WITHIN
    since: str | None = None
    by: str | None = None


def month_of(now: datetime) -> str:
    """The calendar month of ``now``, which is UTC."""
    return f"{now:%Y-%m}"


def looked_at(stop: Stop | None, mode: StopMode, *, is_used_up: bool, now: datetime) -> Stop:
    """Where it is at ``now``, without anybody's saying."""
    if stop is None or stop.month != month_of(now):
        stop = Stop(month_of(now))
    if mode is StopMode.NEVER or not is_used_up:
        return stop if stop.standing in (Standing.WITHIN, Standing.RESUMED) else Stop(stop.month)
    if stop.standing is not Standing.WITHIN:
        return stop
    standing = Standing.STOPPED if mode is StopMode.AUTO else Standing.ASKED
    return replace(stop, standing=standing, since=now.isoformat(timespec="seconds"))


def approve(stop: Stop, principal: str, approvers: Collection[str], now: datetime) -> Stop:
    """Stop, because a person said so.

    Raises:
        RefusedError: who asks is no approver, or there is nothing to approve.
    """
    _may(principal, approvers)
    if stop.standing not in (Standing.ASKED, Standing.RESUMED):
        raise RefusedError(f"the budget of {stop.month} stands at {stop.standing}: there is no stop to approve")
    return replace(stop, standing=Standing.STOPPED, since=now.isoformat(timespec="seconds"), by=principal)


def resume(stop: Stop, principal: str, approvers: Collection[str], now: datetime) -> Stop:
    """Go on until the month ends, because a person said so; also the answer no to a question.

    Raises:
        RefusedError: who asks is no approver, or nothing is stopped or asked.
    """
    _may(principal, approvers)
    if stop.standing not in (Standing.ASKED, Standing.STOPPED):
        raise RefusedError(f"the budget of {stop.month} stands at {stop.standing}: nothing is stopped")
    return replace(stop, standing=Standing.RESUMED, since=now.isoformat(timespec="seconds"), by=principal)


def _may(principal: str, approvers: Collection[str]) -> None:
    if not approvers:
        raise RefusedError("nobody is named who may decide; name them in budgets.approvers, and deploy")
    if principal not in approvers:
        raise RefusedError(f"{principal} is not in budgets.approvers")
