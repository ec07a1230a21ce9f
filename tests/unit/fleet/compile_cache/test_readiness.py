"""Why an artifact is not ready: the same words for a job, a rollout and a person."""

import json

import pytest

from fleet.compile_cache import index
from fleet.compile_cache.artifact import Artifact
from fleet.compile_cache.graph import Graph
from fleet.compile_cache.index import ArtifactIndexError, Index
from fleet.compile_cache.readiness import Sight, is_index, read_index, why_not_ready

LLAMA = Artifact("meta/llama", "r2", "2.28", (256, 128))
GRAPHS = tuple(Graph("neuronxcc-2.21.18209.0+043b1bf7", f"MODULE_{number}+abcd") for number in range(3))
KEYS = frozenset(index.graph_key(LLAMA, graph) for graph in GRAPHS)
CONTENT = Index(LLAMA, GRAPHS).encode()
NAME = "meta/llama r2, SDK 2.28, sequence lengths 128,256"


def test_an_index_and_all_of_its_graphs_are_ready() -> None:
    assert why_not_ready(LLAMA, Sight(CONTENT, KEYS)) == ""


def test_the_order_of_sequence_lengths_does_not_matter() -> None:
    turned = Artifact("meta/llama", "r2", "2.28", (128, 256, 128))

    assert why_not_ready(turned, Sight(CONTENT, KEYS)) == ""


def test_without_an_index_there_is_nothing_whatever_lies_there() -> None:
    assert why_not_ready(LLAMA, Sight(None, KEYS)) == f"{NAME}: was never compiled"


@pytest.mark.parametrize(
    ("there", "difference"),
    [
        (Artifact("meta/llama", "r1", "2.28", (128, 256)), "model version r1"),
        (Artifact("meta/llama", "r2", "2.30", (128, 256)), "SDK 2.30"),
        (Artifact("meta/llama", "r1", "2.28", (128,)), "model version r1 and sequence lengths 128"),
    ],
)
def test_what_is_there_instead_is_named(there: Artifact, difference: str) -> None:
    far = Artifact("meta/llama", "r0", "2.20", (64,))
    # The two names make one folder in S3.
    other = Artifact("meta-llama", "r2", "2.28", (128,))

    why = why_not_ready(LLAMA, Sight(None, relatives=(far, there, other)))

    assert why == f"{NAME}: was never compiled; what is there has {difference}"


def test_graphs_that_are_gone_are_counted() -> None:
    gone = KEYS - {index.graph_key(LLAMA, GRAPHS[1])}

    assert why_not_ready(LLAMA, Sight(CONTENT, gone)) == f"{NAME}: 1 of its 3 graphs are gone, such as {GRAPHS[1]}"


def test_an_artifact_of_no_graphs_is_not_ready() -> None:
    assert why_not_ready(LLAMA, Sight(Index(LLAMA, ()).encode(), KEYS)) == f"{NAME}: its index names no graph"


@pytest.mark.parametrize("content", [b"", b"{}", b"[]", CONTENT[:-9], CONTENT.replace(b"2.28", b"2.29")])
def test_a_damaged_index_is_not_ready(content: bytes) -> None:
    assert why_not_ready(LLAMA, Sight(content, KEYS)).startswith(f"{NAME}: {LLAMA.prefix}/index.json: ")


def test_an_index_says_whose_it_is() -> None:
    key = index.key(LLAMA)

    assert is_index(key)
    assert not is_index(index.graph_key(LLAMA, GRAPHS[0]))
    assert read_index(key, CONTENT).artifact.identity == LLAMA.identity


@pytest.mark.parametrize(
    "content", [b"", b"[]", b"{}", json.dumps({"artifact": {"model": "x"}}).encode(), CONTENT.replace(b"r2", b"r3")]
)
def test_an_index_that_is_not_at_its_place_is_nobodys(content: bytes) -> None:
    with pytest.raises(ArtifactIndexError, match=r"index\.json"):
        read_index(index.key(LLAMA), content)
