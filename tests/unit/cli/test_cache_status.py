"""What `fleet cache status` and `check` say of a cache, and of one that is not there."""

import json
import time
from typing import Any

import pytest

from cli.account import AwsError
from fleet.compile_cache.artifact import Artifact
from fleet.compile_cache.lease import Row, State
from tests.support.cache_desk import COMPILER, GRAPHS, LLAMA, MACHINE, OPTIONS, CacheDesk
from tests.support.jobs import refused

REQUEST = {
    "fleet": "trn1-pretrain",
    "model": "meta/llama",
    "model_version": "r1",
    "sdk_version": "2.28",
    "sequence_lengths": [4096],
    "command": ["python", "train.py"],
}


@pytest.fixture
def desk(monkeypatch: pytest.MonkeyPatch) -> CacheDesk:
    return CacheDesk(monkeypatch)


def status(desk: CacheDesk, *options: str) -> Any:
    return json.loads(desk.run("status", "prod", "--json", *options).stdout)


def test_artifacts_are_told_with_their_graphs_size_sdk_and_compiler(desk: CacheDesk) -> None:
    desk.account.archive()
    desk.account.archive(Artifact("bert", "7", "2.30", (128, 512)), GRAPHS[:1])

    by_model = {each["model"]: each for each in status(desk)["artifacts"]}

    llama = by_model["meta/llama"]
    assert (llama["hash"], llama["graphs"], llama["graphs_missing"]) == (LLAMA.prefix[-16:], 3, 0)
    assert llama["bytes"] == 3_000 + len(desk.account.objects[f"{LLAMA.prefix}/index.json"])
    assert (llama["neuron_sdk"], llama["compilers"], llama["sequence_lengths"]) == ("2.28", [COMPILER], [4096])
    assert by_model["bert"]["sequence_lengths"] == [128, 512]


def test_graphs_without_an_index_are_no_artifact(desk: CacheDesk) -> None:
    desk.account.archive()
    del desk.account.objects[f"{LLAMA.prefix}/index.json"]

    assert status(desk)["artifacts"] == []


def test_an_index_that_cannot_be_read_is_told_and_hides_nothing(desk: CacheDesk) -> None:
    desk.account.archive()
    desk.account.objects["neuron-artifacts/x/0123456789abcdef/index.json"] = b"{"

    answer = desk.run("status", "prod")

    assert "neuron-artifacts/x/0123456789abcdef/index.json: damaged" in answer.stdout
    assert "meta/llama" in answer.stdout


def rows(desk: CacheDesk) -> None:
    now = time.time()
    live, dead = now + 50, now - 3600
    desk.account.lease(GRAPHS[0], Row(3, 1, State.COMPILING, "a", live, now))
    desk.account.lease(GRAPHS[1], Row(9, 2, State.PROMOTING, "b", dead, dead))
    desk.account.lease(GRAPHS[2], Row(4, 2, State.FAILED, "c", now + 3000, now, 2, reason="NCC_EXTP004: no such op"))


def test_leases_are_held_stuck_and_refused_with_the_compilers_words(desk: CacheDesk) -> None:
    rows(desk)

    seen = status(desk)

    assert seen["leases"] == {"held": 1, "stuck": 1, "refused": 1}
    standings = {each["graph"]: (each["standing"], each["reason"]) for each in seen["leases_not_at_rest"]}
    assert standings[str(GRAPHS[2])] == ("refused", "NCC_EXTP004: no such op")
    assert standings[str(GRAPHS[1])] == ("stuck", "")
    assert "leases: 1 held, 1 stuck, 0 failed, 1 refused, 0 at rest" in desk.run("status", "prod").stdout


def test_the_compilers_words_are_told_as_they_stand_whatever_brackets_they_hold(desk: CacheDesk) -> None:
    now = time.time()
    desk.account.lease(GRAPHS[0], Row(4, 2, State.FAILED, "c", now + 3000, now, 2, reason="[NCC_1] [/opt]"))

    told = desk.run("status", "prod")

    assert (told.exit_code, told.exception) == (0, None)
    assert "[NCC_1]" in told.stdout


def test_precompilations_that_run_and_that_failed_are_told_by_fleet(desk: CacheDesk) -> None:
    desk.account.execution("RUNNING", REQUEST)
    desk.account.execution("FAILED", {"object": "models/trn2-frontier/bert/7.json"}, "2 graphs failed:\nNCC_EXTP004")

    everything, one = status(desk), status(desk, "--fleet", "trn2-frontier")

    assert [each["model"] for each in everything["running"]] == ["meta/llama"]
    assert [each["cause"] for each in everything["failed"]] == ["2 graphs failed: NCC_EXTP004"]
    assert (one["running"], len(one["failed"])) == ([], 1)
    assert "models/trn2-frontier/bert/7.json" in desk.run("status", "prod").stdout


def test_a_cache_without_its_pipeline_is_shown_all_the_same(desk: CacheDesk) -> None:
    desk.account.answers["stepfunctions:list_executions"] = refused("StateMachineDoesNotExist")

    assert (status(desk)["running"], status(desk)["failed"]) == (None, None)
    assert "no precompile pipeline is deployed" in desk.run("status", "prod").stdout


def test_an_environment_without_the_cache_is_one_line(desk: CacheDesk) -> None:
    desk.account.answers["ssm:get_parameter"] = refused("ParameterNotFound")

    answer = desk.run("status", "prod")

    assert answer.exit_code == 1
    assert answer.stderr == (
        "there is no parameter /neuron-fleet/prod/compile-cache: deploy neuron-fleet-prod-compile-cache with "
        "`cdk deploy -c env=prod`\n"
    )


@pytest.mark.parametrize("call", ["s3:list_objects_v2", "dynamodb:scan", "stepfunctions:list_executions"])
def test_a_service_that_does_not_answer_is_one_line(desk: CacheDesk, call: str) -> None:
    def silent(_: dict[str, Any]) -> dict[str, Any]:
        raise AwsError(f"AWS did not answer {call}: Connect timeout")

    desk.account.answers[call] = silent
    answer = desk.run("status", "prod")

    assert (answer.exit_code, answer.stderr.strip()) == (1, f"AWS did not answer {call}: Connect timeout")


def test_an_artifact_that_is_there_is_ready(desk: CacheDesk) -> None:
    desk.account.archive()

    answer = desk.run("check", "prod", *OPTIONS)

    assert (answer.exit_code, answer.stdout.strip()) == (
        0,
        f"meta/llama r1, SDK 2.28, sequence lengths 4096: ready, {LLAMA.prefix}",
    )


def test_one_that_is_not_there_says_why_and_who_makes_it(desk: CacheDesk) -> None:
    desk.account.archive(Artifact("meta/llama", "r0", "2.28", (4096,)))
    run = desk.account.execution("RUNNING", REQUEST)

    answer = desk.run("check", "prod", *OPTIONS)
    seen = json.loads(desk.run("check", "prod", *OPTIONS, "--json").stdout)

    assert answer.exit_code == 1
    assert "was never compiled; what is there has model version r0; run-0 compiles it since 20" in answer.stderr
    assert (seen["ready"], seen["being_compiled_by"]) == (False, run)
    assert run.startswith(MACHINE.replace("stateMachine", "execution"))


@pytest.mark.parametrize(
    ("options", "line"),
    [
        ((), "--model, --model-version, --sequence-lengths: missing; or name a job file with --job"),
        (OPTIONS[:4], "--sequence-lengths: missing; or name a job file with --job"),
        ((*OPTIONS[:4], *OPTIONS[6:]), "nobody says the SDK: add --sdk-version, such as 2.28"),
        ((*OPTIONS[:7], "4k"), "not sequence lengths, such as 128,512, or 128,512x1,4 with batch sizes: 4k"),
        (
            (*OPTIONS, "--fleet", "inf2-chat"),
            "inf2-chat is no training fleet of prod; known: trn1-pretrain, trn2-frontier",
        ),
        (
            (*OPTIONS[:4], *OPTIONS[6:], "--fleet", "trn1-pretrain"),
            "fleet trn1-pretrain does not say its SDK: add --sdk-version, such as 2.28",
        ),
    ],
)
def test_a_mistake_is_one_line_with_its_fix(desk: CacheDesk, options: tuple[str, ...], line: str) -> None:
    answer = desk.run("check", "prod", *options)

    assert (answer.exit_code, answer.stderr.strip()) == (1, line)
    assert desk.account.calls == []
