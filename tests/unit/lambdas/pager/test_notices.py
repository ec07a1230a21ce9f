"""What a function of the platform tells people goes to Slack, once by its key, and wakes nobody."""

import json

import pytest

from lambdas.pager import handler, service
from lambdas.pager.errors import DeliveryError
from lambdas.pager.messages import Notice
from lambdas.pager.settings import Settings
from tests.support.pager import ENVIRON, LambdaContext, Pager, alarm_message, sns_event

BODY = "It ends at 2026-12-18 11:30 UTC.\nJobs are stopped by 10:55 & not later."
TOLD = json.dumps(
    {"notice_key": "capacity-block:cr-1:propose-extension", "subject": "frontier: can be extended", "body": BODY}
)


@pytest.fixture
def pager(monkeypatch: pytest.MonkeyPatch) -> Pager:
    made = Pager()
    dependencies = made.dependencies()
    monkeypatch.setattr(handler, "_settings", lambda: Settings.load(ENVIRON))
    monkeypatch.setattr(handler, "_dependencies", lambda: dependencies)
    return made


def test_a_notice_is_said_once_in_slack_even_on_the_topic_that_wakes(pager: Pager) -> None:
    for topic in ("neuron-fleet-prod-ticket", "neuron-fleet-prod-ticket", "neuron-fleet-prod-page"):
        handler.lambda_handler(sns_event(TOLD, topic), LambdaContext())

    (message,) = pager.inbox.slack
    assert message["text"] == "frontier: can be extended"
    assert message["blocks"][0]["text"]["text"] == "frontier: can be extended"
    assert message["blocks"][1]["text"]["text"] == BODY.replace("&", "&amp;")
    assert pager.inbox.pagerduty == []


def test_a_notice_that_slack_does_not_take_is_tried_again(pager: Pager) -> None:
    pager.inbox.refuses = {"slack"}
    with pytest.raises(DeliveryError, match="capacity-block:cr-1:propose-extension to slack: refused with HTTP 500"):
        handler.lambda_handler(sns_event(TOLD), LambdaContext())

    pager.inbox.refuses = set()
    handler.lambda_handler(sns_event(TOLD), LambdaContext())
    assert len(pager.inbox.slack) == 1


def test_alarms_still_page_and_what_is_neither_is_refused(pager: Pager) -> None:
    handler.lambda_handler(sns_event(alarm_message()), LambdaContext())
    assert len(pager.inbox.pagerduty) == 1

    with pytest.raises(DeliveryError, match="neither an alarm transition nor a notice"):
        handler.lambda_handler(sns_event("{}"), LambdaContext())


def test_a_long_body_is_cut_where_slack_would_refuse_it(pager: Pager) -> None:
    notice = Notice.model_validate({"notice_key": "k", "subject": "s" * 200, "body": "b" * 4000})
    service.tell(notice, pager.dependencies())
    blocks = pager.inbox.slack[0]["blocks"]
    assert [len(block["text"]["text"]) for block in blocks] == [150, 2900]


LETTER = "AWS Budget Notification November 20, 2026\nAWS Account 111122223333\n\nDear AWS Customer,\n\n..."


def test_a_letter_of_aws_budgets_is_a_ticket_and_no_alarm(pager: Pager) -> None:
    for _ in range(2):
        handler.lambda_handler(sns_event(LETTER, "neuron-fleet-prod-ticket"), LambdaContext())

    (message,) = pager.inbox.slack
    assert message["text"] == "AWS Budget Notification November 20, 2026"
    assert pager.inbox.pagerduty == []


def test_a_letter_on_the_topic_that_wakes_is_not_understood(pager: Pager) -> None:
    with pytest.raises(DeliveryError, match="neither an alarm transition nor a notice"):
        handler.lambda_handler(sns_event(LETTER, "neuron-fleet-prod-page"), LambdaContext())
