"""The function as Lambda calls it: one run, its problems counted, its files gone."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from fleet.alarms.functions import PROBLEM_HOURS
from lambdas.cost_report import adapters, handler
from tests.support.ledger_events import node_event
from tests.support.ledger_world import NOW, LedgerWorld

CONTEXT: Any = SimpleNamespace(aws_request_id="r1", get_remaining_time_in_millis=lambda: 900_000)


@pytest.fixture
def deployed(ledger: LedgerWorld, monkeypatch: pytest.MonkeyPatch) -> LedgerWorld:
    monkeypatch.setattr(handler, "datetime", SimpleNamespace(now=lambda _: NOW.replace(hour=9)))
    monkeypatch.setenv("ENVIRONMENT", "prod")
    monkeypatch.setenv("BUCKET", "b")
    monkeypatch.setenv("INSTANCE_TYPES", '["trn1.32xlarge"]')
    handler._settings.cache_clear()
    monkeypatch.setattr(adapters, "dependencies", lambda *_: ledger.world)
    monkeypatch.setattr("lambdas.cost_report.handler.shutil.rmtree", lambda *_, **__: None)
    return ledger


def counted(written: str) -> list[float]:
    return [event["LedgerProblems"][0] for event in map(json.loads, written.splitlines()) if "LedgerProblems" in event]


def test_a_run_says_what_it_did(deployed: LedgerWorld, capsys: pytest.CaptureFixture[str]) -> None:
    deployed.arrive("2026-11-20-08", node_event())
    deployed.bill.days = {}
    answer = handler.lambda_handler({}, CONTEXT)

    assert answer == {
        "hours": ["2026-11-20-08"],
        "days": {"2026-11-20": {"lines": 1, "twins_dropped": 0, "parts_merged": 0}},
        "unreadable": 0,
        "waiting": 0,
        "problems": [],
    }
    assert counted(capsys.readouterr().out) == [0]


def test_problems_are_counted_and_end_nothing(deployed: LedgerWorld, capsys: pytest.CaptureFixture[str]) -> None:
    deployed.arrive("2026-11-20-08", node_event(), "no json")
    answer = handler.lambda_handler({}, CONTEXT)

    assert [problem.split(":")[0] for problem in answer["problems"]] == [
        "1 events of 2026-11-20-08 are in no ledger",
        "the bill cannot be had",
    ]
    assert counted(capsys.readouterr().out) == [2]


@pytest.mark.parametrize("asked", ["yesterday", 20261120, ["2026-11-20"]])
def test_a_day_that_is_none_is_refused_in_one_line(deployed: LedgerWorld, asked: object) -> None:
    with pytest.raises(handler.BadRequestError, match="should be a day such as 2026-11-20"):
        handler.lambda_handler({"again": asked}, CONTEXT)
    assert deployed.store.objects == {}


def test_files_of_a_run_are_removed(ledger: LedgerWorld, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("ENVIRONMENT", "prod")
    monkeypatch.setenv("BUCKET", "b")
    monkeypatch.setenv("INSTANCE_TYPES", "[]")
    handler._settings.cache_clear()
    monkeypatch.setattr(adapters, "dependencies", lambda *_: ledger.world)
    handler.lambda_handler({}, CONTEXT)
    assert not tmp_path.exists()


def test_the_jobs_that_had_metrics_in_the_newest_hour_are_counted(
    deployed: LedgerWorld, capsys: pytest.CaptureFixture[str]
) -> None:
    deployed.arrive("2026-11-20-07", *(node_event(jobs=[{"job": f"j{n}", "owner": "a", "cores": 8}]) for n in range(9)))
    deployed.arrive(
        "2026-11-20-08",
        node_event(jobs=[{"job": "a", "owner": "o", "cores": 8}, {"job": "b", "owner": "o", "cores": 8}]),
        node_event(jobs=[{"job": "a", "owner": "o", "cores": 8}]),
    )

    handler.lambda_handler({}, CONTEXT)
    handler.lambda_handler({}, CONTEXT)

    # The second run takes nothing in, and says nothing.
    events = map(json.loads, capsys.readouterr().out.splitlines())
    assert [event["JobsWithMetrics"] for event in events if "JobsWithMetrics" in event] == [[2]]


def test_a_bill_that_cannot_be_had_is_asked_for_until_that_is_a_ticket() -> None:
    assert len(handler.BILL_HOURS) == max(handler.BILL_HOURS) - min(handler.BILL_HOURS) + 1 == PROBLEM_HOURS
