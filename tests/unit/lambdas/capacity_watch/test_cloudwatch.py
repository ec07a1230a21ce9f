"""How many agents speak, and how far the cores of one job are apart, as CloudWatch answers.

Nodes of different jobs are not compared.
"""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError
from botocore.stub import ANY, Stubber

from fleet.stragglers import points_apart
from lambdas.capacity_watch import service
from lambdas.capacity_watch.cloudwatch import AgentHeartbeats, JobPaces
from local.alarm_evaluation import SeriesKey
from local.alarm_evaluation.statistics import Datum
from local.emulator.cloudwatch.metric_data import get_metric_data
from local.emulator.cloudwatch.metric_store import MetricStore
from tests.support.capacity_account import Account
from tests.support.client_shapes import shaped
from tests.support.watched_capacity import NOW, endpoint, nodes, place

# The six minutes before the one of NOW are not asked for: their batches may still be on their way.
END = datetime(2026, 11, 21, 9, 57, tzinfo=UTC)
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
def test_the_newest_five_complete_minutes_are_asked_for(values: list[float], heard: int) -> None:
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


MINUTE = END - timedelta(minutes=1)
NAME = "NeuronCoreUtilizationWhenRunning"


def of_fleet(highest: float | None, lowest: float | None) -> dict[str, Any]:
    ends = {"maximum": highest, "minimum": lowest}
    return {
        "MetricDataResults": [
            {"Id": name, "Label": NAME, "Values": [] if value is None else [value], "Timestamps": [MINUTE]}
            for name, value in ends.items()
        ]
    }


def of_jobs(jobs: Mapping[str, tuple[float, float]]) -> dict[str, Any]:
    found = [(name, job, pair[index]) for index, name in enumerate(("p50", "minimum")) for job, pair in jobs.items()]
    return {
        "MetricDataResults": [
            {"Id": name, "Label": job, "Values": [value], "Timestamps": [MINUTE]} for name, job, value in found
        ]
    }


def asked(*answers: dict[str, Any]) -> float | None:
    client = boto3.client("cloudwatch", region_name="us-east-2")
    with Stubber(client) as stubber:
        for answer in answers:
            stubber.add_response("get_metric_data", answer)
        found = JobPaces(client).of(place(), NOW)
        stubber.assert_no_pending_responses()
    return found


def test_the_job_whose_cores_are_farthest_apart_counts() -> None:
    jobs = {"even": (98.0, 97.0), "uneven": (97.0, 66.0), "lighter": (70.0, 68.0)}

    assert asked(of_fleet(99, 66), of_jobs(jobs)) == 31


def test_paces_are_those_of_a_minute_that_is_complete_however_late_it_comes() -> None:
    client = boto3.client("cloudwatch", region_name="us-east-2")
    times = {"StartTime": MINUTE, "EndTime": END}
    with Stubber(client) as stubber:
        for answer in (of_fleet(99, 66), of_jobs({"uneven": (97.0, 66.0)})):
            stubber.add_response("get_metric_data", answer, {"MetricDataQueries": ANY, **times})

        assert JobPaces(client).of(place(), NOW) == 31


def test_two_jobs_that_are_far_from_each_other_are_not_apart_in_themselves() -> None:
    assert asked(of_fleet(99, 66), of_jobs({"busy": (98.0, 97.0), "lighter": (68.0, 66.0)})) == 2


@pytest.mark.parametrize(("highest", "lowest"), [(99, 79), (None, None)])
def test_jobs_are_not_searched_for_where_no_two_cores_are_far_apart(
    highest: float | None, lowest: float | None
) -> None:
    assert asked(of_fleet(highest, lowest)) is None


def test_a_job_with_one_of_its_two_figures_is_left_out() -> None:
    answer = of_jobs({"whole": (90.0, 85.0)})
    answer["MetricDataResults"].append({"Id": "p50", "Label": "half", "Values": [99.0], "Timestamps": [MINUTE]})

    assert asked(of_fleet(99, 60), answer) == 5
    assert points_apart([]) is None


def test_a_search_finds_the_jobs_of_this_fleet_and_labels_them() -> None:
    store = MetricStore()
    for fleet, job, values in (
        ("pretrain", None, [97.0, 97.0, 97.0, 60.0]),
        ("pretrain", "uneven", [97.0, 97.0, 66.0]),
        ("pretrain", "lighter", [60.0]),
        ("other", "theirs", [90.0, 90.0, 10.0]),
    ):
        names = {"Environment": "prod", "Fleet": fleet, **({"JobId": job} if job else {})}
        dimensions = [{"Name": key, "Value": value} for key, value in names.items()]
        key = SeriesKey.of("NeuronFleet", NAME, dimensions)
        store.put(key, MINUTE.timestamp(), "Percent", Datum.of_values(values, [1.0] * len(values)))

    class Emulated:
        def get_metric_data(self, **request: Any) -> dict[str, Any]:
            times = {name: request[name].timestamp() for name in ("StartTime", "EndTime")}
            return get_metric_data(store, {**request, **times})

    assert JobPaces(shaped("cloudwatch", Emulated())).of(place(), NOW) == 31


def test_endpoints_are_not_asked_and_a_refusal_is_a_problem_of_the_fleet() -> None:
    account = Account(
        running={"pretrain": nodes(2, "cr-1"), "chat": nodes(2, None)},
        apart={"pretrain": 31.0, "chat": 50.0},
    )
    trains, serves = service.look(account.world(), [place(), endpoint()], NOW)

    assert (trains.job_cores_apart, serves.job_cores_apart) == (31.0, None)

    account.broken["pace pretrain"] = TimeoutError("slow")
    look = service.look(account.world(), [place()], NOW)[0]

    assert look.job_cores_apart is None
    assert look.assessment is not None
    assert "fleet pretrain: TimeoutError: slow" in look.problems
