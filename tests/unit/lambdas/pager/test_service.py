"""Routing, duplicates, order and failures: who hears what, how often."""

import json
from datetime import timedelta

import pytest

from lambdas.pager.messages import Severity
from tests.support.aws_fakes import client_error
from tests.support.pager import AT, ROUTING_KEY, SLACK_URL, Pager, alarm_change, node_event, ok


@pytest.mark.parametrize("shape", ["metric", "composite", "metric_math"])
def test_a_page_goes_to_pagerduty_and_slack_for_each_kind_of_alarm(shape: str) -> None:
    pager = Pager().seen(node_event(wasted_usd_per_hour=10.0))

    outcome = pager.handle(alarm_change(shape))

    assert outcome.sent == ("pagerduty", "slack")
    [trigger], [message] = pager.inbox.pagerduty, pager.inbox.slack
    assert trigger["routing_key"] == ROUTING_KEY
    assert trigger["payload"]["summary"] == message["text"]


def test_a_bug_in_the_evidence_keeps_no_page_back(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise KeyError("minute")

    monkeypatch.setattr("lambdas.pager.enrichment.evidence.collect", broken)
    pager = Pager().seen(node_event())

    outcome = pager.handle(alarm_change())

    assert outcome.sent == ("pagerduty", "slack")
    assert outcome.page is not None
    assert outcome.page.enrichment_problem == "the events could not be understood (KeyError)"


def test_a_ticket_goes_to_slack_only() -> None:
    pager = Pager().seen(node_event())

    assert pager.handle(alarm_change(), Severity.TICKET).sent == ("slack",)
    assert pager.inbox.slack[0]["text"].startswith("TICKET prod/trn1-pretrain: Idle allocated since ")


def test_the_same_transition_is_sent_once() -> None:
    pager = Pager().seen(node_event())

    pager.handle(alarm_change())
    again = pager.handle(alarm_change())

    assert again.repeated == ("pagerduty", "slack")
    assert len(pager.inbox.posts) == 2


def test_a_second_incident_of_the_same_alarm_is_sent_again() -> None:
    pager = Pager().seen(node_event())

    pager.handle(alarm_change())
    pager.handle(ok())
    pager.handle(alarm_change(StateChangeTime="2026-11-21T05:00:00.000+0000"))

    assert [event["event_action"] for event in pager.inbox.pagerduty] == ["trigger", "resolve", "trigger"]
    first, end, second = (event["dedup_key"] for event in pager.inbox.pagerduty)
    # An acknowledged incident stays as it is, and a late trigger for one incident opens no other.
    assert first == end == f"{alarm_change().arn}#2026-11-21T03:41:12.345Z"
    assert second != first


def test_ok_resolves_and_says_how_long_it_lasted() -> None:
    pager = Pager().seen(node_event())

    pager.handle(alarm_change())
    pager.handle(ok("2026-11-21T04:23:13.000+0000"))

    assert pager.inbox.slack[1]["text"] == "RESOLVED prod/trn1-pretrain: Idle allocated after 42 min"


def test_an_alarm_after_its_ok_is_told_as_over_and_closed_at_once() -> None:
    pager = Pager(moment=(AT + timedelta(minutes=43)).timestamp()).seen(node_event())

    early = pager.handle(ok())
    outcome = pager.handle(alarm_change())
    again = pager.handle(ok())

    assert (early.sent, early.waits) == ((), "its alarm has not come yet")
    assert outcome.sent == ("pagerduty", "slack", "pagerduty", "slack")
    assert again.repeated == ("pagerduty", "slack")
    assert pager.inbox.slack[0]["text"].endswith("(already over)")
    trigger, resolve = pager.inbox.pagerduty
    assert (trigger["event_action"], resolve["event_action"]) == ("trigger", "resolve")
    # On record, and nobody gets up for it.
    assert trigger["payload"]["severity"] == "info"
    assert trigger["dedup_key"] == resolve["dedup_key"]


def test_an_ok_whose_alarm_never_came_closes_what_may_be_open_after_a_quarter_of_an_hour() -> None:
    pager = Pager(moment=(AT + timedelta(minutes=43 + 15)).timestamp())

    outcome = pager.handle(ok())

    assert outcome.sent == ("pagerduty", "slack")
    # Of an alarm that was told of without the table, the ARN alone is the name.
    assert [event["dedup_key"] for event in pager.inbox.pagerduty] == [alarm_change().arn]


def test_an_ok_is_not_told_where_its_alarm_was_not_and_the_alarm_brings_it_along() -> None:
    pager = Pager().seen(node_event())
    pager.inbox.refuses = {"pagerduty"}

    pager.handle(alarm_change())
    end = pager.handle(ok())
    pager.inbox.refuses = set()
    late = pager.handle(alarm_change())

    assert end.sent == ("slack",)
    assert (late.sent, late.repeated) == (("pagerduty", "pagerduty"), ("slack", "slack"))
    assert [event["event_action"] for event in pager.inbox.pagerduty] == ["trigger", "resolve"]


def test_missing_data_within_an_incident_does_not_begin_another() -> None:
    pager = Pager().seen(node_event())

    pager.handle(alarm_change())
    silent = pager.handle(alarm_change(NewStateValue="INSUFFICIENT_DATA", OldStateValue="ALARM"))
    pager.handle(alarm_change(OldStateValue="INSUFFICIENT_DATA", StateChangeTime="2026-11-21T03:50:00.000+0000"))
    pager.handle(ok("2026-11-21T04:01:13.000+0000"))

    assert silent.page is None
    assert pager.inbox.slack[-1]["text"].endswith("after 20 min")


def test_the_first_ok_of_a_new_alarm_is_no_news() -> None:
    assert Pager().handle(ok(OldStateValue="INSUFFICIENT_DATA")).sent == ()


def test_a_recovery_resolves_when_nothing_can_be_remembered() -> None:
    pager = Pager()
    pager.table.is_down = True

    assert pager.handle(ok(OldStateValue="INSUFFICIENT_DATA")).sent == ("pagerduty",)


@pytest.mark.parametrize(("refused", "other"), [("slack", "pagerduty"), ("pagerduty", "slack")])
def test_a_destination_that_fails_does_not_stop_the_other_and_is_tried_again(refused: str, other: str) -> None:
    pager = Pager().seen(node_event())
    pager.inbox.refuses = {refused}

    first = pager.handle(alarm_change())
    pager.inbox.refuses = set()
    second = pager.handle(alarm_change())

    assert (first.sent, first.failed) == ((other,), {refused: "refused with HTTP 500"})
    assert (second.sent, second.repeated, second.failed) == ((refused,), (other,), {})


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("not json", "is not JSON"),
        ("[]", "is not JSON"),
        ('{"key": "x"}', "is not JSON"),
        ("", "holds no text"),
    ],
)
def test_a_malformed_secret_is_named_and_never_shown(text: str, problem: str) -> None:
    pager = Pager().seen(node_event())
    pager.secrets.values["prod/pagerduty"] = text

    outcome = pager.handle(alarm_change())

    assert outcome.failed is not None
    assert outcome.failed["pagerduty"].startswith("secret prod/pagerduty")
    assert problem in outcome.failed["pagerduty"]
    assert outcome.sent == ("slack",)


def test_a_missing_secret_fails_its_destination_only() -> None:
    pager = Pager().seen(node_event())
    del pager.secrets.values["prod/slack"]

    outcome = pager.handle(alarm_change())

    assert outcome.sent == ("pagerduty",)
    assert outcome.failed == {"slack": "secret prod/slack cannot be read (ResourceNotFoundException)"}


def test_a_secret_may_name_another_events_url() -> None:
    pager = Pager().seen(node_event())
    pager.secrets.values["prod/pagerduty"] = json.dumps(
        {"routing_key": ROUTING_KEY, "events_url": "https://events.eu.pagerduty.com/v2/enqueue"}
    )

    pager.handle(alarm_change())

    assert pager.inbox.posts[0][0] == "https://events.eu.pagerduty.com/v2/enqueue"
    assert pager.inbox.posts[1][0] == SLACK_URL


def test_pages_go_out_without_the_table() -> None:
    pager = Pager().seen(node_event())
    pager.table.is_down = True

    assert pager.handle(alarm_change()).sent == ("pagerduty", "slack")


@pytest.mark.parametrize(
    ("logs", "problem"),
    [
        ({"error": client_error("LimitExceededException", "StartQuery")}, "failed (LimitExceededException)"),
        ({"final_status": "Failed"}, "ended as Failed"),
        ({"polls": 1000}, "took longer than 5 s"),
        ({"messages": []}, "no node wrote an event in the last 20 minutes"),
        ({"messages": ["START RequestId", "{}"]}, "no node wrote an event"),
    ],
)
def test_the_bare_page_goes_out_when_enrichment_fails(logs: dict[str, object], problem: str) -> None:
    pager = Pager()
    for name, setting in logs.items():
        setattr(pager.logs, name, setting)

    outcome = pager.handle(alarm_change())

    assert outcome.sent == ("pagerduty", "slack")
    assert outcome.page is not None
    assert problem in (outcome.page.enrichment_problem or "")
    assert "Threshold Crossed" in str(pager.inbox.slack[0])
    assert pager.ticker.now <= 5.0


def test_a_query_over_budget_is_stopped() -> None:
    pager = Pager()
    pager.logs.polls = 1000

    pager.handle(alarm_change())

    assert pager.logs.stopped == ["query-1"]


def test_the_query_looks_at_the_minutes_before_the_transition_not_before_now() -> None:
    pager = Pager().seen(node_event())

    change = alarm_change()
    pager.handle(change)

    [query] = pager.logs.queries
    assert query["endTime"] == int(change.changed_at.timestamp())
    assert query["endTime"] - query["startTime"] == 1200
    assert query["logGroupName"] == "/neuron-fleet/prod/nodes"
    assert query["queryString"].startswith(
        'fields @timestamp, @message | filter fleet = "trn1-pretrain" | sort @timestamp desc | limit '
    )


def test_an_alarm_that_is_not_ours_still_pages() -> None:
    pager = Pager()

    outcome = pager.handle(alarm_change(AlarmName="BillingOver1000", AlarmDescription=None))

    assert outcome.sent == ("pagerduty", "slack")
    assert pager.inbox.slack[0]["text"] == "PAGE prod: BillingOver1000 since 2026-11-21 03:41 UTC"
    assert pager.logs.queries == []
