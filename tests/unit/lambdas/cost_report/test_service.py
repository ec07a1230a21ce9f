"""From log events in S3 to a day's dollars: what the domain says, once, however often and late it comes."""

import random
import re
from collections import Counter
from datetime import date, timedelta
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from bench import ledger_rollup
from fleet.ledger import (
    By,
    Category,
    book,
    one_per_fleet,
    one_per_minute,
    read_node_minute,
    read_reserved_minute,
    totals,
)
from fleet.ledger.columns import COLUMNS
from lambdas.cost_report import rollup, service
from tests.support.ledger_events import ON_DEMAND, capacity_event, node_event
from tests.support.ledger_world import DAY, NOW, LedgerWorld, rows

STATES = ["RUNNING", "RUNNING", "COMPILING", "NO_JOB", "BLIND", "FAULT", "STARTUP", "CHECKPOINT", "DRAINING"]


def some_minutes(chance: random.Random, nodes: int = 12, minutes: int = 30) -> list[dict[str, Any]]:
    """Shared nodes, spot and unpriced ones, twins, restarts, and two copies of a minute that are not the same."""
    events = []
    for node in range(nodes):
        for minute in range(minutes):
            jobs = [
                {"job": f"j{node}-{n}", "owner": f"owner{(node + n) % 5}", "cores": chance.choice([1, 2.5, 10.67, 32])}
                for n in range(chance.randint(1, 4))
            ]
            event = node_event(
                node=f"i-{node}",
                seq=minute * 2,
                minute=f"2026-11-20T{10 + minute // 20}:{minute % 20:02}:00Z",
                state=chance.choice(STATES),
                jobs=chance.choice([jobs, jobs, None]),
                price=chance.choice([ON_DEMAND, {**ON_DEMAND, "kind": "spot", "usd_per_hour": 7.0333333}, None]),
            )
            events.append(event)
            if chance.random() < 0.2:
                events.append(event)
            if chance.random() < 0.2:
                rest = {"seq": minute * 2 + 1, "state": chance.choice(STATES)}
                events.append({**event, **rest, "price": {**ON_DEMAND, "usd_per_hour": 900.0}})
            if chance.random() < 0.1:
                events.append({**event, "recovered": True, "jobs": [{"job": "j", "owner": "nobody", "cores": 1}]})
    chance.shuffle(events)
    return events


@pytest.mark.parametrize("seed", range(4))
def test_the_roll_up_says_what_the_domain_says(ledger: LedgerWorld, seed: int) -> None:
    events = some_minutes(random.Random(seed))  # noqa: S311
    looks = [
        capacity_event(minute=f"2026-11-20T10:{m:02}:00Z", unused=m % 3, unused_usd_per_hour=21.5 * (m % 3))
        for m in range(9)
    ]
    for index in range(3):
        ledger.arrive(f"2026-11-20-1{index}", *events[index::3], *looks)
    report = service.run(ledger.world, "prod", NOW)

    minutes, dropped = one_per_minute(map(read_node_minute, events))
    reserved = one_per_fleet(filter(None, map(read_reserved_minute, looks)))
    expected = {repr(line) for line in book(minutes, reserved)}
    # Sums of floats depend on their order in the last digits: cores here are exact only as far as these are.
    assert {_rounded(repr(line)) for line in ledger.lines()} == {_rounded(line) for line in expected}
    assert (report.days[DAY].twins, report.days[DAY].parts) == (dropped.twins, dropped.parts)
    assert report.problems == []


def _rounded(line: str) -> str:
    return re.sub(r"\d+\.\d+", lambda figure: f"{float(figure[0]):.3f}", line)


def test_dollars_are_those_of_fractions_to_the_cent(ledger: LedgerWorld) -> None:
    """By another way: exact fractions of a dollar, straight from the events."""
    events = some_minutes(random.Random(11), nodes=40)  # noqa: S311
    ledger.arrive("2026-11-20-10", *events)
    service.run(ledger.world, "prod", NOW)

    paid: dict[tuple[str, str], dict[str, Any]] = {}
    for event in sorted(events, key=lambda e: (e["state"] == "BLIND", "recovered" in e, e["seq"])):
        paid.setdefault((event["node"], event["minute"]), event)
    owners: Counter[str] = Counter()
    for event in paid.values():
        if "price" in event:
            hour = Fraction(str(event["price"]["usd_per_hour"]))
            jobs = event.get("jobs") or [{"owner": event["owner"], "cores": 1}]
            cores = sum(Fraction(str(job["cores"])) for job in jobs)
            for job in jobs:
                owners[job["owner"]] += hour / 60 * Fraction(str(job["cores"])) / cores  # type: ignore[assignment]
    found = {total.name: total.amount for total in totals(ledger.lines(), By.OWNER) if total.amount}
    assert found.keys() == owners.keys()
    for owner, usd in owners.items():
        assert abs(Fraction(found[owner], 60_000_000) - usd) < Fraction(1, 100)


@pytest.mark.parametrize(("nodes", "least"), [(14, 3), pytest.param(42, 10, marks=pytest.mark.soak)])
def test_a_day_of_many_nodes_is_exact(tmp_path: Path, nodes: int, least: int) -> None:
    """The benchmark of 10 million node-minutes, on 20,000 of them, and in the long tests on 60,000."""
    written = ledger_rollup.write(tmp_path, nodes)
    with rollup.connect(tmp_path) as database:
        found = rollup.roll_up(database, ledger_rollup.DAY, sorted(tmp_path.glob("hour*.parquet")), [], tmp_path / "l")

    assert ledger_rollup.by_owner(tmp_path / "l") == dict(written.by_owner)
    assert (found.twins, found.parts) == (written.twins, written.parts)
    assert found.unpriced_units == written.unpriced * 1_000_000
    assert written.twins > 2 * least
    assert written.parts > least


def test_a_second_run_changes_nothing_and_takes_in_nothing(ledger: LedgerWorld) -> None:
    ledger.arrive("2026-11-20-10", node_event())
    service.run(ledger.world, "prod", NOW)
    before = dict(ledger.store.objects)

    assert service.run(ledger.world, "prod", NOW).hours == []
    assert ledger.store.objects == before


def test_an_hour_that_is_done_again_replaces_itself(ledger: LedgerWorld) -> None:
    ledger.arrive("2026-11-20-10", node_event())
    service.run(ledger.world, "prod", NOW)
    assert service.run(ledger.world, "prod", NOW, again=DAY).hours == ["2026-11-20-10"]
    assert [line.amount for line in ledger.lines()] == [21_500_000]


def test_what_arrives_days_later_is_booked_on_its_own_day(ledger: LedgerWorld) -> None:
    ledger.arrive("2026-11-20-10", node_event())
    service.run(ledger.world, "prod", NOW)
    late = node_event(minute="2026-11-17T23:59:00Z", seq=1)
    twin = node_event()
    ledger.arrive("2026-11-20-13", late, twin)
    report = service.run(ledger.world, "prod", NOW + timedelta(hours=2))

    assert sorted(report.days) == [date(2026, 11, 17), DAY]
    assert [line.amount for line in ledger.lines(date(2026, 11, 17))] == [21_500_000]
    assert [line.amount for line in ledger.lines()] == [21_500_000]


def test_an_hour_that_still_grows_is_taken_in_again(ledger: LedgerWorld) -> None:
    ledger.arrive("2026-11-20-12", node_event())
    service.run(ledger.world, "prod", NOW)
    ledger.arrive("2026-11-20-12", node_event(seq=8, minute="2026-11-20T10:01:00Z"), name="1")
    service.run(ledger.world, "prod", NOW)
    assert [line.amount for line in ledger.lines()] == [43_000_000]


@pytest.mark.parametrize("refused", ["minutes/", "ledger/", "state"])
def test_what_could_not_be_written_is_done_by_the_next_run(ledger: LedgerWorld, refused: str) -> None:
    ledger.arrive("2026-11-20-10", node_event())
    ledger.store.refuses = {refused}
    with pytest.raises(OSError, match="no place"):
        service.run(ledger.world, "prod", NOW)
    ledger.store.refuses = set()

    assert service.run(ledger.world, "prod", NOW).hours == ["2026-11-20-10"]
    assert [line.amount for line in ledger.lines()] == [21_500_000]


def test_damaged_state_takes_everything_in_again(ledger: LedgerWorld) -> None:
    ledger.arrive("2026-11-20-10", node_event())
    ledger.store.send(b"{", "state.json")
    assert service.run(ledger.world, "prod", NOW).hours == ["2026-11-20-10"]


def test_a_run_that_is_short_of_time_leaves_hours_to_the_next(ledger: LedgerWorld) -> None:
    for hour in (8, 9, 10):
        ledger.arrive(f"2026-11-20-{hour:02}", node_event(node=f"i-{hour}"))
    ledger.left = 100.0
    report = service.run(ledger.world, "prod", NOW)
    assert (report.hours, report.waiting, report.problems[-1]) == (
        ["2026-11-20-08"], 2, "2 hours of events wait for the next run",
    )  # fmt: skip
    service.run(ledger.world, "prod", NOW)
    service.run(ledger.world, "prod", NOW)
    assert sum(line.amount or 0 for line in ledger.lines()) == 3 * 21_500_000


def test_events_that_are_no_minutes_are_counted_and_the_rest_is_booked(ledger: LedgerWorld) -> None:
    noise = {"level": "INFO", "message": "looked at"}
    ledger.arrive("2026-11-20-10", node_event(), node_event(seq=None), "no json", noise, node_event(environment="dev"))
    report = service.run(ledger.world, "prod", NOW)

    assert report.unreadable == 3
    (problem,) = report.problems
    assert problem.startswith("3 events of 2026-11-20-10 are in no ledger: event of fleet pretrain, node i-0a, minute")
    assert problem.endswith("seq is missing")
    assert [line.amount for line in ledger.lines()] == [21_500_000]


def test_a_day_with_reserved_capacity_only(ledger: LedgerWorld) -> None:
    ledger.arrive("2026-11-20-10", capacity_event())
    service.run(ledger.world, "prod", NOW)
    (line,) = ledger.lines()
    assert (line.category, line.amount, line.wasted) == (Category.UNALLOCATED_RESERVED, 43_000_000, 43_000_000)


def test_the_file_has_the_columns_of_the_table(ledger: LedgerWorld) -> None:
    ledger.arrive("2026-11-20-10", node_event())
    service.run(ledger.world, "prod", NOW)
    file = ledger.scratch / "file.parquet"
    ledger.store.fetch("ledger/environment=prod/day=2026-11-20/ledger.parquet", file)
    assert list(rows(file)[0]) == [name for name, _, _ in COLUMNS]


def test_silence_is_a_problem_and_no_day_without_cost(ledger: LedgerWorld) -> None:
    assert service.run(ledger.world, "prod", NOW).problems == [
        "no event has arrived since the beginning: neither of nodes nor of the capacity watch"
    ]
    ledger.arrive("2026-11-20-09", node_event())
    (problem,) = service.run(ledger.world, "prod", NOW).problems
    assert problem.startswith("no event has arrived since 2026-11-20-09")
    ledger.arrive("2026-11-20-11", node_event())
    assert service.run(ledger.world, "prod", NOW).problems == []
