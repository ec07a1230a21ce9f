"""A start without compilation: graphs come from S3, and what differs from its manifest is named."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fleet.compile_cache.artifact import Artifact
from tests.support.cold_bucket import Bucket
from tests.support.compiled_graphs import graph, is_whole, write
from workload.compile_cache.tiers import promotion
from workload.compile_cache.tiers.cold import ColdTier
from workload.compile_cache.tiers.local import LocalTier
from workload.compile_cache.tiers.shared import SharedTier
from workload.errors import CacheError
from workload.serving.cold_start import bring, wrong_with

CHAT = Artifact("chat", "r1", "2.28", (128, 256), (1, 4))
GRAPHS = (graph(0), graph(1))


@pytest.fixture
def bucket(tmp_path: Path) -> Bucket:
    bucket = Bucket()
    (tmp_path / "shared").mkdir()
    shared = SharedTier(tmp_path / "shared")
    for each in GRAPHS:
        write(each, tmp_path / "compiled")
        publish = promotion.stage(shared, each, str(tmp_path / "compiled"), token=1, seconds=60.0, holder="x")
        promotion.publish(shared, publish)
    ColdTier(bucket, shared, LocalTier(tmp_path / "builder")).archive(CHAT, GRAPHS)
    return bucket


@pytest.fixture
def local(tmp_path: Path) -> LocalTier:
    return LocalTier(tmp_path / "local")


def test_an_empty_disk_is_filled_and_is_as_the_manifests_say(tmp_path: Path, bucket: Bucket, local: LocalTier) -> None:
    assert bring(CHAT, bucket, local, tmp_path / "scratch") == GRAPHS
    assert all(is_whole(each, local.folder(each)) for each in GRAPHS)
    assert wrong_with(CHAT, GRAPHS, local) == ""


def test_what_was_damaged_on_disk_is_brought_again(tmp_path: Path, bucket: Bucket, local: LocalTier) -> None:
    bring(CHAT, bucket, local, tmp_path / "scratch")
    (local.folder(GRAPHS[1]) / "model.neff").write_bytes(b"something else")

    assert wrong_with(CHAT, GRAPHS, local) == f"{GRAPHS[1]}: its content is not what its manifest says"
    bring(CHAT, bucket, local, tmp_path / "scratch")
    assert wrong_with(CHAT, GRAPHS, local) == ""


def test_a_graph_that_was_compiled_on_this_host_is_not_the_artifact_s(local: LocalTier) -> None:
    write(GRAPHS[0], local.folder(GRAPHS[0]))

    assert "has no manifest" in wrong_with(CHAT, GRAPHS[:1], local)
    assert "not on local disk" in wrong_with(CHAT, GRAPHS[1:], local)
    assert "names no graph" in wrong_with(CHAT, (), local)


@pytest.mark.parametrize(
    "changes", [{"batch_sizes": (1, 8)}, {"sequence_lengths": (128, 512)}, {"model_version": "r2"}]
)
def test_buckets_that_were_not_compiled_are_an_error_and_compile_nothing(
    tmp_path: Path, bucket: Bucket, local: LocalTier, changes: dict[str, Any]
) -> None:
    with pytest.raises(CacheError, match="Not Found"):
        bring(replace(CHAT, **changes), bucket, local, tmp_path / "scratch")
    assert local.graphs() == []
