"""The requests that leave for AWS, held against botocore's own models."""

from collections.abc import Iterator
from typing import Any

import boto3
import pytest
from botocore.stub import ANY, Stubber

from lambdas.pager.adapters import EventQuery, IncidentTable, Secrets
from lambdas.pager.errors import IncidentStoreError
from lambdas.pager.incident import Remembered
from lambdas.pager.model import NodeEvent, State
from tests.support.aws_fakes import FakeTicker
from tests.support.pager import AT, alarm_change

Stub = tuple[Any, Stubber]


def stub(service: str) -> Iterator[Stub]:
    client = boto3.client(  # type: ignore[call-overload]  # the name is a variable
        service, region_name="us-east-2", aws_access_key_id="test", aws_secret_access_key="test"
    )
    with Stubber(client) as stubber:
        yield client, stubber
        stubber.assert_no_pending_responses()
    client.close()


@pytest.fixture
def logs() -> Iterator[Stub]:
    yield from stub("logs")


@pytest.fixture
def secrets() -> Iterator[Stub]:
    yield from stub("secretsmanager")


@pytest.fixture
def dynamodb() -> Iterator[Stub]:
    yield from stub("dynamodb")


def test_one_query_is_started_awaited_and_stopped_over_budget(logs: Stub) -> None:
    client, stubber = logs
    request = {"logGroupName": "/g", "startTime": int(AT.timestamp()), "endTime": ANY, "queryString": "fields @message"}
    stubber.add_response("start_query", {"queryId": "q"}, request)
    stubber.add_response("get_query_results", {"status": "Running", "results": []}, {"queryId": "q"})
    stubber.add_response("get_query_results", {"status": "Complete", "results": []}, {"queryId": "q"})

    assert EventQuery(client, "/g", NodeEvent, FakeTicker()).read("fields @message", AT, AT) == []


def test_a_secret_is_read_by_name(secrets: Stub) -> None:
    client, stubber = secrets
    stubber.add_response("get_secret_value", {"SecretString": "value"}, {"SecretId": "prod/slack"})

    assert Secrets(client).read("prod/slack") == "value"


def test_an_incident_is_kept_and_read_back(dynamodb: Stub) -> None:
    client, stubber = dynamodb
    change = alarm_change()
    item = {
        "id": {"S": f"incident#{change.arn}"},
        "state": {"S": "ALARM"},
        "changed_at": {"S": "2026-11-21T03:41:12.345+00:00"},
        "opened_at": {"S": AT.isoformat()},
        "expiration": {"N": "1797306060"},
    }
    stubber.add_response(
        "put_item",
        {},
        {
            "TableName": "pages",
            "Item": {**item, "expiration": {"N": str(int(AT.timestamp()) + 24 * 86_400)}},
            "ConditionExpression": "attribute_not_exists(id) OR changed_at <= :changed_at",
            "ExpressionAttributeValues": {":changed_at": item["changed_at"]},
        },
    )
    stubber.add_response(
        "get_item", {"Item": item}, {"TableName": "pages", "Key": {"id": item["id"]}, "ConsistentRead": True}
    )
    table = IncidentTable(client, "pages", AT.timestamp)

    assert table.remember(change, AT)
    assert table.last(change.arn) == Remembered(State.ALARM, change.changed_at, AT)


def test_a_newer_transition_is_not_overwritten(dynamodb: Stub) -> None:
    client, stubber = dynamodb
    stubber.add_client_error("put_item", "ConditionalCheckFailedException")

    assert not IncidentTable(client, "pages", AT.timestamp).remember(alarm_change(), AT)


@pytest.mark.parametrize("call", ["get_item", "put_item"])
def test_a_table_that_refuses_is_the_pagers_own_error(dynamodb: Stub, call: str) -> None:
    client, stubber = dynamodb
    stubber.add_client_error(call, "ProvisionedThroughputExceededException")
    table = IncidentTable(client, "pages", AT.timestamp)

    with pytest.raises(IncidentStoreError, match=r"table pages cannot be .* \(ProvisionedThroughputExceeded"):
        table.last("arn") if call == "get_item" else table.remember(alarm_change(), AT)
