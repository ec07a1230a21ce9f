"""What the tables of the deployed dashboards say of a node that is silent, of a job on many nodes, and of the past.

The queries are the deployed ones, answered by the embedded AWS's Logs Insights. What the real one answers where a field
is missing in one event and there in another is not documented: no query here leaves it to be decided.
"""

import json
import re
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

import pytest

from local.emulator.logs.events import Event
from local.emulator.logs.insights import run
from local.emulator.logs.insights_syntax import parse
from tests.support.watching import ENVIRONMENTS, dashboards, watched

NOW = int(datetime(2026, 11, 21, 12, 0, tzinfo=UTC).timestamp())
FLEET = "trn1-pretrain"
WHY = "no readable report for 1620 s: neuron-monitor is silent"


def event(node: str, minutes_ago: int, *, state: str = "RUNNING", job: str = "llm", **share: Any) -> Event:
    """A node's event of a minute; what it measured of its job is ``share``."""
    at = NOW - 60 * minutes_ago
    measured = {} if state == "BLIND" else {"neuron_core_utilization": 97.0, "tensor_engine_utilization": 41.0}
    message = {
        "fleet": FLEET,
        "node": node,
        "minute": datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "state": state,
        "state_reason": WHY if state == "BLIND" else "executions completed",
        "price": {"kind": "on-demand", "as_of": "2026-10-03"},
        "jobs": [{"job": job, "job_name": job, "owner": "search", "cost_usd_per_hour": 21.5, **measured, **share}],
        **({} if state == "BLIND" else {"cores": {"utilization": [97.0] * 32}}),
    }
    return Event(at * 1000, json.dumps(message), "group", "stream")


def answered(audience: str, title: str, events: Iterable[Event]) -> list[dict[str, str]]:
    """The rows of the table whose title begins with ``title``."""
    (query, *_) = [
        widget["properties"]["query"]
        for widget in dashboards(watched("local"))[audience]["widgets"]
        if widget["type"] == "log" and widget["properties"]["title"].startswith(title)
    ]
    return run(parse(re.sub(r"SOURCE '[^']*'\s*\|", "", query), now=NOW), events).rows


def test_the_cores_of_a_blind_node_are_not_those_of_before() -> None:
    before = [event("i-1", minutes) for minutes in range(28, 60)]
    blind = [event("i-1", minutes, state="BLIND") for minutes in range(1, 28)]

    (row,) = answered("training", "Every core", [*before, *blind])

    assert row == {"node": "i-1", "last_state": "BLIND", "minutes_ago": "1", "by_core": WHY}


def test_a_node_that_says_nothing_is_dated_and_stands_first() -> None:
    silent = [event("i-2", minutes) for minutes in range(27, 60)]
    heard = [event("i-1", minutes) for minutes in range(1, 60)]

    rows = answered("training", "Every core", [*heard, *silent])

    assert [(row["node"], row["minutes_ago"]) for row in rows] == [("i-2", "27"), ("i-1", "1")]


@pytest.mark.parametrize("audience", ["operator", "capacity-and-cost"])
def test_the_dollars_of_a_job_are_the_sum_over_its_nodes(audience: str) -> None:
    hour = [event(f"i-{n}", minutes, wasted_usd_per_hour=3.0) for n in range(4) for minutes in range(1, 61)]

    (row,) = answered(audience, "Dollars by owner and job", hour)

    assert [float(row["paid"]), float(row["wasted"])] == pytest.approx([4 * 21.5, 12])
    assert (row["nodes"], row["minutes"]) == ("4", "60")


def test_the_worst_nodes_are_the_worst_now() -> None:
    was_worst = [event("i-1", minutes, wasted_usd_per_hour=20.0 if minutes > 6 else 0.0) for minutes in range(1, 180)]
    is_worst = [event("i-2", minutes, wasted_usd_per_hour=5.0 if minutes < 3 else 0.0) for minutes in range(1, 180)]
    ended = [event("i-3", minutes, wasted_usd_per_hour=21.5) for minutes in range(30, 180)]

    rows = answered("operator", "Worst nodes", [*was_worst, *is_worst, *ended])

    assert [(row["node"], row["wasted"]) for row in rows] == [("i-2", "5"), ("i-1", "0")]


def test_a_worst_node_that_went_blind_has_no_figures_of_before() -> None:
    rows = answered("operator", "Worst nodes", [event("i-1", 2), event("i-1", 1, state="BLIND")])

    assert [(row["last_state"], row["core"], row["tensor_engine"]) for row in rows] == [("BLIND", "BLIND", "BLIND")]


def test_the_operator_is_told_which_nodes_are_unwell_and_why() -> None:
    events = [event("i-1", 1), event("i-2", 1, state="BLIND"), event("i-3", 1, state="FAULT"), event("i-4", 27)]

    rows = answered("operator", "Nodes with a fault", [*events, event("i-2", 30)])

    assert [(row["node"], row["last_state"], row["minutes_ago"]) for row in rows] == [
        ("i-4", "RUNNING", "27"),
        ("i-2", "BLIND", "1"),
        ("i-3", "FAULT", "1"),
    ]
    assert rows[1]["why"] == WHY


@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_a_table_that_ends_before_its_rows_do_says_how_many_it_shows(name: str) -> None:
    cut = [
        (widget["properties"]["title"], int(limit[1]))
        for body in dashboards(watched(name)).values()
        for widget in body["widgets"]
        if widget["type"] == "log" and (limit := re.search(r"limit (\d+)", widget["properties"]["query"]))
    ]

    assert cut
    assert [title for title, limit in cut if f"at most {limit} " not in title] == []
