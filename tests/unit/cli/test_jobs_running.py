"""A job that was submitted is found, shown with its nodes and dollars, read and stopped."""

import json
from datetime import UTC, datetime, timedelta
from fnmatch import fnmatch
from itertools import count
from pathlib import Path
from typing import Any, Final

import pytest

from tests.support.jobs import QUEUE, Desk, refused

JOB: Final = "11111111-2222-3333-4444-555555555555"
NAME: Final = "llama-7b-0a1b2c3d"
NOW: Final = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
INSTANCE: Final = "arn:aws:ecs:us-east-2:111122223333:container-instance/AWSBatch-pretrain/abc"


def milliseconds(moment: datetime) -> int:
    return round(moment.timestamp() * 1000)


def attempt(start: datetime, minutes: float, code: int, reason: str = "") -> dict[str, Any]:
    container = {"exitCode": code, "reason": reason, "logStreamName": f"log-{start:%H%M}"}
    stop = start + timedelta(minutes=minutes)
    return {"startedAt": milliseconds(start), "stoppedAt": milliseconds(stop), "container": container}


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    """Two nodes of a job that ended: an attempt of 90.5 minutes whose host failed, and one of 29 minutes."""
    found = Desk(tmp_path, monkeypatch)
    first, second = NOW - timedelta(minutes=130), NOW - timedelta(minutes=30)
    parent = {
        "jobId": JOB,
        "jobName": NAME,
        "jobQueue": QUEUE,
        "status": "SUCCEEDED",
        "createdAt": milliseconds(first),
        "startedAt": milliseconds(second),
        "stoppedAt": milliseconds(second + timedelta(minutes=29)),
        "attempts": [{}, {}],
        "nodeProperties": {"numNodes": 2},
        "parameters": {"tokens_wanted": "1e+09"},
        "tags": {"environment": "prod", "fleet": "trn1-pretrain", "owner": "research", "job": "llama-7b"},
    }
    nodes = {
        f"{JOB}#{index}": {
            "jobId": f"{JOB}#{index}",
            "jobName": NAME,
            "status": "SUCCEEDED",
            "attempts": [attempt(first, 90.5, 1, "Host EC2 terminated"), attempt(second, 29, 0)],
            "startedAt": milliseconds(second),
            "stoppedAt": milliseconds(second + timedelta(minutes=29)),
            "container": {"containerInstanceArn": INSTANCE, "logStreamName": "log-1130", "exitCode": 0},
        }
        for index in range(2)
    }
    details = {JOB: parent, **nodes}
    found.batch.answers |= {
        "batch:describe_jobs": lambda asked: {"jobs": [details[each] for each in asked["jobs"] if each in details]},
        "batch:list_jobs": lambda asked: {"jobSummaryList": listed(asked, [parent])},
        "batch:terminate_job": lambda _: {},
        "cloudwatch:get_metric_data": metric_data,
    }
    found.details = details
    return found


def listed(asked: dict[str, Any], jobs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    if "filters" in asked:
        (name,) = asked["filters"][0]["values"]
        return [each for each in jobs if fnmatch(each["jobName"], name)]
    return [each for each in jobs if each["status"] == asked["jobStatus"] and asked["jobQueue"] == QUEUE]


def metric_data(asked: dict[str, Any]) -> dict[str, Any]:
    is_recent = asked["EndTime"] - asked["StartTime"] <= timedelta(minutes=10)
    # The last but one minute was sent twice; over all, 60 minutes at 2,000 tokens a second.
    tokens = [2_000.0, 4_000.0, 2_000.0] if is_recent else [2_000.0] * 60
    values = {"tokens": tokens, "busy": [40.0, 44.0]}
    return {
        "MetricDataResults": [{"Id": each["Id"], "Values": values[each["Id"]]} for each in asked["MetricDataQueries"]]
    }


def runs_again(desk: Desk) -> None:
    """As if the second attempt still ran."""
    for detail in desk.details.values():
        detail["status"] = "RUNNING"
        detail.pop("stoppedAt", None)
        detail["attempts"] = detail["attempts"][:1]
        detail["startedAt"] = milliseconds(datetime.now(UTC) - timedelta(minutes=5, seconds=30))


def test_a_job_is_shown_with_its_nodes_attempts_and_dollars(desk: Desk) -> None:
    shown = json.loads(desk.run("show", "prod", NAME, "--json").stdout)

    assert (shown["job_id"], shown["owner"], shown["status"]) == (JOB, "research", "SUCCEEDED")
    assert [node["index"] for node in shown["per_node"]] == [0, 1]
    assert [each["reason"] for each in shown["per_node"][0]["attempts"]] == ["Host EC2 terminated", ""]
    # 91 started minutes and 29, on each of two nodes; 240 x 21.50 / 60.
    assert (shown["node_minutes"], shown["usd_so_far"]) == (240, 86.0)
    assert shown["tokens_per_second"] == 2_000.0
    # 60 minutes x 60 s x 2,000
    assert shown["tokens_done"] == 7_200_000
    assert shown["tensor_engine_utilization"] == 42.0
    assert shown["usd_to_come"] is None


def test_a_job_that_compiles_is_one_container_with_its_minutes_and_dollars(desk: Desk) -> None:
    node = desk.details.pop(f"{JOB}#0")
    del desk.details[f"{JOB}#1"]
    whole = desk.details[JOB]
    del whole["nodeProperties"]
    whole |= {"attempts": node["attempts"], "container": node["container"]}
    shown = json.loads(desk.run("show", "prod", JOB, "--json").stdout)
    # 91 started minutes and 29, on one node; 120 x 21.50 / 60.
    assert (shown["nodes"], shown["node_minutes"], shown["usd_so_far"]) == (1, 120, 43.0)
    whole["status"] = "RUNNING"
    answer = desk.run("stop", "prod", JOB, "--drain", "--yes")
    assert "terminated: it saves no checkpoints" in answer.stdout


def test_a_job_that_runs_has_hours_and_dollars_to_come(desk: Desk) -> None:
    runs_again(desk)
    shown = json.loads(desk.run("show", "prod", JOB, "--json").stdout)
    # (1e9 - 7.2e6) / 2,000 / 3600 h; 2 nodes x 21.50.
    hours = 992_800_000 / 2_000 / 3_600
    assert shown["hours_to_come"] == pytest.approx(hours)
    assert shown["usd_to_come"] == pytest.approx(hours * 43.0)
    # 91 minutes and 6 started ones of the attempt that runs, twice.
    assert shown["node_minutes"] == 2 * 97


def test_a_job_is_found_by_its_name_in_the_file(desk: Desk) -> None:
    answer = desk.run("show", "prod", "llama-7b")
    assert answer.exit_code == 0
    assert f"{NAME} ({JOB}) on prod/trn1-pretrain, owner research" in answer.stdout
    assert "so far: $86.00 for 240 node-minutes; on-demand, 2026-10" in answer.stdout


def test_a_job_that_is_not_there_is_one_line(desk: Desk) -> None:
    answer = desk.run("show", "prod", "bert")
    assert (answer.exit_code, answer.stderr.strip()) == (
        1,
        "environment prod has no job bert: `fleet jobs list prod --all`",
    )


def test_jobs_that_ended_are_listed_when_asked_for(desk: Desk) -> None:
    assert json.loads(desk.run("list", "prod", "--json").stdout) == []
    (listed_one,) = json.loads(desk.run("list", "prod", "--all", "--json").stdout)[:1]
    assert (listed_one["job_name"], listed_one["nodes"], listed_one["owner"]) == (NAME, 2, "research")


def test_what_batch_says_is_told_as_it_stands_whatever_brackets_it_holds(desk: Desk) -> None:
    said = "[403] no [/v2]"
    desk.details[JOB]["statusReason"] = said
    desk.details[f"{JOB}#1"]["container"]["reason"] = said

    for command in (("list", "prod", "--all"), ("show", "prod", JOB)):
        told = desk.run(*command)
        assert (told.exit_code, told.exception) == (0, None)
        assert "[/v2]" in told.stdout


def test_a_fleet_that_is_new_in_the_file_does_not_hide_the_jobs_of_the_others(desk: Desk) -> None:
    known = desk.batch.answers["ssm:get_parameter"]
    missing = refused("ParameterNotFound")
    desk.batch.answers["ssm:get_parameter"] = lambda asked: (
        missing(asked) if asked["Name"].endswith("trn2-frontier") else known(asked)
    )
    assert len(json.loads(desk.run("list", "prod", "--all", "--json").stdout)) == 1
    desk.batch.answers["ssm:get_parameter"] = missing
    answer = desk.run("list", "prod")
    assert (answer.exit_code, "deploy neuron-fleet-prod-training" in answer.stderr) == (1, True)


def test_cloudwatch_that_does_not_answer_is_one_line(desk: Desk) -> None:
    desk.batch.answers["cloudwatch:get_metric_data"] = refused("InternalServiceFault")
    answer = desk.run("show", "prod", JOB)
    assert (answer.exit_code, answer.stderr.count("\n")) == (1, 1)
    assert "InternalServiceFault" in answer.stderr


def pages(desk: Desk) -> None:
    """A log of three events, whose last comes while somebody follows it."""
    said = [{"timestamp": index, "message": f"line {index}"} for index in range(3)]

    def page(asked: dict[str, Any]) -> dict[str, Any]:
        assert (asked["logGroupName"], asked["logStreamName"]) == ("/neuron-fleet/prod/jobs", "log-1130")
        token = asked.get("nextToken")
        if token is None:
            return {"events": said[:2], "nextForwardToken": "t2"}
        if token == "t2":
            for detail in desk.details.values():
                detail["status"] = "SUCCEEDED"
            return {"events": said[2:], "nextForwardToken": "t3"}
        return {"events": [], "nextForwardToken": token}

    desk.batch.answers["logs:get_log_events"] = page


def test_a_log_is_the_newest_attempts(desk: Desk) -> None:
    pages(desk)
    assert desk.run("logs", "prod", JOB, "--node", "1").stdout.splitlines() == ["line 0", "line 1"]


def test_a_log_is_followed_until_the_job_ends_and_nothing_is_told_twice(desk: Desk) -> None:
    pages(desk)
    desk.details[JOB]["status"] = "RUNNING"
    answer = desk.run("logs", "prod", JOB, "--follow", "--json")
    assert [json.loads(line)["message"] for line in answer.stdout.splitlines()] == ["line 0", "line 1", "line 2"]


def test_a_node_that_the_job_has_not_and_a_log_that_is_not_there_are_one_line(desk: Desk) -> None:
    assert "the last of which is 1" in desk.run("logs", "prod", JOB, "--node", "2").stderr
    desk.batch.answers["logs:get_log_events"] = refused("ResourceNotFoundException")
    answer = desk.run("logs", "prod", JOB)
    assert (answer.exit_code, "wrote nothing yet" in answer.stderr) == (1, True)


def test_a_job_is_stopped_only_when_the_person_says_so(desk: Desk) -> None:
    runs_again(desk)
    assert desk.run("stop", "prod", JOB, answer="n\n").exit_code == 1
    assert desk.batch.requests("batch:terminate_job") == []
    assert desk.run("stop", "prod", JOB, answer="y\n").exit_code == 0
    (asked,) = desk.batch.requests("batch:terminate_job")
    assert asked["jobId"] == JOB


def test_a_job_that_is_over_is_not_stopped(desk: Desk) -> None:
    answer = desk.run("stop", "prod", JOB, "--yes")
    assert (answer.exit_code, answer.stderr.strip()) == (1, f"{NAME} is over: SUCCEEDED")


def with_nodes(desk: Desk, ends_after: int) -> list[str]:
    """The job's nodes can be told something; after so many looks this attempt is over. What happened, in order."""
    happened: list[str] = []
    looks = 0

    def described(asked: dict[str, Any]) -> dict[str, Any]:
        nonlocal looks
        if asked["jobs"] == [JOB] and happened:
            looks += 1
            if looks >= ends_after:
                desk.details[JOB]["status"] = "RUNNABLE"
        return {"jobs": [desk.details[each] for each in asked["jobs"] if each in desk.details]}

    def told(asked: dict[str, Any]) -> dict[str, Any]:
        assert asked["InstanceIds"] == ["i-1", "i-2"]
        happened.append("drain" if "mv " in asked["Parameters"]["commands"][-1] else "go on")
        return {}

    def terminated(_: dict[str, Any]) -> dict[str, Any]:
        happened.append("terminate")
        return {}

    instances = {"containerInstances": [{"ec2InstanceId": "i-1"}, {"ec2InstanceId": "i-2"}]}
    desk.batch.answers |= {
        "batch:describe_jobs": described,
        "batch:terminate_job": terminated,
        "ecs:describe_container_instances": lambda _: instances,
        "ssm:send_command": told,
    }
    return happened


def test_a_drained_job_is_terminated_when_its_attempt_is_over_and_its_nodes_go_on(desk: Desk) -> None:
    runs_again(desk)
    happened = with_nodes(desk, ends_after=3)
    answer = desk.run("stop", "prod", JOB, "--drain", "--yes", "--json")
    assert json.loads(answer.stdout)["outcome"] == "drained"
    assert happened == ["drain", "terminate", "go on"]


def test_a_job_that_does_not_drain_is_terminated_in_time(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    runs_again(desk)
    # A second passes between two looks at the clock.
    monkeypatch.setattr("cli.jobs.stop.time.monotonic", count(0.0).__next__)
    happened = with_nodes(desk, ends_after=10**9)
    answer = desk.run("stop", "prod", JOB, "--drain", "--minutes", "0.1", "--yes")
    assert "terminated: it did not end within 0.1 minutes" in answer.stdout
    assert happened == ["drain", "terminate", "go on"]


def test_nodes_are_told_to_go_on_when_the_job_cannot_be_terminated(desk: Desk) -> None:
    runs_again(desk)
    happened = with_nodes(desk, ends_after=1)
    desk.batch.answers["batch:terminate_job"] = refused("ClientException")
    assert desk.run("stop", "prod", JOB, "--drain", "--yes").exit_code == 1
    assert happened == ["drain", "go on"]
