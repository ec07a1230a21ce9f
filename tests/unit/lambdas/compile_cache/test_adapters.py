"""The bucket, the table and the executions, as AWS answers about them."""

import io
import json
import socket
from collections.abc import Callable
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError, ConnectTimeoutError, EndpointConnectionError, ReadTimeoutError
from botocore.response import StreamingBody
from botocore.stub import Stubber

from fleet.compile_cache import failure, index
from fleet.compile_cache.artifact import Artifact
from fleet.compile_cache.graph import Graph
from fleet.compile_cache.index import Index
from fleet.compile_cache.precompilation import Precompilation, Stage
from fleet.compile_cache.request import RequestError
from lambdas.compile_cache.adapters import PATIENT, JobQueue, JobQueues
from lambdas.compile_cache.bucket import Bucket
from lambdas.compile_cache.runs import ConflictError, Runs

LLAMA = Artifact("meta/llama", "r1", "2.30", (2048,))
GRAPHS = tuple(Graph("neuronxcc-2.21.18209.0+043b1bf7", f"MODULE_{number}+abcd") for number in (1, 2))
HELD = Precompilation(3, Stage.COMPILING, "arn:aws:states:us-east-2:1:execution:m:x", 1000.25)
ITEM = {
    "id": {"S": LLAMA.prefix},
    "token": {"N": "3"},
    "stage": {"S": "compiling"},
    "holder": {"S": HELD.holder},
    "changed": {"N": "1000.25"},
    "reason": {"S": ""},
    "expiration": {"N": "7777000"},
}
Stubbed = Callable[[str], tuple[Any, Stubber]]


def body(content: bytes) -> dict[str, Any]:
    return {"Body": StreamingBody(io.BytesIO(content), len(content))}


def listing(*keys: str, more: str = "") -> dict[str, Any]:
    page: dict[str, Any] = {"Contents": [{"Key": key} for key in keys], "IsTruncated": bool(more)}
    return page | ({"NextContinuationToken": more} if more else {})


def test_an_artifact_is_there_when_its_index_and_each_graph_is(stubbed: Stubbed) -> None:
    client, s3 = stubbed("s3")
    s3.add_response("get_object", body(Index(LLAMA, GRAPHS).encode()), {"Bucket": "b", "Key": index.key(LLAMA)})
    first, second = (index.graph_key(LLAMA, graph) for graph in GRAPHS)
    s3.add_response("list_objects_v2", listing(first, more="t"), {"Bucket": "b", "Prefix": f"{LLAMA.prefix}/"})
    s3.add_response(
        "list_objects_v2", listing(second), {"Bucket": "b", "Prefix": f"{LLAMA.prefix}/", "ContinuationToken": "t"}
    )
    assert Bucket(client, "b").missing(LLAMA) == ""


def test_an_index_without_one_of_its_graphs_is_no_artifact(stubbed: Stubbed) -> None:
    client, s3 = stubbed("s3")
    s3.add_response("get_object", body(Index(LLAMA, GRAPHS).encode()))
    s3.add_response("list_objects_v2", listing(index.graph_key(LLAMA, GRAPHS[0])))
    assert f"1 of its 2 graphs are gone, such as {GRAPHS[1]}" in Bucket(client, "b").missing(LLAMA)


@pytest.mark.parametrize(
    ("content", "reason"),
    [(b"{", "damaged"), (Index(LLAMA, ()).encode(), "names no graph")],
)
def test_a_damaged_or_empty_index_is_no_artifact(stubbed: Stubbed, content: bytes, reason: str) -> None:
    client, s3 = stubbed("s3")
    s3.add_response("get_object", body(content))
    s3.add_response("list_objects_v2", listing())
    assert reason in Bucket(client, "b").missing(LLAMA)


def test_what_is_not_there_is_missing_and_what_may_not_be_read_is_an_error(stubbed: Stubbed) -> None:
    client, s3 = stubbed("s3")
    s3.add_client_error("get_object", "NoSuchKey")
    s3.add_client_error("get_object", "NoSuchKey")
    s3.add_client_error("get_object", "NoSuchKey")
    s3.add_client_error("get_object", "AccessDenied")
    bucket = Bucket(client, "b")
    assert "was never compiled" in bucket.missing(LLAMA)
    assert bucket.last_words(LLAMA, "j") == ""
    with pytest.raises(RequestError, match="there is no such object in b"):
        bucket.request("models/x.json")
    with pytest.raises(ClientError, match="AccessDenied"):
        bucket.missing(LLAMA)


def test_a_jobs_last_words_are_read_where_it_left_them(stubbed: Stubbed) -> None:
    client, s3 = stubbed("s3")
    s3.add_response("get_object", body(failure.encode("j", "why")), {"Bucket": "b", "Key": failure.key(LLAMA)})
    assert Bucket(client, "b").last_words(LLAMA, "j") == "why"


def test_a_precompilation_is_read_as_it_was_written(stubbed: Stubbed) -> None:
    client, table = stubbed("dynamodb")
    first = {"TableName": "t", "Item": ITEM, "ConditionExpression": "attribute_not_exists(id)"}
    table.add_response("put_item", {}, first)
    table.add_response("get_item", {"Item": ITEM})
    table.add_response("get_item", {})
    runs = Runs(client, None, "t")  # type: ignore[arg-type]  # not asked here
    runs.write(LLAMA, None, HELD)
    assert runs.read(LLAMA) == HELD
    assert runs.read(LLAMA) is None


def test_who_was_overtaken_is_told_and_who_only_lost_the_answer_is_not(stubbed: Stubbed) -> None:
    client, table = stubbed("dynamodb")
    runs = Runs(client, None, "t")  # type: ignore[arg-type]  # not asked here
    for item in (ITEM | {"holder": {"S": "other"}}, ITEM):
        table.add_client_error("put_item", "ConditionalCheckFailedException")
        table.add_response("get_item", {"Item": item})
    seen = Precompilation(2, Stage.FAILED, "other", 1.0, "why")
    with pytest.raises(ConflictError):
        runs.write(LLAMA, seen, HELD)
    runs.write(LLAMA, seen, HELD)


@pytest.mark.parametrize(
    ("status", "lives"), [("RUNNING", True), ("PENDING_REDRIVE", True), ("FAILED", False), ("TIMED_OUT", False)]
)
def test_an_execution_lives_while_it_runs(stubbed: Stubbed, status: str, lives: bool) -> None:
    states = _Executions(status)
    assert Runs(None, states, "t").lives(HELD, 5000.0) is lives  # type: ignore[arg-type]  # not asked here


@pytest.mark.parametrize(("now", "lives"), [(1010.0, True), (1500.0, False)])
def test_an_execution_that_is_not_known_may_be_new(stubbed: Stubbed, now: float, lives: bool) -> None:
    client, states = stubbed("stepfunctions")
    states.add_client_error("describe_execution", "ExecutionDoesNotExist")
    assert Runs(None, client, "t").lives(HELD, now) is lives  # type: ignore[arg-type]  # not asked here


def test_a_fleets_place_is_read_from_its_parameter(stubbed: Stubbed) -> None:
    client, ssm = stubbed("ssm")
    place = {"queue": "q", "definition": "d", "share": "s", "tags": {"fleet": "trn1"}}
    ssm.add_response(
        "get_parameter", {"Parameter": {"Value": json.dumps(place)}}, {"Name": "/neuron-fleet/prod/precompile/trn1"}
    )
    assert JobQueues(client, "prod", ["trn1"]).of("trn1") == JobQueue("q", "d", "s", {"fleet": "trn1"})


def test_a_service_that_never_answers_is_given_up_soon() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        quick = PATIENT.merge(type(PATIENT)(read_timeout=0.2))
        client = boto3.client("s3", region_name="us-east-2", endpoint_url=url, config=quick)
        with pytest.raises((ReadTimeoutError, ConnectTimeoutError, EndpointConnectionError)):
            Bucket(client, "b").missing(LLAMA)
    options = vars(PATIENT)
    assert (options["connect_timeout"], options["read_timeout"]) == (2, 5)


class _Executions:
    def __init__(self, status: str) -> None:
        self._status = status

    def describe_execution(self, **request: object) -> dict[str, Any]:
        assert request == {"executionArn": HELD.holder}
        return {"status": self._status}
