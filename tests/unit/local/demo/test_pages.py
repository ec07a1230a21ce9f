"""The verdict of the demo: a page that is missing, late, silent about money or unexpected is noticed."""

from typing import Any

import pytest

from local.control import InboxMessage
from local.demo.pages import Match, compare, received_pages, unexpected_tickets
from local.simulation.scenario import Scenario

START = 1_800_000_000.0
ALARM = "local/trn1-pretrain/LowUtilization"
NODES = {"trn1-pretrain": ["i-0aaa", "i-0bbb"]}
SCENARIO = Scenario.model_validate(
    {
        "name": "test",
        "title": "A test",
        "minutes": 60,
        "fleets": {
            "trn1-pretrain": {
                "job": {"id": "job-1", "name": "a job", "owner": "somebody"},
                "phases": [{"at": 0, "kind": "running"}],
            }
        },
        "expected_pages": [
            {
                "fleet": "trn1-pretrain",
                "alarm": "LowUtilization",
                "earliest_minute": 10,
                "latest_minute": 15,
                "resolves": True,
                "nodes": [1],
            }
        ],
        "expected_tickets": [{"fleet": "trn1-pretrain", "alarm": "NodeBlind"}],
    }
)


def event(action: str, minute: float, alarm: str = ALARM, **details: str) -> InboxMessage:
    told = {"job": "a job (job-1)", "money": "$17.20 an hour wasted", "nodes": "i-0bbb: 8 %"} | details
    body: dict[str, Any] = {
        "event_action": action,
        "dedup_key": f"arn:aws:cloudwatch:us-east-2:000000000000:alarm:{alarm}",
        "payload": {"summary": f"PAGE {alarm}", "custom_details": told},
    }
    return InboxMessage("pagerduty", START + 60 * minute, body)


def verdict(*messages: InboxMessage) -> list[Match]:
    return compare(SCENARIO, "local", received_pages(messages, START), NODES)


def test_a_page_that_is_in_time_complete_and_resolved_is_good() -> None:
    matches = verdict(event("trigger", 12), event("resolve", 30))

    assert [match.problems for match in matches] == [()]
    assert matches[0].received is not None
    assert (matches[0].received.minute, matches[0].received.resolved_minute) == (12, 30)
    assert matches[0].received.dollars == "$17.20 an hour"


def test_a_page_that_does_not_arrive_is_a_problem() -> None:
    assert verdict()[0].problems == ("did not arrive",)


@pytest.mark.parametrize("minute", [9, 16])
def test_a_page_outside_its_window_is_a_problem(minute: int) -> None:
    assert "expected in 10 to 15" in verdict(event("trigger", minute), event("resolve", 30))[0].problems[0]


def test_a_page_that_stays_open_is_a_problem() -> None:
    assert verdict(event("trigger", 12))[0].problems == ("was not resolved",)


@pytest.mark.parametrize(
    ("details", "problem"),
    [
        ({"job": "somebody's"}, "does not name job-1"),
        ({"nodes": "i-0aaa"}, "does not name i-0bbb"),
        ({"money": "expensive"}, "does not say dollars an hour"),
    ],
)
def test_a_page_that_leaves_out_what_matters_is_a_problem(details: dict[str, str], problem: str) -> None:
    assert verdict(event("trigger", 12, **details), event("resolve", 30))[0].problems == (problem,)


def test_a_second_page_and_a_page_of_another_alarm_are_problems() -> None:
    messages = [
        event("trigger", 12),
        event("resolve", 20),
        event("trigger", 25),
        event("trigger", 26, "local/trn1-pretrain/JobHang"),
    ]

    problems = {match.alarm: match.problems for match in verdict(*messages)[1:]}

    assert problems == {ALARM: ("is not expected",), "local/trn1-pretrain/JobHang": ("is not expected",)}


def test_slack_messages_are_not_counted_as_incidents() -> None:
    assert received_pages([InboxMessage("slack", START, {"text": "hello"})], START) == []


def test_only_tickets_that_the_scenario_does_not_list_are_surprising() -> None:
    raised = ["local/trn1-pretrain/NodeBlind", "local/trn1-pretrain/Straggler"]

    assert unexpected_tickets(SCENARIO, "local", raised) == ["local/trn1-pretrain/Straggler"]
