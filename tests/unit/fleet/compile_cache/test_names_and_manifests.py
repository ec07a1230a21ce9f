"""Names of graphs, versions by age, manifests, and where artifacts lie."""

import json

import pytest

from fleet.compile_cache import manifest as manifests
from fleet.compile_cache.artifact import Artifact, ArtifactError
from fleet.compile_cache.graph import Graph, GraphNameError, age_order, parse
from fleet.compile_cache.manifest import FileRecord, Manifest, ManifestError

GRAPH = Graph("neuronxcc-2.21.18209.0+043b1bf7", "MODULE_12345+abcd1234")
MANIFEST = Manifest(GRAPH, (FileRecord("model.neff", 7, "0" * 64),), 3, 61.5, 1_700_000_000.25, "node-1")
LLAMA = Artifact("meta-llama/Llama-3.1-8B-Instruct", "r1", "2.20.0", (128, 256, 512, 1024))


def test_a_name_reads_as_it_was_written() -> None:
    assert str(GRAPH) == "neuronxcc-2.21.18209.0+043b1bf7/MODULE_12345+abcd1234"
    assert parse(str(GRAPH)) == GRAPH


@pytest.mark.parametrize(
    "name", ["", "x", "neuronxcc-2.21/..", "../MODULE_1", "neuronxcc-2.21/MODULE_1/..", "neuronxcc-/MODULE_1", "a/b/c"]
)
def test_what_could_leave_the_cache_is_no_name(name: str) -> None:
    with pytest.raises(GraphNameError, match="not a graph of the compile cache"):
        parse(name)


def test_versions_are_ordered_by_their_numbers_and_not_by_their_letters() -> None:
    versions = ["neuronxcc-2.21.1.0+b", "neuronxcc-2.9.4.0+f", "neuronxcc-2.21.0.9+c"]

    assert sorted(versions, key=age_order) == ["neuronxcc-2.9.4.0+f", "neuronxcc-2.21.0.9+c", "neuronxcc-2.21.1.0+b"]


def test_a_manifest_reads_as_it_was_written() -> None:
    assert manifests.decode(MANIFEST.encode()) == MANIFEST
    assert MANIFEST.size == 7


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"schema": 2}, "schema 2, 1 is known"),
        ({"graph": "../x"}, "GraphNameError"),
        ({"files": [{"name": "../../etc/passwd", "size": 1, "digest": "0" * 64}]}, "not a file of a graph"),
        ({"files": [{"name": manifests.NAME, "size": 1, "digest": "0" * 64}]}, "not a file of a graph"),
        ({"files": [{"name": "model.neff", "size": -1, "digest": "0" * 64}]}, "size -1"),
        ({"files": [{"name": "model.neff", "size": 1, "digest": "0"}]}, "digest '0'"),
        ({"files": [{"name": "model.neff"}]}, "KeyError"),
        ({"token": "x"}, "ValueError"),
        ({"files": 5}, "TypeError"),
    ],
)
def test_a_manifest_that_cannot_be_believed_says_why(change: dict[str, object], message: str) -> None:
    content = json.dumps(json.loads(MANIFEST.encode()) | change).encode()

    with pytest.raises(ManifestError, match=message):
        manifests.decode(content)


@pytest.mark.parametrize("content", [b"", b"[]", b"null", MANIFEST.encode()[:-5], b"\xff\xfe", b"[" * 100_000])
def test_half_a_manifest_is_none(content: bytes) -> None:
    with pytest.raises(ManifestError):
        manifests.decode(content)


def test_an_artifact_lies_in_a_folder_that_does_not_change() -> None:
    # sha256 of {"model": "meta-llama/Llama-3.1-8B-Instruct", "model_version": "r1", "neuron_sdk": "2.20.0",
    # "sequence_lengths": [128, 256, 512, 1024]}, its first 16 digits.
    assert LLAMA.prefix == "neuron-artifacts/meta-llama-Llama-3.1-8B-Instruct/4875ed159ce4791b"


def test_the_order_of_sequence_lengths_does_not_matter() -> None:
    assert Artifact(LLAMA.model, "r1", "2.20.0", (1024, 128, 512, 256, 128)).prefix == LLAMA.prefix


@pytest.mark.parametrize(
    "other",
    [
        Artifact("meta-llama/Llama-3.1-8B", "r1", "2.20.0", (128, 256, 512, 1024)),
        Artifact("meta-llama-Llama-3.1-8B-Instruct", "r1", "2.20.0", (128, 256, 512, 1024)),
        Artifact(LLAMA.model, "r2", "2.20.0", (128, 256, 512, 1024)),
        Artifact(LLAMA.model, "r1", "2.21.0", (128, 256, 512, 1024)),
        Artifact(LLAMA.model, "r1", "2.20.0", (128, 256, 512)),
    ],
    ids=["model", "model with the same letters", "model version", "SDK", "lengths"],
)
def test_any_change_gives_another_folder(other: Artifact) -> None:
    assert other.prefix != LLAMA.prefix


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        (("", "r1", "2.20", (1,)), "needs a model:"),
        (("m", " ", "2.20", (1,)), "needs a model version"),
        (("m", "r1", "", (1,)), "needs a sdk version"),
        (("m", "r1", "2.20", ()), "needs the sequence lengths"),
        (("m", "r1", "2.20", (0, 8)), "each at least 1"),
    ],
)
def test_an_artifact_without_a_part_of_its_name_is_refused(
    fields: tuple[str, str, str, tuple[int, ...]], message: str
) -> None:
    with pytest.raises(ArtifactError, match=message):
        Artifact(*fields)
