"""The ledger beside the bill: differences are shown, and what is not known is not zero."""

from collections.abc import Callable
from datetime import date
from typing import Any

import pytest

from lambdas.cost_report import service
from lambdas.cost_report.bill import Billed, BillUnavailableError, CostExplorer
from lambdas.cost_report.reconciliation import reconcile
from tests.support.ledger_events import node_event
from tests.support.ledger_world import DAY, NOW, LedgerWorld

KEY = "reconciliation/environment=prod/day=2026-11-20/reconciliation.parquet"
NEXT = date(2026, 11, 21)


def booked(ledger: LedgerWorld) -> LedgerWorld:
    ledger.arrive("2026-11-20-10", node_event(), node_event(node="i-0b", price=None))
    service.run(ledger.world, "prod", NOW)
    return ledger


def test_the_difference_and_what_aws_took_off_are_shown(ledger: LedgerWorld) -> None:
    by_type = {"Usage": 0.4, "SavingsPlanCoveredUsage": 0.1, "SavingsPlanNegation": -0.1, "Credit": -0.25}
    ledger.bill.days = {DAY: Billed(by_type, 0.01, 0.5, is_estimate=True)}
    assert reconcile(booked(ledger).world, "prod", date(2026, 11, 18), NEXT) == ()

    row = ledger.row(KEY)
    assert row["ledger_usd"] == pytest.approx(21.5 / 60)
    assert row["billed_usd"] == pytest.approx(0.5)
    assert row["difference_usd"] == pytest.approx(0.5 - 21.5 / 60)
    assert row["unpriced_node_hours"] == pytest.approx(1 / 60)
    assert row["adjustments"] == '{"Credit": -0.25, "SavingsPlanNegation": -0.1}'
    assert (row["cloudwatch_usd"], row["cloudwatch_account_usd"], row["is_estimate"]) == (0.01, 0.5, True)
    assert row["problem"] is None


def test_without_a_bill_nothing_is_zero(ledger: LedgerWorld) -> None:
    problems = reconcile(booked(ledger).world, "prod", DAY, NEXT)

    assert problems == ("the bill cannot be had: ClientError: Cost Explorer is not enabled",)
    row = ledger.row(KEY)
    assert (row["billed_usd"], row["difference_usd"], row["cloudwatch_usd"]) == (None, None, None)
    assert row["problem"] == problems[0]


def test_what_was_known_stays_when_the_bill_cannot_be_had(ledger: LedgerWorld) -> None:
    ledger.bill.days = {DAY: Billed({"Usage": 0.4}, 0.0, 0.0, is_estimate=False)}
    reconcile(booked(ledger).world, "prod", DAY, NEXT)
    ledger.bill.days = None
    reconcile(ledger.world, "prod", DAY, NEXT)
    assert ledger.row(KEY)["billed_usd"] == pytest.approx(0.4)


def test_a_bill_without_any_instance_names_the_tag_and_is_not_zero(ledger: LedgerWorld) -> None:
    ledger.bill.days = {DAY: Billed({}, 0.0, 1.5, is_estimate=True)}
    reconcile(booked(ledger).world, "prod", DAY, NEXT)
    row = ledger.row(KEY)
    assert "cost allocation tag" in row["problem"]
    assert (row["billed_usd"], row["difference_usd"], row["cloudwatch_usd"]) == (None, None, None)
    assert (row["cloudwatch_account_usd"], row["is_estimate"]) == (1.5, True)


def day(groups: dict[str, str], total: str | None = None, start: str = "2026-11-20") -> dict[str, Any]:
    money = {name: {"UnblendedCost": {"Amount": amount, "Unit": "USD"}} for name, amount in groups.items()}
    return {
        "TimePeriod": {"Start": start, "End": "2026-11-21"},
        "Total": {} if total is None else {"UnblendedCost": {"Amount": total, "Unit": "USD"}},
        "Groups": [{"Keys": [name], "Metrics": metrics} for name, metrics in money.items()],
        "Estimated": True,
    }


def test_cost_explorer_is_asked_for_the_environments_instances(stubbed: Callable[[str], tuple[Any, Any]]) -> None:
    client, stub = stubbed("ce")
    first = {"ResultsByTime": [day({"Usage": "516.0000000001"})], "NextPageToken": "more"}
    tag = {"Tags": {"Key": "environment", "Values": ["prod"]}}
    request = {
        "TimePeriod": {"Start": "2026-11-20", "End": "2026-11-21"},
        "Granularity": "DAILY",
        "Metrics": ["UnblendedCost"],
    }
    compute = {
        "And": [
            tag,
            {"Dimensions": {"Key": "SERVICE", "Values": ["Amazon Elastic Compute Cloud - Compute"]}},
            {"Dimensions": {"Key": "INSTANCE_TYPE", "Values": ["trn1.32xlarge"]}},
        ]
    }
    grouped = {**request, "Filter": compute, "GroupBy": [{"Type": "DIMENSION", "Key": "RECORD_TYPE"}]}
    cloudwatch = {"Dimensions": {"Key": "SERVICE", "Values": ["AmazonCloudWatch"]}}
    stub.add_response("get_cost_and_usage", first, grouped)
    stub.add_response(
        "get_cost_and_usage", {"ResultsByTime": [day({"Credit": "-16"})]}, {**grouped, "NextPageToken": "more"}
    )
    stub.add_response(
        "get_cost_and_usage", {"ResultsByTime": [day({}, "0.5")]}, {**request, "Filter": {"And": [tag, cloudwatch]}}
    )
    stub.add_response("get_cost_and_usage", {"ResultsByTime": [day({}, "2.5")]}, {**request, "Filter": cloudwatch})

    found = CostExplorer(client, "prod", ["trn1.32xlarge"]).of(DAY, NEXT)
    assert found[DAY].by_record_type == {"Usage": pytest.approx(516.0), "Credit": -16.0}
    assert (found[DAY].cloudwatch, found[DAY].cloudwatch_account, found[DAY].is_estimate) == (0.5, 2.5, True)


@pytest.mark.parametrize("code", ["AccessDeniedException", "DataUnavailableException", "LimitExceededException"])
def test_a_refusal_is_one_line(stubbed: Callable[[str], tuple[Any, Any]], code: str) -> None:
    client, stub = stubbed("ce")
    stub.add_client_error("get_cost_and_usage", code, "no")
    with pytest.raises(BillUnavailableError, match=code):
        CostExplorer(client, "prod", ["trn1.32xlarge"]).of(DAY, NEXT)


def test_a_bill_in_another_currency_is_not_taken_for_dollars(stubbed: Callable[[str], tuple[Any, Any]]) -> None:
    client, stub = stubbed("ce")
    foreign = day({"Usage": "1"})
    foreign["Groups"][0]["Metrics"]["UnblendedCost"]["Unit"] = "CNY"
    for _ in range(3):
        stub.add_response("get_cost_and_usage", {"ResultsByTime": [foreign]})
        foreign = day({}, "0")
    with pytest.raises(BillUnavailableError, match="CNY"):
        CostExplorer(client, "prod", ["trn1.32xlarge"]).of(DAY, NEXT)
