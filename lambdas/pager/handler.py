"""The Lambda entry point of the pager: an SNS event in, messages out, and an error when a destination took none.

Importing this module reads no environment variable and calls nothing.
"""

import time
from functools import cache
from typing import Any

from aws_lambda_powertools.utilities.typing import LambdaContext
from pydantic import TypeAdapter, ValidationError

from fleet.operations_metrics import ENRICHMENT_FAILED, PAGES_FAILED, PAGES_SENT
from lambdas.pager import service, settings
from lambdas.pager.adapters import EventQuery, IncidentTable, Secrets, logs_client, secrets_client, table_client
from lambdas.pager.delivery import HttpPoster
from lambdas.pager.enrichment import Logs
from lambdas.pager.errors import DeliveryError
from lambdas.pager.model import AlarmChange, CapacityEvent, NodeEvent, Notice, Severity, SnsEvent
from lambdas.pager.once import Once
from lambdas.pager.service import Outcome, World
from lambdas.shared.observability import emit, logger

FUNCTION = "pager"
_MESSAGE: TypeAdapter[AlarmChange | Notice] = TypeAdapter(AlarmChange | Notice)


def lambda_handler(event: dict[str, Any], context: LambdaContext) -> None:
    """Deliver the pages of an SNS event; raise when one was not delivered, so that Lambda repeats the event."""
    log = logger(FUNCTION)
    log.clear_state()
    log.append_keys(request_id=context.aws_request_id)
    _once().register(context)
    undelivered: list[str] = []
    for record in SnsEvent.model_validate(event).records:
        try:
            message = _MESSAGE.validate_json(record.sns.message)
        except ValidationError:
            log.exception("message is neither an alarm transition nor a notice", topic=record.sns.topic_arn)
            emit(PAGES_FAILED, 1, _settings().environment, reason="malformed")
            undelivered.append("a message that is neither an alarm transition nor a notice")
            continue
        undelivered += _tell(message) if isinstance(message, Notice) else _page(message, record.sns.severity)
    if undelivered:
        raise DeliveryError("; ".join(undelivered))


def _page(change: AlarmChange, severity: Severity) -> list[str]:
    outcome = service.handle(change, severity, _settings(), _world())
    _report(outcome, change)
    return [f"{change.name} to {destination}: {reason}" for destination, reason in (outcome.failed or {}).items()]


def _tell(notice: Notice) -> list[str]:
    outcome = service.tell(notice, _settings(), _world())
    logger(FUNCTION).info("notice handled", key=notice.key, sent=outcome.sent, already_sent=outcome.repeated)
    _count(outcome, notice.key)
    return [f"{notice.key} to {destination}: {reason}" for destination, reason in (outcome.failed or {}).items()]


def _report(outcome: Outcome, change: AlarmChange) -> None:
    log = logger(FUNCTION)
    log.info(
        "transition handled",
        alarm=change.name,
        state=change.state,
        changed_at=change.changed_at_text,
        sent=outcome.sent,
        already_sent=outcome.repeated,
    )
    if outcome.page and outcome.page.enrichment_problem:
        log.warning("page is bare", alarm=change.name, reason=outcome.page.enrichment_problem)
        emit(ENRICHMENT_FAILED, 1, _settings().environment, alarm=change.name)
    _count(outcome, change.name)


def _count(outcome: Outcome, alarm: str) -> None:
    environment, log = _settings().environment, logger(FUNCTION)
    for destination in outcome.sent:
        emit(PAGES_SENT, 1, environment, destination=destination, alarm=alarm)
    for destination, reason in (outcome.failed or {}).items():
        log.error("page not delivered", alarm=alarm, destination=destination, reason=reason)
        emit(PAGES_FAILED, 1, environment, destination=destination, alarm=alarm)


@cache
def _settings() -> settings.Settings:
    return settings.load()


@cache
def _once() -> Once:
    return Once(table_client(), _settings().idempotency_table)


@cache
def _world() -> World:
    logs = logs_client()
    return World(
        logs=Logs(
            nodes=EventQuery(logs, _settings().node_log_group, NodeEvent, time),
            capacity=EventQuery(logs, _settings().capacity_log_group, CapacityEvent, time),
        ),
        incidents=IncidentTable(table_client(), _settings().idempotency_table, time.time),
        secret=Secrets(secrets_client()).read,
        post=HttpPoster(time.sleep).post,
        once=_once().run,
    )
