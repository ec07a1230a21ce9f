"""Who hears of an alarm: the first route that fits, for each owner whose work is the cause."""

import json

import pytest

from fleet.paging import Destination, Directory, Kind, Route, content, directory_of

DIRECTORY = Directory(
    {
        "pagerduty": Destination(Kind.PAGERDUTY, "prod/pagerduty"),
        "slack": Destination(Kind.SLACK, "prod/slack"),
        "chat-on-call": Destination(Kind.PAGERDUTY, "prod/chat"),
        "leads": Destination(Kind.EMAIL, "arn:aws:sns:us-east-2:1:leads"),
    },
    (
        Route(("chat-on-call", "slack"), severity="page", owner="chat"),
        Route(("pagerduty", "leads"), severity="page"),
    ),
)


@pytest.mark.parametrize(
    ("severity", "owners", "expected"),
    [
        ("page", ["chat"], ("chat-on-call", "slack")),
        ("page", ["somebody-else"], ("pagerduty", "leads")),
        # An owner that nobody knows is nobody's route.
        ("page", [], ("pagerduty", "leads")),
        ("page", ["chat", "somebody-else"], ("chat-on-call", "slack", "pagerduty", "leads")),
        # Without a route of its own a ticket goes where tickets go.
        ("ticket", ["chat"], ("slack",)),
    ],
)
def test_the_first_route_that_fits_leads(severity: str, owners: list[str], expected: tuple[str, ...]) -> None:
    assert DIRECTORY.chosen(severity, owners) == expected


def test_without_routes_pages_go_to_both_and_tickets_to_slack() -> None:
    plain = Directory({})

    assert (plain.chosen("page", ()), plain.chosen("ticket", ())) == (("pagerduty", "slack"), ("slack",))


def test_it_is_read_back_as_it_was_written_and_holds_no_null() -> None:
    written = json.dumps(content(DIRECTORY))

    assert directory_of(json.loads(written)) == DIRECTORY
    assert "null" not in written
