"""The compile cache's lease table and cold tier on the embedded AWS."""

import threading
import time
from pathlib import Path
from typing import Any

import pytest

from fleet.compile_cache import lease
from fleet.compile_cache.artifact import Artifact
from fleet.compile_cache.figures import Source
from fleet.compile_cache.lease import State, Terms
from tests.support.compiled_graphs import compiler, graph, is_whole
from tests.unit.local.emulator.conftest import Emulator
from workload.compile_cache.adapters import DynamoLeases, S3Objects
from workload.compile_cache.flight import leases
from workload.compile_cache.flight.single_flight import CompileCache
from workload.compile_cache.tiers.cold import ColdTier
from workload.compile_cache.tiers.local import LocalTier
from workload.compile_cache.tiers.shared import SharedTier

GRAPH = graph(1)


@pytest.fixture
def table(emulator: Emulator, monkeypatch: pytest.MonkeyPatch, request: Any) -> DynamoLeases:
    name = f"leases-{request.node.name[-60:]}"
    emulator.client("dynamodb").create_table(
        TableName=name,
        AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
        KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
        BillingMode="PAY_PER_REQUEST",
    )
    monkeypatch.setenv("AWS_ENDPOINT_URL", emulator.url)
    return DynamoLeases(name, "us-east-2")


def test_of_many_that_want_a_lease_one_gets_it(table: DynamoLeases) -> None:
    terms, start = Terms(), threading.Barrier(8)
    winners: list[str] = []

    def want(name: str) -> None:
        start.wait(60)
        held = leases.take(table, GRAPH, None, name, terms)
        if held is not None:
            winners.append(name)

    threads = [threading.Thread(target=want, args=(f"node-{number}",)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)

    row = table.read(GRAPH)
    assert row is not None
    assert winners == [row.holder]
    assert (row.token, row.revision) == (1, 1)


def test_a_row_comes_back_exactly_and_an_old_one_replaces_nothing(table: DynamoLeases) -> None:
    first = lease.take(None, "node-1", time.time() + 0.1234567, Terms())
    second = lease.renew(first, time.time(), Terms())

    assert table.swap(GRAPH, None, first)
    assert table.read(GRAPH) == first
    assert table.swap(GRAPH, first, second)
    assert not table.swap(GRAPH, first, lease.release(first, 0.0))
    assert not table.swap(GRAPH, None, first)
    assert table.read(GRAPH) == second


def test_two_nodes_share_a_graph_and_a_model_survives_in_the_cold_tier(
    table: DynamoLeases, emulator: Emulator, tmp_path: Path
) -> None:
    emulator.client("s3").create_bucket(
        Bucket="artifacts", CreateBucketConfiguration={"LocationConstraint": "us-east-2"}
    )
    (tmp_path / "shared").mkdir()
    shared = SharedTier(tmp_path / "shared")
    nodes = [CompileCache(LocalTier(tmp_path / name), shared, table) for name in ("one", "two")]

    sources = [node.obtain(GRAPH, compiler(GRAPH)).source for node in nodes]
    artifact = Artifact("meta/llama", "r1", "2.20.0", (128,))
    cold = ColdTier(S3Objects("artifacts", "us-east-2"), shared, nodes[0].local)
    archived = cold.archive(artifact, [GRAPH])
    shared.discard(GRAPH)
    restored = cold.restore(artifact)

    row = table.read(GRAPH)
    assert row is not None
    assert row.state is State.DONE
    assert sources == [Source.COMPILED, Source.FETCHED]
    assert (archived.moved, restored.moved) == (1, 1)
    listed = emulator.client("s3").list_objects_v2(Bucket="artifacts", Prefix=artifact.prefix)["Contents"]
    assert [found["Key"] for found in listed] == [f"{artifact.prefix}/index.json", f"{artifact.prefix}/{GRAPH}.tar"]
    assert is_whole(GRAPH, Path(shared.folder(GRAPH)))
