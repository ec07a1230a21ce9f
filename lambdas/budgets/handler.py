"""The Lambda entry point: every hour, told a day with ``{"waste": "2026-11-20"}``, or given a person's command.

Importing this module reads no environment variable and calls nothing.
"""

from datetime import UTC, date, datetime
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from aws_lambda_powertools.utilities.typing import LambdaContext
from pydantic import ValidationError

from fleet.operations_metrics import BUDGET_FORECAST_PERCENT
from lambdas.budgets import commands, service
from lambdas.budgets.commands import Command
from lambdas.budgets.settings import Settings
from lambdas.shared import identity
from lambdas.shared.observability import emit, logger

if TYPE_CHECKING:
    from lambdas.budgets.adapters import Dependencies

FUNCTION: Final = "budgets"
# The ledger has booked the day before by then, up to what nodes send late.
_DIGEST_HOUR: Final = 6


class BadRequestError(ValueError):
    """The event asks for something that cannot be done; one line."""


def lambda_handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    """Answer a command, or look. What raises is repeated by Lambda and by the next hour."""
    log = logger(FUNCTION)
    log.clear_state()
    log.append_keys(request_id=context.aws_request_id)
    if "action" in event:
        return _command(event)
    if "waste" in event:
        day = _day(event["waste"])
        return {"waste_of": day.isoformat(), "has_ledger": service.tell_waste(_dependencies(), day)}
    now = datetime.now(UTC)
    if now.hour == _DIGEST_HOUR:
        service.tell_waste(_dependencies(), service.day_before(now))
    return _look(now)


def _look(now: datetime) -> dict[str, Any]:
    look = service.look(_dependencies(), now)
    if look.worst_percent is not None:
        emit(BUDGET_FORECAST_PERCENT, look.worst_percent, _settings().environment)
    stop = look.record.stop
    answer: dict[str, Any] = {
        "forecast_percent": look.worst_percent,
        "standing": stop.standing if stop else None,
        "closed": list(look.record.closed),
    }
    logger(FUNCTION).info("looked", **answer)
    return answer


def _command(event: dict[str, Any]) -> dict[str, Any]:
    try:
        command = Command.model_validate(event)
    except ValidationError as error:
        return {"refused": "; ".join(f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors())}
    answer = commands.run(command, _dependencies(), _caller, datetime.now(UTC))
    # Never the signed URL: it is good for a minute.
    logger(FUNCTION).info("command", action=command.action, refused=answer.get("refused"))
    return answer


def _day(text: object) -> date:
    try:
        return date.fromisoformat(str(text))
    except ValueError:
        raise BadRequestError(f"waste is {text!r}, and should be a day such as 2026-11-20") from None


def _caller(url: str, bound_to: str) -> str:
    return identity.caller(url, _settings().sts_host, bound_to, identity.get)


@cache
def _settings() -> Settings:
    return Settings.load()


@cache
def _dependencies() -> "Dependencies":
    # Here and not above: without DuckDB's layer this import fails, which the log then says by name.
    from lambdas.budgets import adapters  # noqa: PLC0415

    return adapters.dependencies(_settings())
