"""The requests that leave for AWS, held against botocore's own models."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import boto3
import pytest
from botocore.stub import ANY, Stubber

from lambdas.pager.destinations.sending import Mail, Secrets
from lambdas.pager.errors import DeliveryError, IncidentStoreError
from lambdas.pager.incidents import TRANSITIONS_KEPT, IncidentTable, Transition, transition_of
from lambdas.pager.log_events import EventQuery, NodeEvent, events_of
from lambdas.pager.messages import AlarmChange, State, WaitingQueue
from lambdas.pager.metric_queries import WasteMetric
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


def stub_once(service: str) -> Stub:
    """A stub for the length of one test; whether everything was asked shows in what came back."""
    client = boto3.client(  # type: ignore[call-overload]  # the name is a variable
        service, region_name="us-east-2", aws_access_key_id="test", aws_secret_access_key="test"
    )
    stubber = Stubber(client)
    stubber.activate()
    return client, stubber


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

    assert EventQuery(client, "/g", events_of(NodeEvent), FakeTicker()).read("fields @message", AT, AT) == []


def test_a_secret_is_read_by_name(secrets: Stub) -> None:
    client, stubber = secrets
    stubber.add_response("get_secret_value", {"SecretString": "value"}, {"SecretId": "prod/slack"})

    assert Secrets(client).read("prod/slack") == "value"


def update(change: AlarmChange, verb: str, *texts: str) -> dict[str, Any]:
    return {
        "TableName": "pages",
        "Key": {"id": {"S": f"incident#{change.arn}"}},
        "UpdateExpression": f"{verb} #transitions :these SET #expiration = :until",
        "ExpressionAttributeNames": {"#transitions": "transitions", "#expiration": "expiration"},
        "ExpressionAttributeValues": {
            ":these": {"SS": list(texts)},
            ":until": {"N": str(int(AT.timestamp()) + 24 * 86_400)},
        },
        "ReturnValues": "ALL_NEW",
    }


def test_a_transition_is_added_to_what_is_known_and_all_of_it_read_back(dynamodb: Stub) -> None:
    client, stubber = dynamodb
    change = alarm_change()
    texts = ["2026-11-21T03:41:12.345000+00:00|ALARM|OK", "2026-11-21T03:30:00+00:00|OK|ALARM"]
    stubber.add_response("update_item", {"Attributes": {"transitions": {"SS": texts}}}, update(change, "ADD", texts[0]))

    known = IncidentTable(client, "pages", AT.timestamp).record(change)

    assert known == {
        transition_of(change),
        Transition(datetime(2026, 11, 21, 3, 30, tzinfo=UTC), State.OK, State.ALARM),
    }


def test_an_alarm_that_changed_very_often_forgets_its_oldest_transitions(dynamodb: Stub) -> None:
    client, stubber = dynamodb
    change = alarm_change()
    texts = [f"{(AT - timedelta(minutes=ago)).isoformat()}|ALARM|OK" for ago in reversed(range(TRANSITIONS_KEPT + 1))]
    now = "2026-11-21T03:41:12.345000+00:00|ALARM|OK"
    stubber.add_response("update_item", {"Attributes": {"transitions": {"SS": texts}}}, update(change, "ADD", now))
    stubber.add_response("update_item", {}, update(change, "DELETE", *texts[: -TRANSITIONS_KEPT // 2]))

    assert len(IncidentTable(client, "pages", AT.timestamp).record(change)) == TRANSITIONS_KEPT + 1


@pytest.mark.parametrize("call", ["update_item", "put_item"])
def test_a_table_that_refuses_is_the_pagers_own_error(dynamodb: Stub, call: str) -> None:
    client, stubber = dynamodb
    stubber.add_client_error(call, "ProvisionedThroughputExceededException")
    table = IncidentTable(client, "pages", AT.timestamp)

    with pytest.raises(IncidentStoreError, match=r"table pages cannot be .* \(ProvisionedThroughputExceeded"):
        table.record(alarm_change()) if call == "update_item" else table.report("test#arn", {"slack": ""})


def test_the_waste_of_a_fleet_is_the_mean_of_its_nodes_because_a_sum_may_double() -> None:
    client, stubber = stub_once("cloudwatch")
    query = {
        "Id": "waste",
        "MetricStat": {
            "Metric": {
                "Namespace": "NeuronFleet",
                "MetricName": "WastedUsdPerHour",
                "Dimensions": [{"Name": "Environment", "Value": "prod"}, {"Name": "Fleet", "Value": "trn1"}],
            },
            "Period": 60,
            "Stat": "Average",
        },
    }
    series = {"Id": "waste", "Timestamps": [AT], "Values": [18.0]}
    request = {"MetricDataQueries": [query], "StartTime": AT - timedelta(minutes=20), "EndTime": AT}
    stubber.add_response("get_metric_data", {"MetricDataResults": [series]}, request)
    stubber.add_client_error("get_metric_data", "Throttling")
    waste = WasteMetric(client, "prod")

    assert waste.per_node("trn1", AT - timedelta(minutes=20), AT) == {AT: 18.0}
    assert waste.per_node("trn1", AT - timedelta(minutes=20), AT) == {}


def test_mail_is_published_and_its_refusal_is_a_failed_delivery() -> None:
    client, stubber = stub_once("sns")
    request = {"TopicArn": "arn:aws:sns:us-east-2:1:leads", "Subject": "PAGE", "Message": "text"}
    stubber.add_response("publish", {"MessageId": "m"}, request)
    stubber.add_client_error("publish", "AuthorizationError")
    mail = Mail(client)

    mail.send("arn:aws:sns:us-east-2:1:leads", "PAGE", "text")
    with pytest.raises(DeliveryError, match=r"^refused with AuthorizationError$"):
        mail.send("arn:aws:sns:us-east-2:1:leads", "PAGE", "text")


def test_a_message_is_put_off_and_a_queue_that_does_not_answer_puts_it_off_itself() -> None:
    client, stubber = stub_once("sqs")
    request = {"QueueUrl": "https://q", "ReceiptHandle": "r", "VisibilityTimeout": 240}
    stubber.add_response("change_message_visibility", {}, request)
    stubber.add_client_error("change_message_visibility", "InternalError")
    queue = WaitingQueue(client, "https://q")

    queue.put_off("r", 240)
    queue.put_off("r", 240)

    stubber.assert_no_pending_responses()
