"""DynamoDB and S3, with the answers that AWS documents; the real conditions are tried in the embedded AWS."""

import io
import math
import time
from pathlib import Path

import pytest
from botocore.exceptions import ReadTimeoutError
from botocore.response import StreamingBody
from botocore.stub import Stubber

from fleet.compile_cache.lease import Row, State
from tests.support.compiled_graphs import graph
from workload.compile_cache.adapters import DynamoLeases, ReadyObjects, S3Objects
from workload.errors import ColdTierError, LeaseTableError

GRAPH = graph(1)
ROW = Row(3, 2, State.FAILED, "node-1", until=1795230000.123457, changed=1795226400.1, failures=1, reason="no")
ITEM = {
    "id": {"S": str(GRAPH)},
    "revision": {"N": "3"},
    "token": {"N": "2"},
    "state": {"S": "failed"},
    "holder": {"S": "node-1"},
    "until": {"N": "1795230000.123457"},
    "changed": {"N": "1795226400.1"},
    "failures": {"N": "1"},
    "seconds": {"N": "0.0"},
    "reason": {"S": "no"},
}


def leases() -> tuple[DynamoLeases, Stubber]:
    table = DynamoLeases("leases", "us-east-2")
    return table, Stubber(table._client)


def test_a_row_is_read_as_it_is_now() -> None:
    table, stub = leases()
    key = {"TableName": "leases", "Key": {"id": {"S": str(GRAPH)}}, "ConsistentRead": True}
    stub.add_response("get_item", {"Item": ITEM}, key)
    stub.add_response("get_item", {}, key)

    with stub:
        assert table.read(GRAPH) == ROW
        assert table.read(GRAPH) is None


def test_a_first_row_is_written_only_where_there_is_none() -> None:
    table, stub = leases()
    wanted = {"TableName": "leases", "Item": ITEM, "ConditionExpression": "attribute_not_exists(id)"}
    stub.add_response("put_item", {}, wanted)

    with stub:
        assert table.swap(GRAPH, None, ROW)


def test_a_row_is_replaced_only_as_it_was_seen() -> None:
    table, stub = leases()
    wanted = {
        "TableName": "leases",
        "Item": ITEM,
        "ConditionExpression": "revision = :seen",
        "ExpressionAttributeValues": {":seen": {"N": "2"}},
    }
    seen = Row(2, 2, State.COMPILING, "node-1", 0.0, 0.0)
    stub.add_response("put_item", {}, wanted)
    stub.add_client_error("put_item", "ConditionalCheckFailedException")

    with stub:
        assert table.swap(GRAPH, seen, ROW)
        assert not table.swap(GRAPH, seen, ROW)


@pytest.mark.parametrize("code", ["AccessDeniedException", "ProvisionedThroughputExceededException"])
def test_a_table_that_refuses_is_one_line(code: str) -> None:
    table, stub = leases()
    stub.add_client_error("get_item", code, "in words")
    stub.add_client_error("put_item", code, "in words")

    with stub:
        with pytest.raises(LeaseTableError, match=f"lease table leases: .*{code}.*in words"):
            table.read(GRAPH)
        with pytest.raises(LeaseTableError, match=code):
            table.swap(GRAPH, None, ROW)


def test_a_table_that_does_not_answer_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    table, _ = leases()

    def hangs(**_request: object) -> None:
        raise ReadTimeoutError(endpoint_url="https://dynamodb")

    monkeypatch.setattr(table._client, "get_item", hangs)
    with pytest.raises(LeaseTableError, match="Read timeout"):
        table.read(GRAPH)


def test_an_item_that_somebody_else_wrote_is_one_line() -> None:
    table, stub = leases()
    stub.add_response("get_item", {"Item": {"id": {"S": str(GRAPH)}}})

    with stub, pytest.raises(LeaseTableError, match="lease table leases"):
        table.read(GRAPH)


def test_every_call_has_a_timeout_and_few_attempts() -> None:
    table, objects, ready = (make("name", "us-east-2") for make in (DynamoLeases, S3Objects, ReadyObjects))

    for client, seconds, attempts in ((table._client, 5, 3), (objects._client, 60, 5), (ready._client, 10, 2)):
        config = vars(client.meta.config)
        assert config["read_timeout"] == seconds
        assert config["connect_timeout"] <= 5
        assert config["retries"]["total_max_attempts"] == attempts
    # All attempts are over before a lease of a minute is.
    config = vars(table._client.meta.config)
    assert 3 * (config["connect_timeout"] + config["read_timeout"]) < 60


def test_an_object_that_is_not_there_is_no_error_and_a_refusal_is_one(tmp_path: Path) -> None:
    objects = S3Objects("bucket", "us-east-2")
    stub = Stubber(objects._client)
    stub.add_client_error("head_object", "404", http_status_code=404)
    stub.add_client_error("head_object", "403", "Forbidden", http_status_code=403)
    stub.add_client_error("head_object", "404", "Not Found", http_status_code=404)

    with stub:
        assert not objects.has("key")
        with pytest.raises(ColdTierError, match=r"s3://bucket/key: .*Forbidden"):
            objects.has("key")
        with pytest.raises(ColdTierError, match="s3://bucket/key"):
            objects.download("key", tmp_path / "target")


def ready() -> tuple[ReadyObjects, Stubber]:
    objects = ReadyObjects("bucket", "us-east-2")
    return objects, Stubber(objects._client)


def body(content: bytes, length: int | None = None) -> dict[str, StreamingBody]:
    """An object's, which is said to have that length."""
    return {"Body": StreamingBody(io.BytesIO(content), len(content) if length is None else length)}


def test_a_graph_is_looked_up_by_one_request_and_comes_whole(tmp_path: Path) -> None:
    objects, stub = ready()
    content = b"x" * (3 * 1024 * 1024 + 1)
    stub.add_response("get_object", body(content), {"Bucket": "bucket", "Key": "key"})

    with stub:
        assert objects.fetch("key", tmp_path / "target", math.inf)

    assert (tmp_path / "target").read_bytes() == content


@pytest.mark.parametrize(("code", "status"), [("NoSuchKey", 404), ("AccessDenied", 403)])
def test_who_may_not_list_takes_a_refusal_for_an_absence(tmp_path: Path, code: str, status: int) -> None:
    objects, stub = ready()
    stub.add_client_error("get_object", code, http_status_code=status)

    with stub:
        assert not objects.fetch("key", tmp_path / "target", math.inf)

    assert list(tmp_path.iterdir()) == []


def test_an_object_that_breaks_off_is_read_twice_and_not_more(tmp_path: Path) -> None:
    objects, stub = ready()
    for content, length in ((b"half", 8), (b"all of it", None), (b"half", 8), (b"half", 8)):
        stub.add_response("get_object", body(content, length))

    with stub:
        assert objects.fetch("key", tmp_path / "target", math.inf)
        assert (tmp_path / "target").read_bytes() == b"all of it"
        with pytest.raises(ColdTierError, match="s3://bucket/key broke off: "):
            objects.fetch("key", tmp_path / "target", math.inf)


def test_s3_that_refuses_or_comes_too_late_is_one_line(tmp_path: Path) -> None:
    objects, stub = ready()
    stub.add_client_error("get_object", "SlowDown", "in words", http_status_code=503)
    stub.add_response("get_object", body(b"x"))

    with stub:
        with pytest.raises(ColdTierError, match=r"s3://bucket/key: .*SlowDown.*in words"):
            objects.fetch("key", tmp_path / "target", math.inf)
        with pytest.raises(ColdTierError, match="s3://bucket/key: not here in time"):
            objects.fetch("key", tmp_path / "target", time.monotonic() - 1)
