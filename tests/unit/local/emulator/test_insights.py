"""Logs Insights queries over JSON log events."""

import json

import pytest

from local.emulator.logs.events import Event
from local.emulator.logs.insights import run
from local.emulator.logs.insights_nodes import QueryError
from local.emulator.logs.insights_syntax import parse

START = 1_790_000_000_000
NODES = [
    {"fleet": "trn1", "node": "i-1", "state": "RUNNING", "wasted": 2.5, "cores": {"utilization": [10, 90]}, "seq": 1},
    {"fleet": "trn1", "node": "i-2", "state": "FAULT", "wasted": 21.5, "cores": {"utilization": [0, 0]}, "seq": 1},
    {"fleet": "inf2", "node": "i-3", "state": "RUNNING", "wasted": 0, "job": None, "seq": 1},
    {"fleet": "trn1", "node": "i-1", "state": "RUNNING", "wasted": 3.5, "cores": {"utilization": [11, 91]}, "seq": 2},
]


def _rows(query: str) -> list[dict[str, str]]:
    events = [Event(START + 60_000 * at, json.dumps(node), "g", "s", f"p{at}") for at, node in enumerate(NODES)]
    events.append(Event(START, "START RequestId: 1", "g", "s", "p9"))
    rows = run(parse(query, now=(START + 180_000) / 1000), events).rows
    return [{name: value for name, value in row.items() if name != "@ptr"} for row in rows]


def test_the_query_of_the_pager_returns_the_messages_of_its_fleet_newest_first() -> None:
    rows = _rows('fields @timestamp, @message | filter fleet = "trn1" | sort @timestamp desc | limit 2')

    assert [json.loads(row["@message"])["seq"] for row in rows] == [2, 1]
    assert rows[0]["@timestamp"] == "2026-09-21 14:16:20.000"


@pytest.mark.parametrize(
    ("condition", "nodes"),
    [
        ('state != "RUNNING" and fleet = "trn1"', ["i-2"]),
        ("wasted > 2.5 and wasted <= 21.5", ["i-1", "i-2"]),
        ('fleet like /^in/ or node like "i-2"', ["i-2", "i-3"]),
        ("fleet in ['inf2', 'other']", ["i-3"]),
        ("not (fleet = 'trn1') and node like /i-/", ["i-3"]),
        ("cores.utilization.1 > 90", ["i-1"]),
        ("absent > 0", []),
        # A comment ends with its line; what stands in quotes or in a pattern begins none.
        ('node != "#1" and state = "FAULT" # fleet = "none"', ["i-2"]),
        ("node like /#|i-3/ and state = 'RUNNING'", ["i-3"]),
    ],
)
def test_a_filter_keeps_the_events_that_meet_it(condition: str, nodes: list[str]) -> None:
    rows = _rows(f"fields node | filter {condition}")

    assert sorted({row["node"] for row in rows}) == nodes


def test_statistics_are_grouped_by_fields_and_named() -> None:
    rows = _rows(
        "filter ispresent = 1 or seq > 0 | stats count(*) as n, max(wasted) as worst, latest(state) as last by fleet "
        "| sort n desc"
    )

    assert rows == [
        {"fleet": "trn1", "n": "3", "worst": "21.5", "last": "RUNNING"},
        {"fleet": "inf2", "n": "1", "worst": "0", "last": "RUNNING"},
    ]


def test_time_bins_start_on_whole_multiples() -> None:
    rows = _rows("filter seq > 0 | stats avg(wasted), count(*) by bin(2m) | sort bin(2m) asc")

    assert [(row["bin(2m)"][11:16], row["count(*)"]) for row in rows] == [
        ("14:12", "1"),
        ("14:14", "2"),
        ("14:16", "1"),
    ]


def test_the_percentile_and_the_distinct_count_are_over_present_values() -> None:
    rows = _rows("stats pct(wasted, 50) as half, count_distinct(node) as nodes, earliest(node) as first")

    assert rows == [{"half": "2.5", "nodes": "3", "first": "i-1"}]


@pytest.mark.parametrize(
    ("query", "named"),
    [
        ("parse @message 'x'", "parse"),
        ("fields a | stats stddev(b)", "stddev"),
        ("filter a ==", "unexpected symbol|expected"),
        ("fields a | limit many", "many"),
        ("filter fleet", "comparison"),
        ("stats node by fleet", "node"),
    ],
)
def test_unknown_syntax_is_named(query: str, named: str) -> None:
    with pytest.raises(QueryError, match=named):
        _rows(query)


def test_the_first_field_that_an_event_has_counts() -> None:
    rows = _rows(
        'filter fleet = "trn1" | stats max(coalesce(missing, wasted)) as w, count(coalesce(job, missing)) as n'
    )

    assert rows == [{"w": "21.5", "n": "0"}]
    assert [row["node"] for row in _rows("fields node | filter coalesce(missing, wasted) > 10")] == ["i-2"]


def test_a_list_becomes_a_row_for_each_of_its_elements() -> None:
    """As in "unnest" of the Logs Insights query syntax; an event without the list has no row."""
    rows = _rows(
        "fields jsonParse(@message) as event | unnest event.cores.utilization into core "
        "| stats min(core) as slowest, max(core) as fastest, count(core) as cores by node | sort node asc"
    )

    assert rows == [
        {"node": "i-1", "slowest": "10", "fastest": "91", "cores": "4"},
        {"node": "i-2", "slowest": "0", "fastest": "0", "cores": "2"},
    ]


def test_a_list_can_be_shown_as_it_is() -> None:
    rows = _rows(
        "filter node = 'i-1' | fields jsonParse(@message) as event "
        "| fields jsonStringify(event.cores.utilization) as cores | stats latest(cores) as newest by node"
    )

    assert rows == [{"node": "i-1", "newest": "[11, 91]"}]


@pytest.mark.parametrize("query", ["unnest 5 into x", "unnest cores x", "fields avg(wasted) as mean"])
def test_what_fields_and_unnest_cannot_take_is_refused(query: str) -> None:
    with pytest.raises(QueryError):
        _rows(query)


def test_what_is_newer_than_a_time_before_now_is_filtered_as_the_documentation_does_it() -> None:
    rows = _rows("filter toMillis(@timestamp) >= (now() * 1000 - 60000) | fields node | sort node")

    assert rows == [{"node": "i-1"}, {"node": "i-3"}]


def test_arithmetic_stands_in_fields_and_in_statistics_and_binds_as_usual() -> None:
    assert _rows("stats sum(wasted / 2 + 1) as halves by fleet | sort fleet | limit 2")[1:] == [
        {"fleet": "inf2", "halves": "1"}
    ]
    assert _rows(
        "filter seq = 2 | fields floor((now() * 1000 - toMillis(@timestamp)) / 7 - 1) as left, 2 - wasted * 2 as b"
    )[0] == {"left": "-1", "b": "-5"}


def test_arithmetic_with_what_is_not_there_is_not_there() -> None:
    assert _rows('filter node = "i-3" | fields wasted / missing as a, 1 / wasted as b, node') == [{"node": "i-3"}]


def test_a_slash_begins_a_regular_expression_only_where_one_is_compared_with() -> None:
    assert _rows("filter node like /i-[12]/ | stats max(wasted / 2) as a, max(wasted / 4) as b") == [
        {"a": "10.75", "b": "5.375"}
    ]
