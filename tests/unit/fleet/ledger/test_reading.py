"""From a log event to a minute of the ledger: who had which part, and what is no minute."""

from typing import Any

import pytest

from fleet.ledger import UNITS, Category, PaidPrice, UnreadableEventError, read_node_minute, read_reserved_minute
from tests.support.ledger_events import ON_DEMAND, capacity_event, node_event


def test_a_minute_of_one_job() -> None:
    minute = read_node_minute(node_event())

    assert (minute.minute, minute.category, minute.boot_id, minute.seq) == (1795168800, Category.RUNNING, "b1", 7)
    assert minute.price == PaidPrice(21_500_000, "on-demand", "EC2 price list", "2026-08-01")
    (part,) = minute.parts
    assert (part.job, part.owner, part.units, part.amount, part.cores) == ("j1", "ana", UNITS, 21_500_000, 32.0)


def test_a_shared_node_is_split_by_cores_and_adds_up() -> None:
    jobs = [{"job": f"j{n}", "cores": 32 / 3} for n in range(3)]
    minute = read_node_minute(node_event(jobs=jobs))

    assert [part.amount for part in minute.parts] == [7_166_667, 7_166_667, 7_166_666]
    assert sum(part.units for part in minute.parts) == UNITS
    assert {part.owner for part in minute.parts} == {"llm-team"}


def test_the_agents_own_split_is_kept_where_it_adds_up() -> None:
    jobs: list[dict[str, Any]] = [
        {"job": "a", "cores": 10.67, "cost_usd_per_hour": 7.166667},
        {"job": "b", "cores": 21.33, "cost_usd_per_hour": 14.333333},
    ]
    assert [p.amount for p in read_node_minute(node_event(jobs=jobs)).parts] == [7_166_667, 14_333_333]
    jobs[0]["cost_usd_per_hour"] = 1.0
    assert sum(p.amount or 0 for p in read_node_minute(node_event(jobs=jobs)).parts) == 21_500_000


@pytest.mark.parametrize(
    "price",
    [
        None,
        {**ON_DEMAND, "usd_per_hour": 0},
        {**ON_DEMAND, "usd_per_hour": -1},
        {**ON_DEMAND, "usd_per_hour": float("nan")},
        {**ON_DEMAND, "usd_per_hour": "21.5"},
        {**ON_DEMAND, "as_of": None},
        {**ON_DEMAND, "kind": ""},
        21.5,
    ],
)
def test_a_minute_without_a_known_price_is_unpriced_and_not_free(price: Any) -> None:
    minute = read_node_minute(node_event(price=price, wasted_usd_per_hour=3.0))

    assert minute.price is None
    assert [(part.amount, part.wasted, part.units) for part in minute.parts] == [(None, None, UNITS)]


@pytest.mark.parametrize(
    ("state", "category"),
    [("NO_JOB", "idle"), ("BLIND", "unseen"), ("FAULT", "fault"), ("COMPILING", "compiling"), ("DRAINING", "draining")],
)
def test_a_node_without_a_job_is_its_owners(state: str, category: str) -> None:
    minute = read_node_minute(node_event(state=state, job=None, jobs=None, wasted_usd_per_hour=21.5))

    assert minute.category == category
    assert [(p.job, p.owner, p.amount, p.wasted) for p in minute.parts] == [(None, "llm-team", 21_500_000, 21_500_000)]


def test_work_is_counted_over_the_minute() -> None:
    job = {"job": "j1", "cores": 8, "tensor_engine_utilization": 50, "neuron_core_utilization": 90}
    minute = read_node_minute(node_event(jobs=[{**job, "tokens_per_second": 100.0, "step": 12}]))

    (part,) = minute.parts
    assert (part.tokens, part.samples, part.step, part.useful_cores, part.busy_cores) == (6000.0, None, 12, 4.0, 7.2)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"minute": None}, "event of fleet pretrain, node i-0a: minute is missing"),
        ({"minute": "yesterday"}, "minute is 'yesterday', and should be as 2026-11-20T10:00:00Z"),
        ({"seq": -1}, "seq is -1, and should be a whole number"),
        ({"seq": "7"}, "seq is '7', and should be a whole number"),
        ({"node": ""}, "node is '', and should be a text"),
        ({"owner": None}, "owner is missing"),
        ({"state": "HAPPY"}, "state 'HAPPY' is none of RUNNING"),
        ({"schema": 2}, "schema is 2, and 1 can be read"),
    ],
)
def test_what_is_no_minute_is_said_in_one_line(changes: dict[str, Any], says: str) -> None:
    with pytest.raises(UnreadableEventError) as caught:
        read_node_minute(node_event(**changes))
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


def test_reserved_capacity_that_nobody_uses() -> None:
    look = read_reserved_minute(capacity_event())

    assert look is not None
    assert (look.unused, look.amount) == (2, 43_000_000)
    assert read_reserved_minute(capacity_event(unused=None)) is None
    unpriced = read_reserved_minute(capacity_event(price=None))
    assert unpriced is not None
    assert unpriced.amount is None
    with pytest.raises(UnreadableEventError, match="kind is None"):
        read_reserved_minute(node_event())
