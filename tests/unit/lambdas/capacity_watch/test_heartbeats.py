"""How many agents speak, as CloudWatch answers."""

from datetime import UTC, datetime, timedelta

import boto3
import pytest
from botocore.exceptions import ClientError
from botocore.stub import Stubber

from lambdas.capacity_watch.cloudwatch import AgentHeartbeats
from tests.support.watched_capacity import NOW, place

# The minute before the one of NOW is not asked for: its batches may still be on their way.
END = datetime(2026, 11, 21, 10, 2, tzinfo=UTC)
ASKED = {
    "MetricDataQueries": [
        {
            "Id": "heartbeats",
            "MetricStat": {
                "Metric": {
                    "Namespace": "NeuronFleet",
                    "MetricName": "AgentHeartbeat",
                    "Dimensions": [
                        {"Name": "Environment", "Value": "prod"},
                        {"Name": "Fleet", "Value": "pretrain"},
                    ],
                },
                "Period": 60,
                "Stat": "Sum",
            },
        }
    ],
    "StartTime": END - timedelta(minutes=5),
    "EndTime": END,
}


@pytest.mark.parametrize(("values", "heard"), [([16.0, 16.0, 17.0, 16.0, 16.0], 16), ([], 0)])
def test_the_newest_five_whole_minutes_are_asked_for(values: list[float], heard: int) -> None:
    client = boto3.client("cloudwatch", region_name="us-east-2")
    times = [END - timedelta(minutes=index + 1) for index in range(len(values))]
    with Stubber(client) as stubber:
        answer = {"MetricDataResults": [{"Id": "heartbeats", "Timestamps": times, "Values": values}]}
        stubber.add_response("get_metric_data", answer, ASKED)

        assert AgentHeartbeats(client).of(place(), NOW) == heard


def test_a_refusal_is_the_lookers_to_handle() -> None:
    client = boto3.client("cloudwatch", region_name="us-east-2")
    with Stubber(client) as stubber:
        stubber.add_client_error("get_metric_data", "Throttling")

        with pytest.raises(ClientError, match="Throttling"):
            AgentHeartbeats(client).of(place(), NOW)
