"""Thousands of notifications in any order, and destinations that are down: one trigger and one resolve each."""

import logging
import random
from collections import Counter, defaultdict
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from lambdas.pager.messages import patience
from stacks.pager import MOST_TRIES
from tests.support.pager import AT, Pager, alarm_message, sns_event
from tests.support.pager_deployment import Aws, deployed

INCIDENTS = 20
# Within the quarter of an hour that an OK waits for its own alarm, and longer than an incident lasts.
LONGEST_DELAY = 800.0
EVERY = timedelta(minutes=10)
LASTS = timedelta(minutes=6)
Events = dict[tuple[str, str], list[str]]


@pytest.fixture
def aws(monkeypatch: pytest.MonkeyPatch) -> Iterator[Aws]:
    pager = Pager()
    monkeypatch.setenv("LOG_LEVEL", "CRITICAL")
    with deployed(pager, monkeypatch):
        yield Aws(pager)
    # A logger keeps its level for the life of the process.
    logging.getLogger("pager").setLevel(logging.INFO)


def notification(alarm: int, state: str, at: datetime) -> dict[str, Any]:
    name = f"prod/fleet-{alarm}/IdleAllocated"
    message = alarm_message(
        AlarmName=name,
        AlarmArn=f"arn:aws:cloudwatch:us-east-2:111122223333:alarm:{name}",
        NewStateValue=state,
        OldStateValue="OK" if state == "ALARM" else "ALARM",
        StateChangeTime=at.isoformat(timespec="milliseconds"),
    )
    return sns_event(message)


def transitions(alarms: int) -> Iterator[tuple[datetime, dict[str, Any]]]:
    for alarm in range(alarms):
        for incident in range(INCIDENTS):
            start = AT + incident * EVERY
            yield start, notification(alarm, "ALARM", start)
            yield start + LASTS, notification(alarm, "OK", start + LASTS)


def told(pager: Pager) -> Events:
    """What PagerDuty was told of each incident, in order."""
    events: Events = defaultdict(list)
    for body in pager.inbox.pagerduty:
        arn, _, opened = body["dedup_key"].partition("#")
        events[arn, opened].append(body["event_action"])
    return events


@pytest.mark.parametrize(("alarms", "notifications"), [(5, 1_000), pytest.param(50, 10_000, marks=pytest.mark.soak)])
def test_one_trigger_and_one_resolve_for_each_incident_however_the_messages_come(
    aws: Aws, alarms: int, notifications: int
) -> None:
    choose = random.Random(7)  # noqa: S311 - the same storm in every run
    every = list(transitions(alarms))
    # Each at least once; the rest are repetitions.
    storm = every + choose.choices(every, k=notifications - len(every))
    for at, event in storm:
        aws.notify(at.timestamp() + choose.uniform(0, LONGEST_DELAY), event)

    aws.run()

    events = told(aws.pager)
    assert len(storm) == notifications
    assert Counter(map(tuple, events.values())) == {("trigger", "resolve"): alarms * INCIDENTS}
    assert {opened for _, opened in events} == {
        (AT + incident * EVERY).astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        for incident in range(INCIDENTS)
    }
    # The channel too reads each incident once when it begins and once when it is over.
    assert Counter(body["text"].split()[0] for body in aws.pager.inbox.slack) == {
        "PAGE": alarms * INCIDENTS,
        "RESOLVED": alarms * INCIDENTS,
    }
    assert aws.undelivered == []


@pytest.mark.parametrize("down", ["pagerduty", "slack"])
def test_a_destination_that_is_down_for_an_hour_misses_nothing(aws: Aws, down: str) -> None:
    aws.pager.inbox.refuses = {down}
    aws.at((AT + timedelta(hours=1)).timestamp(), aws.pager.inbox.refuses.clear)
    for at, event in transitions(alarms=5):
        aws.notify(at.timestamp() + 1, event)

    aws.run()

    assert Counter(map(tuple, told(aws.pager).values())) == {("trigger", "resolve"): 5 * INCIDENTS}
    assert Counter(body["text"].split()[0] for body in aws.pager.inbox.slack) == {
        "PAGE": 5 * INCIDENTS,
        "RESOLVED": 5 * INCIDENTS,
    }
    assert aws.undelivered == []


def test_the_table_down_for_an_hour_keeps_no_page_back(aws: Aws) -> None:
    aws.pager.table.is_down = True
    start = AT.timestamp()
    aws.at(start + 3600, lambda: setattr(aws.pager.table, "is_down", False))
    aws.notify(start + 1, notification(0, "ALARM", AT))
    aws.notify(start + 3700, notification(0, "OK", AT + timedelta(minutes=61)))

    aws.run()

    assert [body["event_action"] for body in aws.pager.inbox.pagerduty] == ["trigger", "resolve"]
    assert len({body["dedup_key"] for body in aws.pager.inbox.pagerduty}) == 1


def test_the_queue_tries_for_hours_and_then_gives_the_page_to_the_dead_letters(aws: Aws) -> None:
    aws.pager.inbox.refuses = {"pagerduty"}
    aws.notify(AT.timestamp(), notification(0, "ALARM", AT))

    aws.run()

    assert patience(MOST_TRIES) >= 3 * 3600
    assert aws.pager.moment - AT.timestamp() >= 3 * 3600
    assert len(aws.undelivered) == 1
    assert "prod/fleet-0/IdleAllocated" in aws.undelivered[0]
