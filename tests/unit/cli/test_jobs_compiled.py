"""A job whose graphs are not compiled is not submitted; it may wait while somebody compiles them."""

import json
from pathlib import Path
from typing import Any

import pytest

from fleet.compile_cache.artifact import Artifact
from tests.support.cache_desk import CacheAccount
from tests.support.jobs import Desk, refused

LLAMA = Artifact("meta/llama", "r1", "2.28", (4096,))
REQUEST = {
    "fleet": "trn1-pretrain",
    "model": "meta/llama",
    "model_version": "r1",
    "sdk_version": "2.28",
    "sequence_lengths": [4096],
    "command": ["python", "train.py"],
}


class CompiledDesk(Desk):
    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        super().__init__(folder, monkeypatch)
        self.batch = self.account = CacheAccount()
        monkeypatch.setattr("cli.jobs.submit.Account", self._account)
        monkeypatch.setattr("cli.jobs.submit._POLL_SECONDS", 0.0)
        self.content |= {
            "neuron_sdk": "2.28",
            "compiled": {"model": "meta/llama", "model_version": "r1", "sequence_lengths": [4096]},
        }


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CompiledDesk:
    return CompiledDesk(tmp_path, monkeypatch)


def test_a_job_whose_graphs_are_there_is_submitted(desk: CompiledDesk) -> None:
    desk.account.archive()

    answer = desk.submit("--yes")

    assert (answer.exit_code, len(desk.submitted)) == (0, 1)


def test_one_whose_graphs_are_not_is_one_line_with_the_command_that_makes_them(desk: CompiledDesk) -> None:
    answer = desk.submit("--yes")

    (line,) = answer.stderr.splitlines()
    assert line.endswith(
        "compiled: meta/llama r1, SDK 2.28, sequence lengths 4096: was never compiled; make it with `fleet cache warm "
        f"prod --job {desk.folder / 'job.yaml'}`, or add --wait-for-graphs [graphs-not-ready]"
    )
    assert (answer.exit_code, desk.submitted) == (1, [])


def test_by_its_files_alone_nobody_looks(desk: CompiledDesk) -> None:
    assert (desk.submit("--dry-run").exit_code, desk.batch.calls) == (0, [])


def test_a_job_waits_for_the_precompilation_that_runs_and_is_submitted_then(desk: CompiledDesk) -> None:
    desk.account.execution("RUNNING", REQUEST)
    desk.account.steps = ["Compile", "Compile"]

    def end(execution: dict[str, Any]) -> None:
        execution["status"] = "SUCCEEDED"
        desk.account.archive()

    desk.account.ends = end
    answer = desk.submit("--yes", "--wait-for-graphs")

    assert (answer.exit_code, len(desk.submitted)) == (0, 1)
    assert answer.stdout.startswith("waits for run-0, which compiles the job's graphs since 20")


def test_it_waits_for_one_that_an_object_asked_for_too(desk: CompiledDesk) -> None:
    key = "models/trn1-pretrain/meta/llama/r1.json"
    desk.account.objects[key] = json.dumps(REQUEST).encode()
    desk.account.execution("RUNNING", {"object": key})

    def end(execution: dict[str, Any]) -> None:
        execution["status"] = "SUCCEEDED"
        desk.account.archive()

    desk.account.ends = end

    assert desk.submit("--yes", "--wait-for-graphs").exit_code == 0


def test_one_that_fails_ends_the_wait(desk: CompiledDesk) -> None:
    desk.account.execution("RUNNING", REQUEST)
    desk.account.ends = lambda execution: execution.update({"status": "FAILED", "cause": "NCC_EXTP004"})

    answer = desk.submit("--yes", "--wait-for-graphs")

    assert (answer.exit_code, desk.submitted) == (1, [])
    assert "run-0: failed: NCC_EXTP004" in answer.stderr
    assert "[graphs-not-ready]" in answer.stderr


@pytest.mark.parametrize("change", [{"model_version": "r2"}, {"sequence_lengths": [2048]}, {"sdk_version": "2.30"}])
def test_nobody_waits_for_a_precompilation_of_something_else(desk: CompiledDesk, change: dict[str, Any]) -> None:
    desk.account.execution("RUNNING", REQUEST | change)

    answer = desk.submit("--yes", "--wait-for-graphs")

    assert (answer.exit_code, desk.submitted) == (1, [])
    assert "[graphs-not-ready]" in answer.stderr


def test_a_job_with_another_mistake_waits_for_nothing(desk: CompiledDesk) -> None:
    desk.account.execution("RUNNING", REQUEST)
    desk.content["nodes"] = 99

    answer = desk.submit("--yes", "--wait-for-graphs")

    assert answer.exit_code == 1
    assert desk.account.requests("stepfunctions:describe_execution") == []


def test_nor_does_one_whose_image_is_not_there(desk: CompiledDesk) -> None:
    desk.account.execution("RUNNING", REQUEST)
    desk.batch.answers["ecr:describe_images"] = refused("ImageNotFoundException")

    answer = desk.submit("--yes", "--wait-for-graphs")

    assert answer.exit_code == 1
    assert "[image-not-found]" in answer.stderr
    assert desk.account.requests("stepfunctions:describe_execution") == []


def test_the_sdk_is_that_of_the_images_tag_where_the_file_says_none(desk: CompiledDesk) -> None:
    desk.content["image"] = "111122223333.dkr.ecr.us-east-2.amazonaws.com/training:llama-sdk2.28"
    del desk.content["neuron_sdk"]

    assert "SDK 2.28, sequence lengths 4096: was never compiled" in desk.submit("--yes").stderr


@pytest.mark.parametrize(
    ("change", "line"),
    [
        ({"neuron_sdk": None}, 'nobody says which the image has; add neuron_sdk, such as "2.28" [sdk-not-stated]'),
        ({"compiled": {"model": "a", "model_version": "1"}}, "compiled.sequence_lengths"),
        ({"compiled": {"model": "a", "model_version": "1", "sequence_lengths": [0]}}, "compiled.sequence_lengths"),
        ({"compiled": "llama"}, "an artifact, such as {model: meta/llama"),
        ({"compiled": {"model": " ", "model_version": "1", "sequence_lengths": [1]}}, "an artifact needs a model"),
    ],
)
def test_a_mistake_is_one_line(desk: CompiledDesk, change: dict[str, Any], line: str) -> None:
    desk.content |= change

    answer = desk.submit("--yes")

    assert (answer.exit_code, desk.submitted) == (1, [])
    assert len(answer.stderr.splitlines()) == 1
    assert line in answer.stderr


def test_a_dry_run_does_not_wait(desk: CompiledDesk) -> None:
    assert "leave --wait-for-graphs out" in desk.submit("--dry-run", "--wait-for-graphs").stderr
