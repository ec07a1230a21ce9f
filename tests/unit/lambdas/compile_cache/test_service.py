"""What an execution is told to do, and what it is told of its job's end."""

import json
from typing import Any

import pytest

from fleet.compile_cache.artifact import Artifact
from fleet.compile_cache.precompilation import Precompilation, Stage
from fleet.compile_cache.request import read
from lambdas.compile_cache import service
from tests.unit.lambdas.compile_cache.conftest import Account

LLAMA = Artifact("meta/llama", "r1", "2.30", (2048, 4096))
REQUEST: dict[str, Any] = {
    "fleet": "trn1-pretrain",
    "model": "meta/llama",
    "model_version": "r1",
    "sdk_version": "2.30",
    "sequence_lengths": [4096, 2048],
    "command": ["torchrun", "train.py"],
}
NOW = 1_000.0


def begin(account: Account, execution: str = "me", request: object = REQUEST, before: object = None) -> dict[str, Any]:
    return service.begin(account.world(), execution, request, before, NOW)


def conclude(account: Account, execution: str = "me", **more: Any) -> dict[str, Any]:
    begun = begin(account, execution) if LLAMA.prefix not in account.held else {"artifact": LLAMA.identity}
    return service.conclude(account.world(), execution, {"artifact": LLAMA.identity, **begun, **more}, NOW + 60)


def test_what_is_not_there_is_compiled_on_the_fleet_that_is_named(account: Account) -> None:
    answer = begin(account)

    digest = LLAMA.prefix.rpartition("/")[2]
    assert answer == {
        "step": "compile",
        "artifact": LLAMA.identity,
        "prefix": LLAMA.prefix,
        "token": 1,
        "job": {
            "name": f"precompile-meta-llama-{digest}",
            "queue": "queue-of-trn1-pretrain",
            "definition": "definition-of-trn1-pretrain",
            "share": "foundationmodels",
            "tags": {"fleet": "trn1-pretrain"},
            "command": [
                *("python", "-m", "workload.precompile", "meta/llama", "r1", "2.30", "2048,4096", "--"),
                *("torchrun", "train.py"),
            ],
        },
    }
    assert account.held == {LLAMA.prefix: Precompilation(1, Stage.COMPILING, "me", NOW)}
    # Asked again, because the answer was lost.
    assert begin(account) == answer


def test_what_is_there_is_not_compiled_again(account: Account) -> None:
    account.there[LLAMA.prefix] = 7
    answer = begin(account)
    assert (answer["step"], answer["graphs"], answer["compiled"]) == ("ready", 7, False)
    assert account.held == {}


def test_the_longest_name_of_a_model_makes_a_name_of_a_job(account: Account) -> None:
    job = begin(account, request=REQUEST | {"model": "ä/" * 100})["job"]
    assert len(job["name"]) <= 128
    assert job["name"].isascii()


def test_a_second_execution_waits_and_then_finds_what_came_of_it(account: Account) -> None:
    begin(account, "first")
    account.alive = {"first"}
    waits = begin(account, "second")
    assert (waits["step"], waits["token"]) == ("wait", 1)

    account.there[LLAMA.prefix] = 2
    conclude(account, "first")
    assert begin(account, "second", before=waits)["step"] == "ready"


def test_a_second_execution_fails_with_the_first_and_a_later_one_tries_again(account: Account) -> None:
    begin(account, "first")
    account.alive = {"first"}
    waits = begin(account, "second")

    assert conclude(account, "first", failure={"Error": "States.Timeout", "Cause": ""})["reason"] == "States.Timeout"

    assert begin(account, "second", before=waits) == {"step": "failed", "reason": "States.Timeout"}
    assert begin(account, "third")["token"] == 2


def test_whoever_died_is_replaced_and_cannot_conclude_for_the_next(account: Account) -> None:
    begin(account, "dead")
    assert begin(account, "next")["token"] == 2

    conclude(account, "dead")

    assert account.held[LLAMA.prefix] == Precompilation(2, Stage.COMPILING, "next", NOW)


def test_a_job_that_ended_well_and_left_no_artifact_has_failed(account: Account) -> None:
    answer = conclude(account)
    assert (answer["step"], answer["reason"]) == ("failed", f"{LLAMA.prefix}: not compiled")
    assert account.held[LLAMA.prefix].stage is Stage.FAILED


@pytest.mark.parametrize(
    ("failure", "words", "reason"),
    [
        (
            {"Cause": json.dumps({"JobId": "j-1", "StatusReason": "Essential container in task exited"})},
            "of 2 graphs\n1 failed",
            "job j-1: of 2 graphs 1 failed",
        ),
        (
            {
                "Cause": json.dumps(
                    {"JobId": "j-1", "StatusReason": "Host EC2 terminated", "Container": {"ExitCode": 137}}
                )
            },
            "",
            "job j-1: Host EC2 terminated (exit code 137)",
        ),
        ({"Error": "States.TaskFailed", "Cause": json.dumps({"JobId": "j-1"})}, "", "job j-1: States.TaskFailed"),
        ({"Error": "Batch.ClientException", "Cause": "no\nqueue"}, "", "Batch.ClientException: no queue"),
        ({"Error": "States.Timeout"}, "", "States.Timeout"),
    ],
)
def test_a_failure_is_told_in_the_words_of_who_knows_most(
    account: Account, failure: dict[str, str], words: str, reason: str
) -> None:
    account.words = {"j-1": words}
    answer = conclude(account, failure=failure)
    assert (answer["step"], answer["reason"]) == ("failed", reason)
    assert account.held[LLAMA.prefix].reason == reason


@pytest.mark.parametrize(
    ("request_", "reason"),
    [
        (REQUEST | {"fleet": "inf2-chat"}, "there is no training fleet inf2-chat here; known: trn1-pretrain, trn2-f"),
        ({"object": "models/x.json"}, "models/x.json: there is no such object"),
        ([], "a request is one JSON object"),
    ],
)
def test_what_cannot_be_carried_out_is_refused_and_takes_nothing(
    account: Account, request_: object, reason: str
) -> None:
    answer = begin(account, request=request_)
    assert answer["step"] == "refused"
    assert reason in answer["reason"]
    assert account.held == {}


def test_an_object_is_a_request_too(account: Account) -> None:
    account.objects = {"models/trn1-pretrain/meta/llama/r1.json": read(REQUEST)}
    assert begin(account, request={"object": "models/trn1-pretrain/meta/llama/r1.json"})["prefix"] == LLAMA.prefix
