"""What is asked of AWS, word for word, and the entry point."""

import io
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import duckdb
import pytest
from botocore.exceptions import ClientError

from fleet.budgets.stop import Standing, Stop
from fleet.ledger import Category
from lambdas.budgets import handler
from lambdas.budgets.fleets import BatchQueues, BatchTarget, Fleets, Pools, PoolTarget
from lambdas.budgets.ledger_store import LedgerStore
from lambdas.budgets.settings import Settings
from lambdas.budgets.stop_table import ConflictError, Record, StopTable
from tests.support.aws_fakes import client_error
from tests.support.budget_world import Desk
from tests.support.client_shapes import shaped
from tests.support.ledger_world import DAY

Stubbed = Callable[[str], tuple[Any, Any]]
PLACE = BatchTarget(queue="arn:q", compute_environment="arn:c")


def test_closing_disables_the_queue_and_then_the_nodes_and_opening_is_the_reverse(stubbed: Stubbed) -> None:
    client, stub = stubbed("batch")
    calls = [
        ("update_job_queue", {"jobQueue": "arn:q", "state": "DISABLED"}),
        ("update_compute_environment", {"computeEnvironment": "arn:c", "state": "DISABLED"}),
        ("update_compute_environment", {"computeEnvironment": "arn:c", "state": "ENABLED"}),
        ("update_job_queue", {"jobQueue": "arn:q", "state": "ENABLED"}),
    ]
    for method, request in calls:
        stub.add_response(method, {}, request)

    BatchQueues(client).close(PLACE)
    BatchQueues(client).open(PLACE)


def test_a_queue_is_open_when_batch_says_that_it_is_enabled(stubbed: Stubbed) -> None:
    client, stub = stubbed("batch")
    entry = {"jobQueueName": "q", "priority": 1, "computeEnvironmentOrder": [], "status": "VALID"}
    queues = [
        {**entry, "jobQueueArn": "arn:q", "state": "ENABLED"},
        {**entry, "jobQueueArn": "arn:r", "state": "DISABLED"},
    ]
    stub.add_response("describe_job_queues", {"jobQueues": queues}, {"jobQueues": ["arn:q", "arn:r", "arn:gone"]})

    other, gone = (BatchTarget(queue=name, compute_environment="c") for name in ("arn:r", "arn:gone"))
    assert BatchQueues(client).open_among({"a": PLACE, "b": other, "c": gone}) == {"a"}


class PoolItems:
    """The items of pools, by fleet; their jobs are not here to be touched."""

    def __init__(self) -> None:
        self.items: dict[str, dict[str, Any]] = {"spot": {"turn_until": {"N": "1"}}}

    def get_item(self, **asked: Any) -> dict[str, Any]:
        assert (asked["TableName"], asked["ProjectionExpression"]) == ("jobs", "closed_by")
        found = self.items.get(self._fleet(asked))
        return {} if found is None else {"Item": {key: found[key] for key in found.keys() & {"closed_by"}}}

    def update_item(self, **asked: Any) -> dict[str, Any]:
        item = self.items.setdefault(self._fleet(asked), {})
        if asked["UpdateExpression"] == "SET closed_by = :who":
            item["closed_by"] = asked["ExpressionAttributeValues"][":who"]
        else:
            assert asked["UpdateExpression"] == "REMOVE closed_by"
            item.pop("closed_by", None)
        return {}

    @staticmethod
    def _fleet(asked: dict[str, Any]) -> str:
        assert asked["Key"]["item"] == {"S": "pool"}
        return str(asked["Key"]["fleet"]["S"])


def test_a_pool_is_closed_by_a_word_that_its_controller_reads_and_batch_is_not_asked(stubbed: Stubbed) -> None:
    client, _ = stubbed("batch")
    items = PoolItems()
    fleets = Fleets(BatchQueues(client), Pools(shaped("dynamodb", items)))
    spot, new = PoolTarget(table="jobs", fleet="spot"), PoolTarget(table="jobs", fleet="new")

    assert fleets.open_among({"spot": spot, "new": new}) == {"spot", "new"}
    fleets.close(spot)
    assert fleets.open_among({"spot": spot, "new": new}) == {"new"}
    assert items.items["spot"]["turn_until"] == {"N": "1"}
    fleets.open(spot)
    assert fleets.open_among({"spot": spot}) == {"spot"}


class OneItem:
    """A DynamoDB table with one item, which checks the version."""

    def __init__(self) -> None:
        self.item: dict[str, Any] = {}

    def get_item(self, **_: Any) -> dict[str, Any]:
        return {"Item": self.item} if self.item else {}

    def put_item(self, **request: Any) -> dict[str, Any]:
        assert request["ConditionExpression"] == "attribute_not_exists(id) OR version = :read"
        if self.item and self.item["version"] != request["ExpressionAttributeValues"][":read"]:
            raise client_error("ConditionalCheckFailedException", "PutItem")
        self.item = request["Item"]
        return {}


def test_a_record_comes_back_as_it_was_stored_and_is_not_overwritten() -> None:
    table = StopTable(shaped("dynamodb", OneItem()), "stop")
    assert table.read() == Record()

    kept = table.write(Record(Stop("2026-11", Standing.STOPPED, "2026-11-20T12:35:00+00:00", "ada"), ("a", "b")))

    assert table.read() == kept
    assert kept.version == 1
    with pytest.raises(ConflictError):
        table.write(Record(kept.stop, ()))


def test_a_day_is_read_as_the_roll_up_wrote_it(tmp_path: Path) -> None:
    from fleet.ledger.columns import COLUMNS

    types = {"string": "VARCHAR", "bigint": "BIGINT", "double": "DOUBLE"}
    columns = ", ".join(f"NULL::{types[kind]} AS {name}" for name, kind, _ in COLUMNS)
    file = tmp_path / "day.parquet"
    chosen = "'ana' AS owner, 'pretrain' AS fleet, 'idle' AS category, 7 AS amount, 1 AS units"
    query = f"SELECT * REPLACE ({chosen}) FROM (SELECT {columns})"  # noqa: S608 - the ledger's own names
    duckdb.connect().execute(f"COPY ({query}) TO '{file}' (FORMAT parquet)")
    asked = []

    class S3:
        def get_object(self, **request: Any) -> dict[str, Any]:
            asked.append(request["Key"])
            if len(asked) > 1:
                raise client_error("NoSuchKey" if len(asked) == 2 else "AccessDenied", "GetObject")
            return {"Body": io.BytesIO(file.read_bytes())}

    books = LedgerStore(shaped("s3", S3()), "bucket", "prod")
    (found,) = books.of(DAY) or ()
    assert (found.owner, found.category, found.amount, found.price) == ("ana", Category.IDLE, 7, None)
    assert asked == ["ledger/environment=prod/day=2026-11-20/ledger.parquet"]
    assert books.of(DAY) is None
    with pytest.raises(ClientError, match="AccessDenied"):
        books.of(DAY)


ENVIRON = {
    "ENVIRONMENT": "dev", "BUCKET": "b", "TICKET_TOPIC": "t", "STS_HOST": "sts.us-east-2.amazonaws.com",
    "BUDGETS": '{"usd": 3000, "owners": {"ana": 10}, "forecast_percent": 100, "stop": "ask"}', "TABLE": "stop",
    "PLACES": '{"small": {"queue": "arn:q", "compute_environment": "arn:c"}, '
    '"spot": {"table": "jobs", "fleet": "spot"}}',
    "APPROVERS": '["arn:aws:iam::111122223333:role/on/call"]',
}  # fmt: skip


def test_settings_are_as_the_stack_tells_them() -> None:
    found = Settings.load(ENVIRON)

    assert found.approvers == {"arn:aws:iam::111122223333:role/call"}
    assert found.targets == {"small": PLACE, "spot": PoolTarget(table="jobs", fleet="spot")}
    assert found.budgets is not None
    assert (found.budgets.usd, found.budgets.stop) == (3000, "ask")
    bare = Settings.load(
        {**{k: ENVIRON[k] for k in ("ENVIRONMENT", "BUCKET", "TICKET_TOPIC", "STS_HOST")}, "BUDGETS": "null"}
    )
    assert (bare.budgets, bare.table, bare.targets) == (None, None, {})


class Context:
    aws_request_id = "1"


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> Desk:
    desk = Desk()
    monkeypatch.setattr(handler, "_settings", lambda: Settings.load(ENVIRON))
    monkeypatch.setattr(handler, "_dependencies", lambda: desk.aws)
    return desk


@pytest.mark.parametrize(("hour", "told"), [(6, 1), (7, 0)])
def test_the_waste_is_told_once_a_day(here: Desk, monkeypatch: pytest.MonkeyPatch, hour: int, told: int) -> None:
    class Clock(datetime):
        @classmethod
        def now(cls, tz: Any = None) -> datetime:  # type: ignore[override]  # a fixed clock
            return datetime(2026, 11, 20, hour, 35, tzinfo=UTC)

    monkeypatch.setattr(handler, "datetime", Clock)
    answer = handler.lambda_handler({}, Context())  # type: ignore[arg-type]  # all that is read of a context

    assert len(here.people.notices) == told
    assert answer == {"forecast_percent": None, "standing": "within", "closed": []}


def test_a_day_can_be_told_again_and_a_command_is_answered(here: Desk) -> None:
    context: Any = Context()

    assert handler.lambda_handler({"waste": "2026-11-19"}, context) == {"waste_of": "2026-11-19", "has_ledger": False}
    assert handler.lambda_handler({"action": "status"}, context)["may_stop"] == ["small", "spot"]
    assert "action" in handler.lambda_handler({"action": "burn"}, context)["refused"]
    with pytest.raises(handler.BadRequestError, match="should be a day"):
        handler.lambda_handler({"waste": "yesterday"}, context)
