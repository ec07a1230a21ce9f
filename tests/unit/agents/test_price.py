"""The node's price: read at the start and daily, never waited for, and never worse than what was known."""

import threading
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from botocore.stub import Stubber

from agents.config import PriceConfig, PriceTable
from agents.minute.log_event import log_event
from agents.minute.pipeline import Pipeline
from agents.price import PriceKeeper
from agents.sinks import aws, price_table
from fleet.instances import Price, PriceKind
from fleet.prices.record import PriceRecord, PriceRecordError, to_item
from tests.support.agents import MINUTE, config, feed

TOLD = PriceConfig(21.5, "on-demand", "AWS API", "2026-10-03")
NEWER = PriceConfig(19.99, "on-demand", "AWS Price List", "2026-11-22")
DAY = 86_400


def keeper(*answers: PriceConfig | Exception | None) -> tuple[PriceKeeper, list[PriceConfig | Exception | None]]:
    left = list(answers)

    def read() -> PriceConfig | None:
        answer = left.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    return PriceKeeper(TOLD, read, "i-1", inline=True), left


def test_it_is_read_at_the_start_and_then_once_a_day() -> None:
    prices, left = keeper(NEWER, PriceConfig(18.0, "on-demand", "AWS Price List", "2026-11-23"))

    assert prices.current(MINUTE) == NEWER
    assert prices.current(MINUTE + DAY - 60) == NEWER
    assert len(left) == 1
    later = prices.current(MINUTE + DAY + 3600)
    assert later is not None
    assert later.usd_per_hour == 18.0


@pytest.mark.parametrize(
    "answer", [None, PriceConfig(1.0, "on-demand", "AWS Price List", "2026-09-30"), OSError("gone")]
)
def test_no_answer_an_older_one_or_an_error_changes_nothing(answer: PriceConfig | Exception | None) -> None:
    prices, _ = keeper(answer)

    assert prices.current(MINUTE) == TOLD


def test_after_a_failure_it_is_read_again_within_the_hour_and_not_at_once() -> None:
    prices, left = keeper(OSError("gone"), NEWER)
    prices.current(MINUTE)

    assert prices.current(MINUTE + 60) == TOLD
    assert len(left) == 1
    assert prices.current(MINUTE + 900) == NEWER


def test_the_loop_does_not_wait_for_the_table() -> None:
    answers, asked = threading.Event(), threading.Event()

    def read() -> PriceConfig | None:
        asked.set()
        answers.wait(30)
        return NEWER

    prices = PriceKeeper(TOLD, read, "i-1")
    assert prices.current(MINUTE) == TOLD
    assert asked.wait(30)
    # Long after, and still one call only.
    assert prices.current(MINUTE + 2 * DAY) == TOLD
    answers.set()
    assert prices._asking is not None
    prices._asking.join(30)
    assert prices.current(MINUTE + 60) == NEWER


def test_a_node_without_a_table_asks_nobody() -> None:
    assert price_table.reader(config()) is None
    assert PriceKeeper(TOLD).current(MINUTE) == TOLD


RECORD = PriceRecord(
    "trn1.32xlarge", Price(PriceKind.ON_DEMAND, 19.99, "us-east-2", "2026-11-22", "AWS Price List", "x"), "later"
)
TABLE = PriceTable("neuron-fleet-prod-prices", "us-east-2/trn1.32xlarge/on-demand")


@pytest.fixture
def table(monkeypatch: pytest.MonkeyPatch) -> Any:
    session = aws.Session(aws_access_key_id="a", aws_secret_access_key="b", region_name="us-east-2")
    client = session.client("dynamodb", config=aws.CLIENT_CONFIG)
    monkeypatch.setattr(session, "client", lambda *_, **__: client)
    monkeypatch.setattr(aws, "Session", lambda: session)
    with Stubber(client) as stub:
        yield stub
        stub.assert_no_pending_responses()


def _asks(stub: Stubber, item: dict[str, str] | None) -> Callable[[], PriceConfig | None]:
    answer = {"Item": {field: {"S": text} for field, text in item.items()}} if item else {}
    stub.add_response("get_item", answer, {"TableName": TABLE.name, "Key": {"id": {"S": TABLE.id}}})
    read = price_table.reader(config(price_table=TABLE))
    assert read is not None
    return read


def test_one_item_is_read_by_its_key(table: Stubber) -> None:
    assert _asks(table, to_item(RECORD))() == NEWER


def test_an_item_that_is_not_there_is_no_price(table: Stubber) -> None:
    assert _asks(table, None)() is None


def test_an_item_at_no_price_is_refused(table: Stubber) -> None:
    with pytest.raises(PriceRecordError, match="above zero"):
        _asks(table, to_item(RECORD) | {"usd_per_hour": "0"})()


def test_the_event_says_that_a_price_is_stale_and_nothing_where_it_is_not() -> None:
    day = datetime.fromtimestamp(MINUTE, UTC).date()
    for as_of, stale in ((day.isoformat(), None), ("2026-01-01", True)):
        pipeline = Pipeline(config(), "i-1", MINUTE)
        pipeline.price(PriceConfig(21.5, "on-demand", "AWS API", as_of))
        event = log_event(feed(pipeline, MINUTE))
        assert event["price"].get("stale") is stale
        assert event["cost_usd_per_hour"] == 21.5
