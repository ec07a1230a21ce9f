"""`fleet jobs` on a pool: the same commands, the same words, another engine."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from cli.jobs import pools
from environments import loader
from fleet.pool.job import Attempt, Phase, PoolJob, Rank, submitted
from tests.support.pool_desk import TABLE, PoolDesk
from tests.support.pool_world import order

JOB = "11111111-2222-4333-8444-555555555555"
THEN = datetime(2026, 11, 20, 10, 0, tzinfo=UTC)


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> PoolDesk:
    return PoolDesk(tmp_path, monkeypatch)


def ended() -> PoolJob:
    """Two nodes: 90.5 minutes until a host failed, and 29 minutes to the end."""
    attempts = []
    for number, (start, minutes, code) in enumerate(((THEN, 90.5, 75), (THEN + timedelta(hours=2), 29, 0)), start=1):
        ranks = tuple(
            Rank(
                index, f"i-{index}", f"container-instance/{index}", f"10.0.0.{index}", "trn1.32xlarge",
                task=f"arn:aws:ecs:us-east-2:111122224444:task/pool/task-{number}-{index}",
                started_at=start, stopped_at=start + timedelta(minutes=minutes), exit_code=code,
                stop_code="EssentialContainerExited",
            )
            for index in range(2)
        )  # fmt: skip
        attempts.append(Attempt(number, start, ranks))
    asked = replace(order("llama-7b-0a1b2c3d", job="llama-7b", owner="research", tokens_wanted=1e9), job_id=JOB)
    return PoolJob(asked, Phase.SUCCEEDED, THEN + timedelta(minutes=149), attempts=tuple(attempts))


def test_a_submission_is_written_down_once_with_all_that_the_containers_must_know(desk: PoolDesk) -> None:
    desk.content |= {"longest_hours": 30, "priority": 7, "variables": {"LOG_LEVEL": "debug"}}
    answer = desk.submit("--yes")
    assert answer.exit_code == 0, answer.output
    assert "expected" in answer.stdout
    (job,) = desk.jobs
    asked = job.order
    assert (job.phase, job.attempts) == (Phase.WAITING, ())
    assert asked.name.startswith("llama-7b-")
    assert (asked.fleet, asked.owner, asked.nodes, asked.priority, asked.attempts) == (
        "trn1-spot", "foundation-models", 4, 7, 3,
    )  # fmt: skip
    assert (asked.command, asked.timeout_seconds) == (("python", "train.py"), 108_000)
    told = dict(asked.variables)
    assert (told["NEURON_FLEET_WORLD_SIZE"], told["NEURON_FLEET_RANKS_PER_NODE"], told["LOG_LEVEL"]) == (
        "128", "32", "debug",
    )  # fmt: skip
    assert f"submitted {asked.name}, {asked.job_id}" in answer.stdout
    assert not [name for name, _ in desk.batch.calls if name.startswith("batch:")]


def test_an_answer_that_was_lost_is_asked_for_again_and_writes_nothing_twice(desk: PoolDesk) -> None:
    asked = replace(order(), job_id=JOB)
    environment = loader.load("staging")
    assert pools.send(desk.batch, environment, asked) == JOB
    assert pools.send(desk.batch, environment, asked) == JOB
    assert len(desk.items) == 1


@pytest.mark.parametrize(
    ("mistake", "line"),
    [
        ({"image": "111122224444.dkr.ecr.us-east-2.amazonaws.com/training:other"}, "image-not-the-pools"),
        ({"nodes": 5}, "nodes"),
        ({"parallel": {"tensor": 7}}, "parallel"),
    ],
)
def test_a_mistake_is_one_line_and_nothing_is_submitted(desk: PoolDesk, mistake: dict[str, object], line: str) -> None:
    desk.content |= mistake
    answer = desk.submit("--yes")
    assert answer.exit_code == 1
    assert line in answer.output
    assert desk.items == {}


def test_a_job_is_listed_and_shown_with_its_attempts_and_dollars(desk: PoolDesk) -> None:
    desk.put(ended())
    desk.batch.answers["batch:list_jobs"] = lambda _: {"jobSummaryList": []}
    assert desk.shown("list", "staging") == []
    (listed,) = desk.shown("list", "staging", "--all")
    assert (listed["job_name"], listed["status"], listed["attempts_ended"]) == ("llama-7b-0a1b2c3d", "SUCCEEDED", 2)
    for name in (JOB, "llama-7b", "llama-7b-0a1b2c3d"):
        shown = desk.shown("show", "staging", name)
        # 2 nodes x (91 + 29) started minutes
        assert shown["node_minutes"] == 240
        assert [each["minutes"] for each in shown["per_node"]] == [120, 120]
        price = shown["price"]
        assert (price["kind"], shown["usd_so_far"]) == ("spot", pytest.approx(4 * price["usd_per_hour"], abs=0.005))


def test_a_nodes_log_is_that_of_its_newest_container(desk: PoolDesk) -> None:
    desk.put(ended())
    desk.batch.answers["logs:get_log_events"] = lambda asked: {
        "events": [{"timestamp": 1, "message": asked["logStreamName"]}], "nextForwardToken": "end",
    }  # fmt: skip
    answer = desk.run("logs", "staging", "llama-7b", "--node", "1")
    assert answer.stdout == "trn1-spot/training/task-2-1\n"


def test_a_stop_is_written_beside_the_job_and_told(desk: PoolDesk) -> None:
    waiting = submitted(replace(order("llama-7b-0a1b2c3d"), job_id=JOB))
    desk.put(waiting)
    answer = desk.run("stop", "staging", JOB, "--yes")
    assert "told to stop: within a minute its containers get SIGTERM, and 10 minutes to save" in answer.stdout
    (asked,) = desk.batch.requests("dynamodb:update_item")
    assert asked["TableName"] == TABLE
    assert asked["Key"] == {"fleet": {"S": "trn1-spot"}, "item": {"S": f"job/{JOB}"}}
    assert desk.jobs == [waiting]
    assert desk.shown("show", "staging", JOB)["reason"] == "to be stopped by `fleet jobs stop`"


def test_a_job_that_is_over_is_not_stopped(desk: PoolDesk) -> None:
    desk.put(ended())
    answer = desk.run("stop", "staging", JOB, "--yes")
    assert answer.exit_code == 1
    assert "is over: SUCCEEDED" in answer.output
