"""`fleet ledger`: tables that add up, prices with kind and date, and one line for whatever is wrong."""

import io
import json
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from cli.account import Account, AwsError
from cli.main import app
from fleet.ledger.columns import place
from lambdas.cost_report import reconciliation, service
from lambdas.cost_report.bill import Billed
from tests.support.ledger_events import ON_DEMAND, capacity_event, node_event
from tests.support.ledger_world import DAY, NOW, LedgerWorld

SPAN = ["--from", "2026-11-20", "--to", "2026-11-20"]


class FilledAccount(Account):
    """An account whose bucket is ``store``; None: the ledger is not deployed."""

    def __init__(self, ledger: LedgerWorld | None) -> None:
        super().__init__("us-east-2")
        self._ledger = ledger

    def _call(self, service: str, method: str, /, *, once: bool, **request: Any) -> Any:
        assert not once
        if service == "ssm":
            assert request == {"Name": "/neuron-fleet/prod/ledger/bucket"}
            if self._ledger is None:
                raise AwsError("no such parameter", "ParameterNotFound")
            return {"Parameter": {"Value": "b"}}
        assert (service, method, request["Bucket"], self._ledger is not None) == ("s3", "get_object", "b", True)
        content = self._ledger.store.read(request["Key"]) if self._ledger else None
        if content is None:
            raise AwsError("no such key", "NoSuchKey")
        return {"Body": io.BytesIO(content)}


@pytest.fixture
def ledger(tmp_path: Path) -> LedgerWorld:
    made = LedgerWorld(tmp_path)
    shared = [{"job": f"j{n}", "owner": owner, "cores": 1} for n, owner in enumerate(["ana", "bo", "cy"])]
    made.arrive(
        "2026-11-20-10",
        *(node_event(seq=n, minute=f"2026-11-20T10:{n:02}:00Z", jobs=shared) for n in range(20)),
        node_event(node="i-0b", jobs=[{"job": "j9", "owner": "ana", "cores": 32, "tokens_per_second": 1000.0}]),
        node_event(node="i-0c", price=None),
        node_event(node="i-0d", state="NO_JOB", jobs=None, job=None, price={**ON_DEMAND, "kind": "spot"}),
        capacity_event(),
    )
    service.run(made.world, "prod", NOW)
    made.bill.days = {DAY: Billed({"Usage": 12.5, "Credit": -3.0}, 0.25, 1.5, is_estimate=True)}
    reconciliation.reconcile(made.world, "prod", DAY, date(2026, 11, 21))
    return made


def asked(monkeypatch: pytest.MonkeyPatch, ledger: LedgerWorld | None, *arguments: str, of: str = "prod") -> Any:
    monkeypatch.setattr("cli.ledger.command.Account", lambda _: FilledAccount(ledger))
    monkeypatch.setattr("cli.answers.CONSOLE._width", 220)
    return CliRunner().invoke(app, ["ledger", of, *arguments])


def test_an_environments_file_is_as_good_as_its_name(monkeypatch: pytest.MonkeyPatch, ledger: LedgerWorld) -> None:
    by_name, by_file = (
        json.loads(asked(monkeypatch, ledger, *SPAN, "--json", of=of).output)
        for of in ("prod", "environments/prod.yaml")
    )

    assert by_file == by_name


def test_columns_add_up_to_the_cent_and_name_their_prices(monkeypatch: pytest.MonkeyPatch, ledger: LedgerWorld) -> None:
    result = asked(monkeypatch, ledger, *SPAN)
    rows = [[cell.strip() for cell in line.split("│")[1:-1]] for line in result.output.splitlines() if "│" in line]
    people, whole = rows[:4], rows[4]

    assert ([row[0] for row in people], whole[0]) == (["ana", "bo", "cy", "llm-team"], "all")
    for column in range(1, 5):
        assert round(sum(float(row[column]) for row in people), 2) == float(whole[column]), column
    assert whole[1] == "8.60"
    assert [row[-2:] for row in people] == [
        ["0.02", "[1]"],
        *[["-", "[1]"]] * 2,
        ["-", "[1] [2]"],
    ]
    # Once below each of the two tables with dollars of ours.
    told = (
        "prices: [1] on-demand, as of 2026-08-01, STALE: 111 days old, limit 90; "
        "[2] spot, as of 2026-08-01, STALE: 111 days old, limit 3"
    )
    assert " ".join(result.output.split()).count(told) == 2
    assert "12.50" in result.output
    assert "Credit -3.00; AWS may still change it" in result.output
    assert result.exit_code == 0


def test_json_is_exact(monkeypatch: pytest.MonkeyPatch, ledger: LedgerWorld) -> None:
    found = json.loads(asked(monkeypatch, ledger, *SPAN, "--by", "fleet", "--json").output)
    (row,) = found["rows"]

    assert row["usd"] == found["total"]["usd"] == "8.600000"
    assert row["usd_by_category"] == {"idle": "0.358333", "running": "7.525000", "unallocated-reserved": "0.716667"}
    assert row["unpriced_node_hours"] == pytest.approx(1 / 60)
    assert row["usd_per_million_samples"] is None
    assert row["prices"] == [
        {"kind": "on-demand", "as_of": "2026-08-01", "stale": "111 days old, limit 90"},
        {"kind": "spot", "as_of": "2026-08-01", "stale": "111 days old, limit 3"},
    ]
    (day,) = found["bill"]
    assert day["difference_usd"] == pytest.approx(12.5 - 8.6)
    assert found["days_without_ledger"] == []


def test_days_without_a_ledger_are_named(monkeypatch: pytest.MonkeyPatch, ledger: LedgerWorld) -> None:
    result = asked(monkeypatch, ledger, "--from", "2026-11-18", "--to", "2026-11-20")
    assert "2 days of these have no ledger, the first of them 2026-11-18" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--from", "soon"], "--from soon: not a day such as 2026-11-20"),
        (["--from", "2026-11-21", "--to", "2026-11-20"], "from 1 to 400 days can be shown"),
        (["--from", "2026-11-01", "--to", "2026-11-02"], "prod has no ledger from 2026-11-01 to 2026-11-02"),
    ],
)
def test_mistakes_are_one_line(
    monkeypatch: pytest.MonkeyPatch, ledger: LedgerWorld, arguments: list[str], says: str
) -> None:
    result = asked(monkeypatch, ledger, *arguments)
    assert (result.exit_code, result.stdout, len(result.stderr.splitlines())) == (1, "", 1)
    assert says in result.stderr


def test_an_environment_without_the_stack_is_told_how_to_deploy_it(monkeypatch: pytest.MonkeyPatch) -> None:
    result = asked(monkeypatch, None, *SPAN)
    assert result.exit_code == 1
    assert "deploy neuron-fleet-prod-ledger with" in result.stderr


def test_a_damaged_file_is_named(monkeypatch: pytest.MonkeyPatch, ledger: LedgerWorld) -> None:
    key = place("ledger", "prod", DAY)
    ledger.store.send(b"no parquet", key)
    result = asked(monkeypatch, ledger, *SPAN)
    assert result.exit_code == 1
    assert f"s3://b/{key} cannot be read" in result.stderr
