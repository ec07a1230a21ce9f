"""A precompilation that is started and followed ends with the exit code of what jobs and rollouts will find."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from cli.account import AwsError
from fleet import naming
from fleet.instances import Price, PriceKind
from fleet.prices.record import PriceRecord, to_item
from tests.support.cache_desk import LLAMA, MACHINE, OPTIONS, PLACES, CacheDesk
from tests.support.jobs import job, refused

COMMAND = ("--", "python", "train.py", "--steps", "2")
FLEET = ("--fleet", "trn1-pretrain")
NAME = "meta/llama r1, SDK 2.28, sequence lengths 4096"


@pytest.fixture
def desk(monkeypatch: pytest.MonkeyPatch) -> CacheDesk:
    found = CacheDesk(monkeypatch)
    found.account.steps = ["Begin", "Compile", "Compile", "Conclude"]
    return found


def ends(desk: CacheDesk, status: str, *, archived: bool, cause: str = "") -> None:
    def end(execution: dict[str, Any]) -> None:
        execution |= {"status": status, "cause": cause}
        if archived:
            desk.account.archive()

    desk.account.ends = end


def test_it_is_started_with_the_request_and_followed_step_by_step(desk: CacheDesk) -> None:
    ends(desk, "SUCCEEDED", archived=True)

    answer = desk.run("warm", "prod", *FLEET, *OPTIONS, *COMMAND)

    assert answer.exit_code == 0
    (asked,) = desk.account.requests("stepfunctions:start_execution")
    assert asked["stateMachineArn"] == MACHINE
    assert asked["name"].startswith(f"{LLAMA.prefix[-16:]}-")
    assert json.loads(asked["input"]) == {
        "fleet": "trn1-pretrain",
        "model": "meta/llama",
        "model_version": "r1",
        "sdk_version": "2.28",
        "sequence_lengths": [4096],
        "command": ["python", "train.py", "--steps", "2"],
    }
    assert answer.stdout.splitlines() == [
        f"{NAME}: one trn1.32xlarge of trn1-pretrain, $21.50 per node-hour, on-demand, AWS API, as of 2026-10-03",
        "started run-0",
        "looks whether it is there",
        "waits for a node, or compiles on it",
        "verifies what was compiled",
        f"{NAME}: ready, {LLAMA.prefix}",
    ]


def test_an_artifact_that_is_there_is_not_made_again(desk: CacheDesk) -> None:
    desk.account.archive()

    answer = desk.run("warm", "prod", *FLEET, *OPTIONS, *COMMAND)

    assert (answer.exit_code, answer.stdout.strip()) == (0, f"{NAME}: ready, {LLAMA.prefix}")
    assert desk.account.requests("stepfunctions:start_execution") == []


@pytest.mark.parametrize("status", ["FAILED", "TIMED_OUT", "ABORTED"])
def test_one_that_ends_badly_is_one_line_with_its_cause(desk: CacheDesk, status: str) -> None:
    ends(desk, status, archived=False, cause="2 of 5 graphs failed: NCC_EXTP004" if status == "FAILED" else "")

    answer = desk.run("warm", "prod", *FLEET, *OPTIONS, *COMMAND)

    why = "2 of 5 graphs failed: NCC_EXTP004" if status == "FAILED" else status
    assert (answer.exit_code, answer.stderr.strip()) == (1, f"{NAME}: not compiled: {why}")


def test_an_execution_that_calls_itself_done_is_not_believed_without_the_artifact(desk: CacheDesk) -> None:
    ends(desk, "SUCCEEDED", archived=False)

    answer = desk.run("warm", "prod", *FLEET, *OPTIONS, *COMMAND)

    assert answer.exit_code == 1
    assert "was never compiled" in answer.stderr


def test_json_is_one_object(desk: CacheDesk) -> None:
    ends(desk, "FAILED", archived=False, cause="no node came")

    answer = desk.run("warm", "prod", "--json", *FLEET, *OPTIONS, *COMMAND)
    content = json.loads(answer.stdout)

    assert (answer.exit_code, content["status"], content["why_not"]) == (1, "failed", "no node came")
    assert content["execution"].endswith(":run-0")


def test_without_waiting_it_is_started_and_left_alone(desk: CacheDesk) -> None:
    answer = desk.run("warm", "prod", "--no-wait", *FLEET, *OPTIONS, *COMMAND)

    assert answer.exit_code == 0
    assert "it goes on by itself" in answer.stdout
    assert desk.account.requests("stepfunctions:get_execution_history") == []


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ((*OPTIONS, *COMMAND), "--fleet: missing; it is compiled on a node of a training fleet"),
        ((*FLEET, *OPTIONS), "there is no command: end with -- and a short run that needs every graph"),
        ((*FLEET, *OPTIONS, "--", "neuron_parallel_compile", "x"), "leave that word out"),
    ],
)
def test_a_mistake_is_one_line_and_starts_nothing(desk: CacheDesk, arguments: tuple[str, ...], line: str) -> None:
    answer = desk.run("warm", "prod", *arguments)

    assert answer.exit_code == 1
    assert len(answer.stderr.splitlines()) == 1
    assert line in answer.stderr
    assert desk.account.requests("stepfunctions:start_execution") == []


def test_without_the_pipeline_it_says_what_to_deploy(desk: CacheDesk) -> None:
    desk.account.answers["stepfunctions:start_execution"] = refused("StateMachineDoesNotExist")

    answer = desk.run("warm", "prod", *FLEET, *OPTIONS, *COMMAND)

    assert (answer.exit_code, answer.stderr.strip()) == (
        1,
        "environment prod has no precompile pipeline: `cdk deploy -c env=prod`",
    )


def test_a_service_that_does_not_answer_is_one_line(desk: CacheDesk) -> None:
    def silent(_: dict[str, Any]) -> dict[str, Any]:
        raise AwsError("AWS did not answer stepfunctions:describe_execution: Read timeout")

    desk.account.answers["stepfunctions:describe_execution"] = silent
    answer = desk.run("warm", "prod", *FLEET, *OPTIONS, *COMMAND)

    assert (answer.exit_code, len(answer.stderr.splitlines())) == (1, 1)


def test_a_job_file_names_all_of_it(desk: CacheDesk, tmp_path: Path) -> None:
    ends(desk, "SUCCEEDED", archived=True)
    compiled = {"model": "meta/llama", "model_version": "r1", "sequence_lengths": [4096], "command": ["python", "a.py"]}
    content = job() | {"neuron_sdk": "2.28", "compiled": compiled}
    (tmp_path / "job.yaml").write_text(yaml.safe_dump(content))

    answer = desk.run("warm", "prod", "--job", str(tmp_path / "job.yaml"))

    assert answer.exit_code == 0
    (asked,) = desk.account.requests("stepfunctions:start_execution")
    told = json.loads(asked["input"])
    assert (told["fleet"], told["sdk_version"], told["command"]) == ("trn1-pretrain", "2.28", ["python", "a.py"])


@pytest.mark.parametrize(
    ("change", "line"),
    [
        ({}, "compiled: missing; write compiled: {model: …, model_version: …, sequence_lengths: […]}"),
        (
            {"compiled": {"model": "a", "model_version": "1", "sequence_lengths": [1]}},
            "nobody says which the image has",
        ),
        ({"compiled": {"model": "a", "model_version": "1"}}, "compiled.sequence_lengths: "),
    ],
)
def test_a_job_file_that_does_not_is_one_line(
    desk: CacheDesk, tmp_path: Path, change: dict[str, Any], line: str
) -> None:
    (tmp_path / "job.yaml").write_text(yaml.safe_dump(job() | change))

    answer = desk.run("warm", "prod", "--job", str(tmp_path / "job.yaml"))

    assert answer.exit_code == 1
    assert len(answer.stderr.splitlines()) == 1
    assert line in answer.stderr


def test_a_pool_has_no_queue_to_compile_in(desk: CacheDesk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(
        PLACES, naming.compile_cache_place_parameter("staging"), PLACES[naming.compile_cache_place_parameter("prod")]
    )
    answer = desk.run("warm", "staging", "--fleet", "trn1-spot", *OPTIONS, *COMMAND)

    assert answer.exit_code == 1
    assert "fleet trn1-spot is a pool" in answer.stderr
    assert "one of trn1-pretrain" in answer.stderr
    assert desk.account.requests("stepfunctions:start_execution") == []


def test_the_price_is_the_newest_that_is_kept(desk: CacheDesk) -> None:
    price = Price(PriceKind.ON_DEMAND, 23.0, "us-east-2", "2026-11-20", "AWS Price List", "sku 1")
    item = {
        name: {"S": text} for name, text in to_item(PriceRecord("trn1.32xlarge", price, "2026-11-20T05:00")).items()
    }
    desk.account.answers["dynamodb:get_item"] = lambda _: {"Item": item}

    answer = desk.run("warm", "prod", *FLEET, *OPTIONS, "--no-wait", *COMMAND)

    assert "$23.00 per node-hour, on-demand, AWS Price List, as of 2026-11-20" in answer.stdout
