"""The Lambda entry point: every hour, or told to do a day again with ``{"again": "2026-11-20"}``.

Importing this module reads no environment variable and calls nothing.
"""

import shutil
from datetime import UTC, date, datetime, timedelta
from functools import cache
from typing import Any, Final

from aws_lambda_powertools.utilities.typing import LambdaContext

from fleet.operations_metrics import JOBS_WITH_METRICS, LEDGER_PROBLEMS
from lambdas.cost_report import adapters
from lambdas.shared.observability import emit, logger

FUNCTION: Final = "cost-report"
# Cost Explorer is behind by up to a day, and changes what it said until the month is closed.
_BILL_DAYS: Final = 10
# As late as AWS has the day before, and three times: one failure is made good, and problems of three hours in a row are
# a ticket. A request costs $0.01.
BILL_HOURS: Final = frozenset({9, 10, 11})


class BadRequestError(ValueError):
    """The event asks for something that cannot be done; one line."""


def lambda_handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    """Take in what arrived, roll up, reconcile in the morning. What raises is repeated by Lambda and the next hour."""
    log = logger(FUNCTION)
    log.clear_state()
    log.append_keys(request_id=context.aws_request_id)
    again, now = _again(event), datetime.now(UTC)
    # After the event was read: without DuckDB's layer this import fails, which the log then says by name.
    from lambdas.cost_report import reconciliation, service  # noqa: PLC0415

    aws = adapters.dependencies(_settings(), lambda: context.get_remaining_time_in_millis() / 1000)
    try:
        report = service.run(aws, _settings().environment, now, again=again)
        problems = list(report.problems)
        if now.hour in BILL_HOURS or again is not None:
            first = min(again or now.date(), now.date() - timedelta(days=_BILL_DAYS))
            problems += reconciliation.reconcile(aws, _settings().environment, first, now.date())
    finally:
        shutil.rmtree(aws.scratch, ignore_errors=True)
    for problem in problems:
        log.error("not done", problem=problem)
    if report.jobs is not None:
        emit(JOBS_WITH_METRICS, report.jobs, _settings().environment)
    emit(LEDGER_PROBLEMS, len(problems), _settings().environment)
    answer = {**service.told(report), "problems": problems}
    log.info("rolled up", **answer)
    return answer


def _again(event: dict[str, Any]) -> date | None:
    asked = event.get("again")
    try:
        return None if asked is None else date.fromisoformat(asked)
    except (TypeError, ValueError):
        raise BadRequestError(f"again is {asked!r}, and should be a day such as 2026-11-20") from None


@cache
def _settings() -> adapters.Settings:
    return adapters.Settings.load()
