"""The Lambda entry point of the pager: a message of SNS or of the waiting queue in, pages out.

What a destination did not take raises for SNS, and stays in the queue; so both try it again.
Importing this module reads no environment variable and calls nothing.
"""

from collections.abc import Iterable
from contextlib import suppress
from functools import cache
from typing import Any

from aws_lambda_powertools.utilities.typing import LambdaContext
from pydantic import TypeAdapter, ValidationError

from fleet.operations_metrics import ENRICHMENT_FAILED, PAGES_FAILED, PAGES_SENT
from fleet.paging import report_key
from lambdas.pager import adapters, messages, service
from lambdas.pager.errors import DeliveryError, IncidentStoreError
from lambdas.pager.messages import AlarmChange, Notice, Severity, SnsEvent, SnsMessage, WaitingQueue
from lambdas.pager.page import is_test, milliseconds
from lambdas.pager.service import Dependencies, Outcome
from lambdas.pager.settings import FUNCTION, Settings
from lambdas.shared.observability import emit, logger

_MESSAGE: TypeAdapter[AlarmChange | Notice] = TypeAdapter(AlarmChange | Notice)


def lambda_handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any] | None:
    """Deliver the pages of an event.

    Raises:
        DeliveryError: SNS brought a page that was not delivered. To the queue its ``batchItemFailures`` say so.
    """
    log = logger(FUNCTION)
    log.clear_state()
    log.append_keys(request_id=context.aws_request_id)
    _dependencies().once.register(context)
    if messages.is_from_the_queue(event):
        return _again(event)
    undelivered = _deliver(record.sns for record in SnsEvent.model_validate(event).records)
    if undelivered:
        raise DeliveryError("; ".join(undelivered))
    return None


def _again(event: dict[str, Any]) -> dict[str, Any]:
    failures = []
    for arrival in messages.waiting(event):
        if arrival.messages and not _deliver(arrival.messages):
            continue
        failures.append({"itemIdentifier": arrival.message_id})
        _queue().put_off(arrival.receipt_handle, arrival.wait_seconds)
    return {"batchItemFailures": failures}


def _deliver(arrived: Iterable[SnsMessage]) -> list[str]:
    undelivered: list[str] = []
    for sns in arrived:
        try:
            message = sns.budget_notice or _MESSAGE.validate_json(sns.message)
        except ValidationError:
            # Not the error itself: it quotes the message, which may be anything.
            logger(FUNCTION).error("message is neither an alarm transition nor a notice", topic=sns.topic_arn)
            emit(PAGES_FAILED, 1, _settings().environment, reason="malformed")
            undelivered.append("a message that is neither an alarm transition nor a notice")
            continue
        undelivered += _tell(message) if isinstance(message, Notice) else _page(message, sns.severity)
    return undelivered


def _page(change: AlarmChange, severity: Severity) -> list[str]:
    outcome = service.handle(change, severity, _dependencies())
    _report(outcome, change)
    if is_test(change) and not outcome.waits:
        _report_test(outcome, change)
    waits = [f"{change.name}: {outcome.waits}"] if outcome.waits else []
    return [*waits, *(f"{change.name} to {destination}: {reason}" for destination, reason in outcome.failed.items())]


def _tell(notice: Notice) -> list[str]:
    outcome = service.tell(notice, _dependencies())
    logger(FUNCTION).info("notice handled", key=notice.key, sent=outcome.sent, already_sent=outcome.repeated)
    _count(outcome, notice.key)
    return [f"{notice.key} to {destination}: {reason}" for destination, reason in outcome.failed.items()]


def _report(outcome: Outcome, change: AlarmChange) -> None:
    log = logger(FUNCTION)
    log.info(
        "transition handled",
        alarm=change.name,
        state=change.state,
        changed_at=change.changed_at_text,
        sent=outcome.sent,
        already_sent=outcome.repeated,
        waits=outcome.waits,
    )
    if outcome.page and outcome.page.enrichment_problem:
        log.warning("page is bare", alarm=change.name, reason=outcome.page.enrichment_problem)
        emit(ENRICHMENT_FAILED, 1, _settings().environment, alarm=change.name)
    _count(outcome, change.name)


def _report_test(outcome: Outcome, change: AlarmChange) -> None:
    """Write down what became of a test page, for `fleet page test`, which notices that nothing was written."""
    took = dict.fromkeys((*outcome.repeated, *outcome.sent), "")
    key = report_key(change.arn, milliseconds(change.changed_at))
    with suppress(IncidentStoreError):
        _dependencies().incidents.report(key, took | dict(outcome.failed))


def _count(outcome: Outcome, alarm: str) -> None:
    environment, log = _settings().environment, logger(FUNCTION)
    for destination in outcome.sent:
        emit(PAGES_SENT, 1, environment, destination=destination, alarm=alarm)
    for destination, reason in outcome.failed.items():
        log.error("page not delivered", alarm=alarm, destination=destination, reason=reason)
        emit(PAGES_FAILED, 1, environment, destination=destination, alarm=alarm)


@cache
def _settings() -> Settings:
    return Settings.load()


@cache
def _dependencies() -> Dependencies:
    return adapters.dependencies(_settings())


@cache
def _queue() -> WaitingQueue:
    return adapters.waiting_queue(_settings())
