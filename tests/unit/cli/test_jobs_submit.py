"""A job without a mistake is submitted once, to the fleet's own queue, whatever becomes of answers."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from cli.account import AwsError
from tests.support.jobs import BLOCK_ENDS, DEFINITION, IMAGE, QUEUE, Desk, lost, refused


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    return Desk(tmp_path, monkeypatch)


def variables(asked: dict[str, Any]) -> dict[str, str]:
    (override,) = asked["nodeOverrides"]["nodePropertyOverrides"]
    return {each["name"]: each["value"] for each in override["containerOverrides"]["environment"]}


def test_hours_and_dollars_are_told_with_their_basis_before_anybody_is_asked(desk: Desk) -> None:
    desk.content["throughput"] = {"basis": "measured", "tokens_per_second": 50_000, "source": "run of 2026-11-02"}
    # 3.6e9 / 50,000 / 3600 = 20 h; 16 nodes x 21.50 = 344 an hour.
    desk.content["tokens_wanted"] = 3.6e9

    answer = desk.submit(answer="n\n")

    assert answer.exit_code == 1
    assert "512 ranks = tensor 8 x pipeline 4 x data 16" in answer.stdout
    assert "expected: 20.0 h at 50,000 tokens/s (measured: run of 2026-11-02)" in answer.stdout
    assert "cost: $6,880.00 at $344.00 an hour for all nodes; on-demand, 2026-10" in answer.stdout
    assert desk.submitted == []


def test_one_job_is_submitted_with_all_that_batch_and_the_containers_must_know(desk: Desk) -> None:
    desk.content |= {"longest_hours": 30, "priority": 7, "variables": {"LOG_LEVEL": "debug"}}
    desk.content["checkpoint"]["every_minutes"] = 20
    answer = desk.submit(answer="y\n")

    assert answer.exit_code == 0
    (asked,) = desk.submitted
    name = asked["jobName"]
    assert name.startswith("llama-7b-")
    assert len(name) == len("llama-7b-") + 8
    assert (asked["jobQueue"], asked["jobDefinition"]) == (QUEUE, DEFINITION)
    assert (asked["shareIdentifier"], asked["schedulingPriorityOverride"]) == ("foundationmodels", 7)
    # 30 h
    assert asked["timeout"] == {"attemptDurationSeconds": 108_000}
    assert asked["nodeOverrides"]["numNodes"] == 16
    (override,) = asked["nodeOverrides"]["nodePropertyOverrides"]
    assert override["targetNodes"] == "0:"
    assert override["containerOverrides"]["command"] == ["python", "train.py"]
    assert asked["parameters"] == {
        "checkpoint": "s3://checkpoints/llama-7b",
        "tokens_wanted": "1e+09",
        "world_size": "512",
    }
    assert asked["tags"] == {
        "project": "neuron-fleet",
        "environment": "prod",
        "fleet": "trn1-pretrain",
        "owner": "foundation-models",
        "job": "llama-7b",
    }
    assert variables(asked) == {
        "NEURON_FLEET_JOB": "llama-7b",
        "NEURON_FLEET_OWNER": "foundation-models",
        "NEURON_FLEET_RANKS_PER_NODE": "32",
        "NEURON_FLEET_WORLD_SIZE": "512",
        "NEURON_FLEET_TENSOR_PARALLEL": "8",
        "NEURON_FLEET_PIPELINE_PARALLEL": "4",
        "NEURON_FLEET_DATA_PARALLEL": "16",
        "NEURON_FLEET_CHECKPOINT": "s3://checkpoints/llama-7b",
        "NEURON_FLEET_CHECKPOINT_STEPS": "500",
        "NEURON_FLEET_CHECKPOINT_MINUTES": "20",
        "NEURON_FLEET_TOKENS_WANTED": "1000000000",
        "LOG_LEVEL": "debug",
    }


def test_json_holds_the_plan_the_request_and_the_job(desk: Desk) -> None:
    answer = desk.submit("--yes", "--json")
    content = json.loads(answer.stdout)
    assert content["plan"]["world_size"] == 512
    assert content["request"]["jobQueue"] == QUEUE
    assert content["submitted"] == {"job_id": "job-1", "job_name": desk.submitted[0]["jobName"]}
    assert [each["severity"] for each in content["findings"] if each["severity"] == "error"] == []


def test_json_never_waits_for_an_answer(desk: Desk) -> None:
    answer = desk.submit("--json")
    assert (answer.exit_code, desk.submitted) == (1, [])
    assert "add --yes or --dry-run" in answer.stderr


def test_a_dry_run_asks_aws_nothing(desk: Desk) -> None:
    answer = desk.submit("--dry-run")
    assert (answer.exit_code, desk.batch.calls) == (0, [])
    assert "512 ranks" in answer.stdout


def test_a_lost_answer_is_looked_up_and_the_job_is_not_submitted_twice(desk: Desk) -> None:
    def heard(asked: dict[str, Any]) -> dict[str, Any]:
        desk.batch.submit(asked)
        return lost(asked)

    desk.batch.answers["batch:submit_job"] = heard
    answer = desk.submit("--yes", "--json")
    assert json.loads(answer.stdout)["submitted"]["job_id"] == "job-1"
    assert len(desk.batch.jobs) == 1


def test_an_answer_of_something_else_is_as_good_as_lost(desk: Desk) -> None:
    def proxied(asked: dict[str, Any]) -> dict[str, Any]:
        desk.batch.submit(asked)
        return {}

    desk.batch.answers["batch:submit_job"] = proxied
    assert desk.submit("--yes").exit_code == 0
    assert len(desk.batch.jobs) == 1


def test_a_submission_that_was_not_heard_is_said_again_under_the_same_name(desk: Desk) -> None:
    attempts: list[str] = []

    def second_time(asked: dict[str, Any]) -> dict[str, Any]:
        attempts.append(asked["jobName"])
        return lost(asked) if len(attempts) == 1 else desk.batch.submit(asked)

    desk.batch.answers["batch:submit_job"] = second_time
    assert desk.submit("--yes").exit_code == 0
    assert len(desk.batch.jobs) == 1
    assert len(set(attempts)) == 1


def test_when_the_queue_cannot_be_looked_at_it_is_not_said_again(desk: Desk) -> None:
    desk.batch.answers |= {"batch:submit_job": lost, "batch:list_jobs": refused("ServerException")}
    answer = desk.submit("--yes")
    assert answer.exit_code == 1
    assert "nobody knows whether llama-7b-" in answer.stderr
    assert "before you submit it again" in answer.stderr
    assert len(desk.submitted) == 1


def test_a_refusal_is_not_said_again(desk: Desk) -> None:
    desk.batch.answers["batch:submit_job"] = refused("ClientException", "the queue is disabled")
    answer = desk.submit("--yes")
    assert "the queue is disabled" in answer.stderr
    assert (answer.exit_code, len(desk.submitted)) == (1, 1)


def test_another_image_gets_a_copy_of_the_fleets_definition_and_is_told_so(desk: Desk) -> None:
    own = {
        "jobDefinitionArn": DEFINITION,
        "jobDefinitionName": "pretrain",
        "revision": 7,
        "status": "ACTIVE",
        "type": "multinode",
        "tags": {"fleet": "trn1-pretrain", "aws:cloudformation:stack-name": "training"},
        "nodeProperties": {
            "numNodes": 16,
            "mainNode": 0,
            "nodeRangeProperties": [{"targetNodes": "0:", "container": {"image": IMAGE}}],
        },
    }
    copies: list[dict[str, Any]] = []

    def described(asked: dict[str, Any]) -> dict[str, Any]:
        return {"jobDefinitions": [own] if "jobDefinitions" in asked else copies}

    def registered(asked: dict[str, Any]) -> dict[str, Any]:
        copies.append({"jobDefinitionArn": f"{asked['jobDefinitionName']}:1"})
        return copies[-1]

    desk.batch.answers |= {
        "batch:describe_job_definitions": described,
        "batch:register_job_definition": registered,
    }
    newer = f"{IMAGE}-fixed"
    desk.content["image"] = newer

    answers = [desk.submit("--yes") for _ in range(2)]

    assert "a copy of the fleet's with this image, is registered unless it is there" in answers[0].stdout
    (made,) = desk.batch.requests("batch:register_job_definition")
    assert made["nodeProperties"]["nodeRangeProperties"][0]["container"]["image"] == newer
    assert made["tags"] == {"fleet": "trn1-pretrain"}
    # The second submission finds the copy.
    assert [asked["jobDefinition"] for asked in desk.submitted] == [f"{made['jobDefinitionName']}:1"] * 2


def test_a_job_in_a_block_is_ended_before_the_end_that_ec2_tells_now(desk: Desk) -> None:
    desk.content |= {"fleet": "trn2-frontier", "nodes": 8, "parallel": {"tensor": 4}, "image": IMAGE}
    block = {
        "CapacityReservationId": "cr-0a1b2c3d4e5f60718",
        "State": "active",
        "TotalInstanceCount": 8,
        "EndDate": datetime.now(UTC) + timedelta(hours=50),
    }
    desk.batch.answers["ec2:describe_capacity_reservations"] = lambda _: {"CapacityReservations": [block]}
    assert desk.submit("--yes").exit_code == 0
    block["EndDate"] = BLOCK_ENDS
    assert desk.submit("--yes").exit_code == 0
    first, second = (asked["timeout"]["attemptDurationSeconds"] for asked in desk.submitted)
    # 50 h - 35 min, less what the test itself took; the fleet's own 14 days are never outstayed.
    assert 177_900 - 120 < first <= 177_900
    assert second == 1_209_600


def test_a_fleet_whose_block_is_over_takes_no_job(desk: Desk) -> None:
    desk.content |= {"fleet": "trn2-frontier", "nodes": 8, "parallel": {"tensor": 4}}
    gone = {"CapacityReservationId": "cr-0a1b2c3d4e5f60718", "State": "expired", "EndDate": BLOCK_ENDS}
    desk.batch.answers["ec2:describe_capacity_reservations"] = lambda _: {"CapacityReservations": [gone]}
    answer = desk.submit("--yes")
    assert "has no Capacity Block now (cr-0a1b2c3d4e5f60718 is expired)" in answer.stderr
    assert (answer.exit_code, desk.submitted) == (1, [])


def test_an_account_that_does_not_answer_is_one_line(desk: Desk) -> None:
    def silent(_: dict[str, Any]) -> dict[str, Any]:
        raise AwsError("AWS did not answer ssm:get_parameter: Connect timeout")

    desk.batch.answers["ssm:get_parameter"] = silent
    answer = desk.submit("--yes")
    (line,) = answer.stderr.splitlines()
    assert "AWS did not answer ssm:get_parameter" in line
    assert (answer.exit_code, desk.submitted) == (1, [])
