"""Where a graph lies in S3 is told by its own name, and nobody is sent anywhere else."""

import json

import pytest

from fleet.compile_cache import index, whereabouts
from fleet.compile_cache.artifact import Artifact
from fleet.compile_cache.graph import Graph
from fleet.compile_cache.readiness import is_index
from fleet.compile_cache.whereabouts import WhereaboutsError

GRAPH = Graph("neuronxcc-2.21.18209.0+043b1bf7", "MODULE_12+abcd")
ARCHIVE = index.graph_key(Artifact("meta/llama", "r1", "2.30", (128,)), GRAPH)
TOLD = {"schema": 1, "graph": str(GRAPH), "archive": ARCHIVE}


def test_they_read_as_they_were_written() -> None:
    assert whereabouts.decode(whereabouts.encode(GRAPH, ARCHIVE), GRAPH) == ARCHIVE
    assert whereabouts.key(GRAPH) == f"neuron-artifacts/graphs/{GRAPH}.json"


def test_they_are_no_part_of_an_artifact_even_of_a_model_of_that_name() -> None:
    key = whereabouts.key(GRAPH)
    assert not is_index(key)
    assert not key.startswith(f"{Artifact('graphs', 'r1', '2.30', (128,)).prefix}/")
    assert not key.endswith(f"/{GRAPH}.tar")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "damaged"),
        (b"\xff", "damaged"),
        (b"[]", "damaged"),
        (b"[" * 10_000, "damaged"),
        (json.dumps(TOLD | {"schema": 2}).encode(), "of another graph, or another schema"),
        (json.dumps(TOLD | {"graph": "neuronxcc-2/MODULE_1"}).encode(), "of another graph, or another schema"),
        (json.dumps(TOLD | {"archive": ["x"]}).encode(), "is no archive of it"),
        (json.dumps(TOLD | {"archive": f"models/{GRAPH}.tar"}).encode(), "is no archive of it"),
        (json.dumps(TOLD | {"archive": ARCHIVE.replace("MODULE_12", "MODULE_13")}).encode(), "is no archive of it"),
    ],
)
def test_others_are_refused(content: bytes, message: str) -> None:
    with pytest.raises(WhereaboutsError, match=message):
        whereabouts.decode(content, GRAPH)
