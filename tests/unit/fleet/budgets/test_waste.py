"""The digest: what a day bought nothing with, the worst first, every dollar with its price."""

from datetime import date

import pytest

from fleet.budgets import wording
from fleet.budgets.waste import day_of
from fleet.ledger import PER_USD, Category, PaidPrice
from tests.support.ledger_lines import amount, line

DAY = "2026-11-19"
BLOCK = PaidPrice(35_760_000, "capacity-block", "AWS", "2026-11-01")
LINES = [
    line(DAY, 1000.0, wasted=amount(100.0)),
    line(DAY, 40.0, Category.COMPILING),
    line(DAY, 60.0, Category.FAULT, owner="bo", job="j2"),
    line(DAY, 300.0, Category.UNALLOCATED_RESERVED, owner="research", job=None, price=BLOCK),
    line(DAY, 25.0, Category.IDLE, owner="research", job=None),
    line(DAY, 5.0, Category.CHECKPOINT),
    line(DAY, None, Category.IDLE, owner="research", job=None),
]


def test_the_worst_is_first_and_the_parts_are_the_whole() -> None:
    day = day_of(LINES)

    assert [(w.owner, w.job, w.amount / PER_USD) for w in day.wastes] == [
        ("research", None, 325.0),
        ("ana", "j1", 140.0),
        ("bo", "j2", 60.0),
    ]
    assert day.amount == sum(day.by_kind().values()) == amount(525.0)
    assert list(day.by_kind()) == ["reserved, unused", "below target", "faulty", "waiting for compilation", "idle"]
    assert day.paid == amount(1430.0)
    assert day.unpriced_node_hours == pytest.approx(1.0)


def test_running_that_was_not_measured_as_lost_is_no_waste() -> None:
    assert day_of([line(DAY, 1000.0)]).wastes == ()


def test_the_digest_names_prices_and_what_is_in_no_dollar() -> None:
    subject, text = wording.digest("prod", date(2026, 11, 19), day_of(LINES))

    assert subject == "prod: 525.00 USD of 1,430.00 USD (37 %) wasted on 2026-11-19"
    first, second, *_, unpriced, prices, more = text.split("\n")
    assert first.startswith("By kind: reserved, unused 300.00 USD, below target 100.00 USD, ")
    assert second == "1. 325.00 USD: research, no job on pretrain: reserved, unused 300.00 USD, idle 25.00 USD"
    assert unpriced == "1.0 node-hours without a known price are in no dollar here."
    assert prices.startswith("Prices: capacity-block, as of 2026-11-01; on-demand, as of 2026-08-01.")
    assert more == "More: fleet ledger prod --by job"


def test_a_digest_of_many_jobs_fits_a_message_and_leaves_no_dollar_out() -> None:
    jobs = [line(DAY, 1.0, Category.IDLE, owner="o" * 256, job=f"job-{n:04}" + "x" * 120) for n in range(500)]
    _, text = wording.digest("prod", date(2026, 11, 19), day_of(jobs))

    assert len(text) < 2900
    assert "and 488 more with 488.00 USD" in text


def test_a_day_without_a_ledger_is_not_a_day_without_waste() -> None:
    subject, _ = wording.no_digest("prod", date(2026, 11, 19))
    assert subject == "prod: what was wasted on 2026-11-19 is not known"
