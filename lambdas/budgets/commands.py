"""What people ask: where the budgets stand, to stop, to go on. Who decides has to prove who it is."""

from collections.abc import Callable
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, TypeAdapter

from fleet.approval import BUDGET, RefusedError, binding
from fleet.budgets.spending import Spending
from fleet.budgets.stop import Stop, approve, looked_at, resume
from lambdas.budgets import service
from lambdas.budgets.stop_table import ConflictError, Record

if TYPE_CHECKING:
    from lambdas.budgets.adapters import Dependencies

Caller = Callable[[str, str], str]
"""The ARN of whoever signed a URL for a binding; RefusedError when nobody did."""
_SPENDING = TypeAdapter(Spending)
_STOP = TypeAdapter(Stop)


class Action(StrEnum):
    """What can be asked."""

    STATUS = "status"
    APPROVE = "approve"
    RESUME = "resume"


class Command(BaseModel):
    """The event of an invocation by a person. ``signed_url`` is GetCallerIdentity, signed for this command."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    action: Action
    signed_url: str = ""


def run(command: Command, aws: "Dependencies", who: Caller, now: datetime) -> dict[str, Any]:
    """The answer: budgets, stop and closed fleets, or ``{"refused": why}``."""
    try:
        return _done(command, aws, who, now)
    except RefusedError as error:
        return {"refused": str(error)}
    except ConflictError:
        return {"refused": "it changed at this very moment; look at it and try again"}
    except service.NotDoneError as error:
        return {"refused": f"it is decided, and not done yet; it is tried again every hour: {error}"}


def _done(command: Command, aws: "Dependencies", who: Caller, now: datetime) -> dict[str, Any]:
    budgets = service.standing(aws, now)
    if not budgets or aws.budgets is None:
        raise RefusedError(f"environment {aws.environment} has no budgets, as deployed")
    if aws.stops is None:
        if command.action is not Action.STATUS:
            raise RefusedError(f"nothing may be stopped in environment {aws.environment}, as deployed")
        return _answer(aws, budgets, Record())
    record = aws.stops.read()
    stop = looked_at(record.stop, aws.budgets.stop, is_used_up=budgets[0].is_used_up, now=now)
    if command.action is Action.STATUS:
        return _answer(aws, budgets, Record(stop, record.closed))
    principal = who(command.signed_url, binding(aws.environment, command.action, BUDGET))
    decide = approve if command.action is Action.APPROVE else resume
    decided = decide(stop, principal, aws.approvers, now)
    return _answer(aws, budgets, service.settle(aws, record, decided, budgets[0], now))


def _answer(aws: "Dependencies", budgets: tuple[Spending, ...], record: Record) -> dict[str, Any]:
    percents = [each.forecast_percent for each in budgets]
    rows = [_SPENDING.dump_python(each, mode="json") for each in budgets]
    return {
        "budgets": [row | {"forecast_percent": percent} for row, percent in zip(rows, percents, strict=True)],
        "stop": _STOP.dump_python(record.stop, mode="json") if record.stop else None,
        "closed": list(record.closed),
        "may_stop": sorted(aws.targets or {}),
    }
