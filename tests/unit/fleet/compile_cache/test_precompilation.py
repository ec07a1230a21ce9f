"""Requests for a precompilation, whose turn it is, and what is left of one in S3."""

import json
from typing import Any

import pytest

from fleet.compile_cache import failure, index, precompilation, request
from fleet.compile_cache.artifact import Artifact
from fleet.compile_cache.graph import Graph
from fleet.compile_cache.index import ArtifactIndexError, Index
from fleet.compile_cache.precompilation import Precompilation, Stage, Step
from fleet.compile_cache.request import PrecompileRequest, RequestError

LLAMA = Artifact("meta/llama", "r1", "2.30", (2048, 4096))
GRAPH = Graph("neuronxcc-2.21.18209.0+043b1bf7", "MODULE_12345+abcd1234")
FIELDS: dict[str, Any] = {
    "fleet": "trn1-pretrain",
    "model": "meta/llama",
    "model_version": "r1",
    "sdk_version": "2.30",
    "sequence_lengths": [4096, 2048],
    "command": ["torchrun", "train.py"],
}
HELD = Precompilation(3, Stage.COMPILING, "other", 100.0)
FAILED = Precompilation(3, Stage.FAILED, "other", 100.0, "out of state buffer")
DONE = Precompilation(3, Stage.DONE, "other", 100.0)


def test_a_request_names_the_artifact_whatever_the_order_of_its_lengths() -> None:
    wanted = request.read(FIELDS)
    assert wanted == PrecompileRequest(
        "trn1-pretrain", Artifact("meta/llama", "r1", "2.30", (4096, 2048)), ("torchrun", "train.py")
    )
    assert wanted.artifact.prefix == LLAMA.prefix


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"modle": "x"}, "unknown field modle"),
        ({"model": " "}, "model is one line"),
        ({"model": "a\nb"}, "model is one line"),
        ({"fleet": 7}, "fleet is one line of at most 200 characters, not 7"),
        ({"sequence_lengths": []}, "sequence_lengths is a list"),
        ({"sequence_lengths": [True]}, "sequence_lengths is a list"),
        ({"sequence_lengths": [0]}, "each at least 1"),
        ({"sequence_lengths": "2048"}, "whole numbers, such as"),
        ({"command": []}, "command is a list of words"),
        ({"command": ["torchrun", ""]}, "command is a list of words"),
        ({"command": ["x" * 8_000]}, "longer than 6000 characters"),
        ({"command": ["/opt/bin/neuron_parallel_compile", "torchrun"]}, "leave that word out"),
    ],
)
def test_a_mistake_in_a_request_is_one_line_that_says_what_would_be_right(changes: Any, message: str) -> None:
    with pytest.raises(RequestError) as refused:
        request.read(FIELDS | changes)
    assert message in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("fields", "message"), [([], "one JSON object"), ({"fleet": "x"}, "lacks model, model_version")]
)
def test_what_is_no_request_is_refused(fields: Any, message: str) -> None:
    with pytest.raises(RequestError, match=message):
        request.read(fields)


def test_an_object_holds_what_its_name_says() -> None:
    key = "models/trn1-pretrain/meta/llama/r1.json"
    assert request.object_key(request.read(FIELDS)) == key
    assert request.read_object(key, json.dumps(FIELDS).encode()) == request.read(FIELDS)
    with pytest.raises(RequestError, match=f"belongs to {key}"):
        request.read_object("models/trn1-pretrain/meta/llama/r2.json", json.dumps(FIELDS).encode())
    with pytest.raises(RequestError, match=r"r1\.json: not JSON"):
        request.read_object(key, b"{")


@pytest.mark.parametrize(
    ("seen", "lives", "waited_for", "step"),
    [
        (None, False, None, Step.COMPILE),
        (HELD, True, None, Step.WAIT),
        (HELD, False, None, Step.COMPILE),
        # Its own, when Step Functions asks a second time.
        (Precompilation(3, Stage.COMPILING, "me", 100.0), True, None, Step.COMPILE),
        # It was there, and somebody has removed it since.
        (DONE, False, None, Step.COMPILE),
        (FAILED, False, None, Step.COMPILE),
        (FAILED, False, 3, Step.GIVE_UP),
        (FAILED, False, 2, Step.COMPILE),
    ],
)
def test_one_compiles_and_the_others_wait_for_what_comes_of_it(
    seen: Precompilation | None, lives: bool, waited_for: int | None, step: Step
) -> None:
    assert precompilation.advise(seen, "me", lives=lives, waited_for=waited_for) is step


def test_a_holder_has_a_token_of_its_own_and_keeps_it() -> None:
    held = precompilation.take(HELD, "me", 200.0)
    assert held == Precompilation(4, Stage.COMPILING, "me", 200.0)
    assert precompilation.take(held, "me", 300.0) == held
    assert precompilation.take(None, "me", 200.0).token == 1


def test_an_end_is_a_failure_if_it_has_a_reason() -> None:
    assert precompilation.conclude(HELD, "", 200.0) == Precompilation(3, Stage.DONE, "other", 200.0)
    failed = precompilation.conclude(HELD, "x" * 5000, 200.0)
    assert (failed.stage, len(failed.reason)) == (Stage.FAILED, 1000)


def test_an_index_reads_as_it_was_written() -> None:
    written = Index(LLAMA, (GRAPH,))
    assert index.decode(written.encode(), LLAMA) == written
    assert index.graph_key(LLAMA, GRAPH) == f"{LLAMA.prefix}/{GRAPH}.tar"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "damaged"),
        (b"[]", "damaged"),
        (b'{"schema": 1, "artifact": {}, "graphs": ["../x"]}', "damaged: not a graph"),
        (Index(Artifact("other", "r1", "2.30", (1,)), (GRAPH,)).encode(), "of another artifact"),
    ],
)
def test_what_is_no_index_of_the_artifact_is_refused(content: bytes, message: str) -> None:
    with pytest.raises(ArtifactIndexError, match=message):
        index.decode(content, LLAMA)


def test_a_reason_is_that_of_one_job() -> None:
    left = failure.encode("job-1", "out of state buffer")
    assert failure.reason(left, "job-1") == "out of state buffer"
    assert failure.reason(left, "job-2") == ""
    assert failure.reason(b"{", "job-1") == ""
