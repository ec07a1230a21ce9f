"""Minutes are paid for once, categories stay apart, and every sum is the sum of its parts."""

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet.ledger import (
    UNITS,
    By,
    Category,
    Dropped,
    book,
    cents,
    one_per_fleet,
    one_per_minute,
    read_node_minute,
    read_reserved_minute,
    totals,
    usd,
)
from tests.support.ledger_events import capacity_event, node_event


def kept(*events: dict[str, Any]) -> tuple[list[int], Dropped]:
    minutes, dropped = one_per_minute([read_node_minute(event) for event in events])
    return [minute.seq for minute in minutes], dropped


def test_a_batch_that_was_sent_twice_counts_once() -> None:
    assert kept(node_event(), node_event()) == ([7], Dropped(twins=1, parts=0))


def test_a_minute_in_two_parts_is_one_minute() -> None:
    assert kept(node_event(seq=8), node_event(seq=7)) == ([7], Dropped(twins=0, parts=1))


def test_the_part_that_saw_something_stands_for_the_minute() -> None:
    assert kept(node_event(state="BLIND"), node_event(seq=8)) == ([8], Dropped(twins=0, parts=1))
    assert kept(node_event(recovered=True), node_event(seq=8)) == ([8], Dropped(twins=0, parts=1))


def test_other_minutes_and_other_nodes_are_not_twins() -> None:
    events = [node_event(), node_event(seq=8, minute="2026-11-20T10:01:00Z"), node_event(node="i-0b")]
    assert kept(*events)[1] == Dropped(twins=0, parts=0)


def test_categories_are_kept_apart() -> None:
    states = ["RUNNING", "COMPILING", "NO_JOB", "FAULT", "BLIND"]
    minutes = [
        read_node_minute(node_event(state=state, seq=n, minute=f"2026-11-20T10:0{n}:00Z"))
        for n, state in enumerate(states)
    ]
    look = read_reserved_minute(capacity_event())
    assert look is not None
    (total,) = totals(book(minutes, [look]), By.FLEET)

    assert total.by_category == {
        Category.RUNNING: 21_500_000,
        Category.COMPILING: 21_500_000,
        Category.IDLE: 21_500_000,
        Category.FAULT: 21_500_000,
        Category.UNSEEN: 21_500_000,
        Category.UNALLOCATED_RESERVED: 43_000_000,
    }
    assert total.allocated == 43_000_000
    assert usd(total.amount) == Decimal("2.508333")
    assert total.prices == (("on-demand", "2026-08-01"),)


def test_unpriced_minutes_are_counted_and_in_no_dollar() -> None:
    minutes = [read_node_minute(node_event()), read_node_minute(node_event(node="i-0b", price=None))]
    (total,) = totals(book(minutes), By.OWNER)

    assert (total.amount, total.units, total.unpriced_units) == (21_500_000, 2 * UNITS, UNITS)
    assert total.usd_per_million_tokens is None


def test_of_two_looks_in_a_minute_the_one_that_saw_less_counts() -> None:
    looks = [read_reserved_minute(capacity_event(unused=unused)) for unused in (2, 1, 2)]
    assert [look.unused for look in one_per_fleet(filter(None, looks))] == [1]


def test_costs_of_work() -> None:
    job = {"job": "j1", "cores": 32, "tensor_engine_utilization": 50.0, "tokens_per_second": 1000.0}
    minutes = [
        read_node_minute(node_event(jobs=[{**job, "step": 10 + n}], seq=n, minute=f"2026-11-20T10:{n:02}:00Z"))
        for n in range(60)
    ]
    (total,) = totals(book(minutes), By.JOB)

    assert total.usd_per_million_tokens == pytest.approx(21.5 / 3.6)
    assert total.usd_per_step == pytest.approx(21.5 / 59)
    assert total.usd_per_useful_core_hour == pytest.approx(21.5 / 16)
    assert total.usd_per_million_samples is None
    assert total.usd_per_busy_core_hour is None


def test_work_of_a_job_with_an_unpriced_minute_has_no_cost() -> None:
    jobs = [{"job": "j1", "cores": 32, "tokens_per_second": 1000.0}]
    minutes = [node_event(jobs=jobs), node_event(jobs=jobs, node="i-0b", price=None)]
    (total,) = totals(book(map(read_node_minute, minutes)), By.JOB)
    assert total.usd_per_million_tokens is None


@given(st.lists(st.integers(min_value=0, max_value=10**13), max_size=30))
def test_printed_cents_add_up(amounts: list[int]) -> None:
    assert abs(Decimal(sum(cents(amounts))) - Decimal(sum(amounts)) / 600_000) <= Decimal("0.5")


@given(
    st.lists(st.tuples(st.sampled_from("abc"), st.floats(0, 128, allow_nan=False)), min_size=1, max_size=6),
    st.floats(0.01, 100),
)
def test_however_a_node_is_shared_its_parts_are_its_price(shares: list[tuple[str, float]], price: float) -> None:
    jobs = [{"job": f"{owner}{n}", "owner": owner, "cores": cores} for n, (owner, cores) in enumerate(shares)]
    event = node_event(
        jobs=jobs, price={"usd_per_hour": price, "kind": "spot", "source": "history", "as_of": "2026-11-01"}
    )
    lines = book([read_node_minute(event)])

    assert sum(total.amount for total in totals(lines, By.JOB)) == round(price * 1e6)
    assert sum(total.amount for total in totals(lines, By.OWNER)) == round(price * 1e6)
    assert sum(line.units for line in lines) == UNITS
