"""Alarms that follow each job and each node: one incident for each, and one for those that begin together."""

from collections import Counter
from datetime import timedelta
from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fleet.alarm_page import AlarmPage, EvidenceKind
from lambdas.pager.messages import AlarmChange
from tests.support.alarm_pages import alarm_pages
from tests.support.aws_fakes import client_error
from tests.support.pager import AT, Pager, alarm_change, node_event

NAME: Final = "prod/trn1-pretrain/NodeFault"
ALARM: Final = AlarmPage(
    title="Node fault",
    summary="A node is damaged.",
    action="Replace it.",
    description="A node is damaged. Replace it.",
    runbook="HardwareFault.md",
    evidence=EvidenceKind.NODES,
    contributor=("fleet", "job", "node"),
)


def pager(**fields: Any) -> Pager:
    return Pager(alarms={**alarm_pages(), NAME: ALARM}, **fields)


def changed(node: str, minutes: float, state: str = "ALARM", job: str | None = "llama", **fields: Any) -> AlarmChange:
    """As CloudWatch tells of a contributor; its reason may be missing."""
    labels = {"fleet": "trn1-pretrain", "node": node, **({"job": job} if job else {})}
    return alarm_change(
        **{
            "AlarmName": NAME,
            "AlarmArn": f"arn:aws:cloudwatch:us-east-2:111122223333:alarm:{NAME}",
            "AlarmDescription": ALARM.description,
            "NewStateValue": state,
            "OldStateValue": "OK" if state == "ALARM" else "ALARM",
            "NewStateReason": None,
            "StateChangeTime": (AT + timedelta(minutes=minutes)).isoformat(timespec="milliseconds"),
            "AlarmContributorId": f"id-{node}-{job}",
            "AlarmContributorAttributes": labels,
            **fields,
        }
    )


def whole(minutes: float, state: str = "ALARM") -> AlarmChange:
    """As CloudWatch tells of the alarm itself."""
    return changed("", minutes, state, AlarmContributorId=None, AlarmContributorAttributes=None)


def events(to: Pager) -> list[tuple[str, str]]:
    return [(body["event_action"], body["dedup_key"].rpartition("|")[2]) for body in to.inbox.pagerduty]


def test_a_page_says_which_job_and_node_and_shows_the_nodes_of_that_job_only() -> None:
    told = pager().seen(
        node_event("i-0a", job="llama"), node_event("i-0b", job="llama"), node_event("i-0c", job="other")
    )

    outcome = told.handle(changed("i-0b", 0))

    assert outcome.page is not None
    assert outcome.page.evidence is not None
    assert [node.last.node for node in outcome.page.evidence.nodes] == ["i-0b", "i-0a"]
    assert "fleet trn1-pretrain, job llama, node i-0b" in str(told.inbox.slack[0])


def test_two_jobs_at_once_are_two_incidents() -> None:
    told = pager().seen(node_event())

    told.handle(changed("i-0a", 0, job="llama"))
    told.handle(changed("i-0b", 0, job="qwen"))

    assert [kind for kind, _ in events(told)] == ["trigger", "trigger"]
    assert len({key for _, key in events(told)}) == 2


def test_nodes_of_a_job_that_fail_together_are_one_incident_until_the_last_is_well() -> None:
    told = pager().seen(node_event())

    for index in range(16):
        told.handle(changed(f"i-{index}", index / 4))
    assert [kind for kind, _ in events(told)] == ["trigger"]
    for index in range(15):
        told.handle(changed(f"i-{index}", 20 + index, "OK"))
    assert [kind for kind, _ in events(told)] == ["trigger"]

    told.handle(changed("i-15", 50, "OK"))

    assert [kind for kind, _ in events(told)] == ["trigger", "resolve"]
    assert told.inbox.slack[-1]["text"].endswith("after 50 min")


def test_a_second_node_an_hour_into_the_first_one_s_incident_is_told() -> None:
    told = pager().seen(node_event())

    told.handle(changed("i-0a", 0))
    told.handle(changed("i-0b", 60))
    told.handle(changed("i-0b", 70, "OK"))

    assert [kind for kind, _ in events(told)] == ["trigger", "trigger", "resolve"]
    assert events(told)[1][1] == events(told)[2][1] != events(told)[0][1]


# Two nodes that fail within five minutes, one an hour later, and another job's in the same minute.
SPELLS: Final = (("i-0a", "llama", 0, 20), ("i-0b", "llama", 3, 30), ("i-0c", "llama", 60, 65), ("i-0d", "qwen", 0, 9))
MESSAGES: Final = tuple(
    (node, job, minute, state)
    for node, job, began, ended in SPELLS
    for state, minute in (("ALARM", began), ("OK", ended))
)


@settings(max_examples=60, deadline=None)
@given(st.permutations([*MESSAGES, *MESSAGES]))
def test_each_incident_has_one_trigger_and_is_resolved_whatever_order_the_messages_come_in(
    messages: list[tuple[str, str, int, str]],
) -> None:
    told = pager(moment=(AT + timedelta(minutes=66)).timestamp()).seen(node_event())

    waiting = messages
    for _ in range(3):
        # What waits for its own ALARM comes again, as the queue brings it.
        outcomes = [(each, told.handle(changed(each[0], each[2], each[3], each[1]))) for each in waiting]
        waiting = [each for each, outcome in outcomes if outcome.waits]
    assert not waiting

    triggers = Counter(key for kind, key in events(told) if kind == "trigger")
    assert len(triggers) == 3
    assert set(triggers.values()) == {1}
    assert {key for kind, key in events(told) if kind == "resolve"} >= triggers.keys()


def test_the_whole_alarm_is_no_news_where_a_contributor_of_it_was_told() -> None:
    told = pager(moment=AT.timestamp()).seen(node_event())

    first = told.handle(whole(0))
    told.handle(changed("i-0a", 0))
    again = told.handle(whole(0))

    assert (first.page, first.waits) == (None, "its contributors have not come yet")
    assert (again.page, again.waits) == (None, None)
    assert [kind for kind, _ in events(told)] == ["trigger"]


def test_the_whole_alarm_is_told_where_none_of_its_contributors_comes() -> None:
    told = pager(moment=(AT + timedelta(minutes=3)).timestamp()).seen(node_event())

    assert told.handle(whole(0)).sent == ("pagerduty", "slack")


def test_the_whole_alarm_is_told_where_nobody_can_say_whether_a_contributor_was(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    told = pager(moment=AT.timestamp()).seen(node_event())

    def broken(**_: Any) -> Any:
        raise client_error("InternalServerError", "GetItem")

    monkeypatch.setattr(told.table, "get_item", broken)

    assert told.handle(whole(0)).sent == ("pagerduty", "slack")


def test_an_alarm_of_an_operator_s_own_that_has_contributors_names_all_their_labels() -> None:
    told = pager().seen(node_event())

    told.handle(changed("i-0a", 0, AlarmName="prod/trn1-pretrain/Own", AlarmDescription="", job=None))

    assert "fleet trn1-pretrain, node i-0a" in str(told.inbox.slack[0])
