"""A day on which everything fails: what was measured arrives once, or as a twin that can be told, and nothing else."""

import json
import os
from collections import Counter, defaultdict
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.support.agents import MINUTE
from tests.support.faulty_node import FaultyNode

HOUR = 3600.0
DAY = 24 * HOUR
OUTAGE = (8 * HOUR, 14 * HOUR)
FULL = (16 * HOUR, 16.75 * HOUR)
AWAY_WHILE_FULL = (16.2 * HOUR, 16.5 * HOUR)


def plan(node: FaultyNode) -> None:
    """What fails when: everything at seeded moments; the calm after the day is for what still waits."""
    for _ in range(50):
        node.at(moment(node), node.kill_monitor)
    for _ in range(10):
        node.at(moment(node), node.hang_monitor)
    for _ in range(20):
        # A minute has about thirty operations on files.
        node.at(moment_of_a_kill(node), partial(node.disk.kill_soon, node.chance.randrange(40)))
    for at, seconds in ((3 * HOUR, 300.0), (5 * HOUR, -300.0), (10 * HOUR, -300.0), (20 * HOUR, 300.0)):
        node.at(at, partial(node.clock.step, seconds))
    for begin, end in (OUTAGE, AWAY_WHILE_FULL):
        node.at(begin, partial(setattr, node.cloud, "is_away", True))
        node.at(end, partial(setattr, node.cloud, "is_away", False))
    node.at(FULL[0], partial(setattr, node.disk, "is_full", True))
    node.at(FULL[1], partial(setattr, node.disk, "is_full", False))
    node.at(DAY, node.cloud.recover)
    node.pauses = lambda: node.chance.choice([5.0, 5.0, 5.0, 70.0, 200.0])


def moment(node: FaultyNode) -> float:
    """Some time of the day."""
    return node.chance.uniform(600, DAY - 600)


def moment_of_a_kill(node: FaultyNode) -> float:
    """Not while the disk takes nothing: the batches that then wait in the agent's memory die with it."""
    while FULL[0] - 120 < (at := moment(node)) < FULL[1] + 120:
        pass
    return at


@pytest.mark.soak
def test_in_24_hours_of_faults_nothing_is_lost_and_nothing_is_invented(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Every seed is another day; none is known on which this fails.
    node = FaultyNode(tmp_path, monkeypatch, seed=int(os.environ.get("FAULTS_SEED", "1")))
    plan(node)

    node.run(DAY + HOUR)

    assert node.disk.kills == 20
    copies = by_number(node.cloud.events)
    kept = check_log(node, copies)
    check_metrics(node)
    assert list(tmp_path.glob("spool/*/*")) == []
    print_figures(node, copies, kept)


def by_number(events: list[dict[str, Any]]) -> dict[int, list[dict[str, Any]]]:
    """The copies of each log event, by what identifies it."""
    copies: dict[int, list[dict[str, Any]]] = defaultdict(list)
    for event in events:
        assert (event["node"], event["boot_id"]) == ("i-1", "boot-1")
        copies[event["seq"]].append(event)
    return copies


def check_log(node: FaultyNode, copies: dict[int, list[dict[str, Any]]]) -> int:
    """Every minute that began is there, with exactly its reports; how many reports survived their killer."""
    ledger, survivors = node.ledger, 0
    born = {seq: 1000 * minute for seq, minute in ledger.minutes.items()}
    assert set(copies) >= set(born)
    for seq in set(copies) - set(born):
        assert copies[seq][0]["_aws"]["Timestamp"] // 1000 in ledger.stillborn
        assert (ledger.taken[seq], ledger.in_flight[seq]) == ([], [])
    # Numbers have no gaps, so a gap in somebody's log is a minute that never arrived.
    assert sorted(copies) == list(range(1, len(copies) + 1))
    for seq, events in copies.items():
        minutes = {event["_aws"]["Timestamp"] for event in events}
        totals = {event.get("executions_completed") or 0 for event in events}
        assert minutes == {born.get(seq, min(minutes))}
        assert len(totals) == 1, f"twins of {seq} differ"
        taken, in_flight = sum(ledger.taken[seq]), ledger.in_flight[seq]
        # A report whose record was written when the agent died has survived; one whose record was torn has not.
        assert totals <= {taken + part for part in sums(in_flight)}, f"minute {seq}"
        survivors += totals != {taken}
    total = sum(events[0].get("executions_completed") or 0 for events in copies.values())
    measured = sum(map(sum, ledger.taken.values()))
    assert 0 <= total - measured <= sum(map(sum, ledger.in_flight.values()))
    return survivors


def sums(values: list[int]) -> set[int]:
    """The sums of all subsets."""
    found = {0}
    for value in values:
        found |= {value + each for each in found}
    return found


def check_metrics(node: FaultyNode) -> None:
    """Every request is a batch's; every batch arrives that was not three hours old before it could."""
    batches = {json.dumps(list(batch.metric_data)): batch for batch in node.ledger.batches}
    received = {json.dumps(list(request)) for request in node.cloud.requests}
    assert received <= set(batches)
    # A minute that the agent died with was made into a batch twice: one of the two is enough.
    arrived = {batches[text].seq for text in received}
    missing = {batch.seq: (batch.minute - MINUTE) / HOUR for batch in batches.values() if batch.seq not in arrived}
    # The outage ended after 14 hours, so what was measured before the 11th is left to the log; clocks were 5 minutes
    # off, and it takes some minutes to catch up, newest first.
    begin, end = OUTAGE[0] / HOUR, OUTAGE[1] / HOUR - 3
    assert all(begin - 0.2 <= hour <= end + 0.5 for hour in missing.values()), missing
    assert 170 <= len(missing) <= 210


def print_figures(node: FaultyNode, copies: dict[int, list[dict[str, Any]]], survivors: int) -> None:
    """For ``pytest -s``."""
    dropped: Counter[str] = Counter()
    for events in copies.values():
        dropped.update(events[0]["spool"].get("dropped", {}) if "spool" in events[0] else {})
    taken = sum(map(len, node.ledger.taken.values()))
    torn = sum(map(len, node.ledger.in_flight.values())) - survivors
    twins = sum(len(events) - 1 for events in copies.values())
    total = sum(events[0].get("executions_completed") or 0 for events in copies.values())
    arrived = f"{len(copies)} minutes arrived, {twins} twins, 0 lost, 0 invented"
    print(  # noqa: T201 - figures to be read
        f"\n{node.lives} agents, {node.starts} monitors, {node.disk.kills} kills, {node.reports} reports printed,"
        f" {node.garbage} lines of garbage, {node.disk.refusals} writes refused, calls {dict(node.cloud.answers)}\n"
        f"{taken} reports taken in, {survivors} more survived their killer's write, {torn} torn;"
        f" {arrived}; {total} executions; dropped {dict(dropped)}"
    )


def test_kills_while_the_disk_is_full_lose_only_what_no_disk_had(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    node = FaultyNode(tmp_path, monkeypatch, seed=int(os.environ.get("FAULTS_SEED", "1")))
    node.cloud.throttled = node.cloud.unanswered = 0.0
    node.at(600, partial(setattr, node.disk, "is_full", True))
    node.at(3000, partial(setattr, node.disk, "is_full", False))
    node.at(1200, partial(setattr, node.cloud, "is_away", True))
    node.at(1800, partial(setattr, node.cloud, "is_away", False))
    for at in (900, 1500, 2100, 2700):
        node.at(at, partial(node.disk.kill_soon, node.chance.randrange(10)))

    node.run(HOUR)

    assert (node.disk.kills, node.lives) == (4, 5)
    copies = by_number(node.cloud.events)
    for seq, events in copies.items():
        assert len({(event["_aws"]["Timestamp"], event.get("executions_completed")) for event in events}) == 1
        taken, in_flight = sum(node.ledger.taken[seq]), node.ledger.in_flight[seq]
        assert (events[0].get("executions_completed") or 0) - taken in sums(in_flight)
    # Numbers are given out once, also when no file can grow: what is lost is a gap, and only in the time without disk.
    lost = set(range(1, max(copies) + 1)) - set(copies)
    assert all(10 <= (node.ledger.minutes[seq] - MINUTE) / 60 <= 50 for seq in lost & set(node.ledger.minutes))
    # Five minutes without a network before the second kill, and at each kill the minute itself and the one before.
    assert len(lost) <= 5 + 2 * 4
    print(f"\n{node.disk.refusals} writes refused, {len(copies)} minutes arrived, {len(lost)} lost")  # noqa: T201
