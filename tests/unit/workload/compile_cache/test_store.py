"""What the shared tier has let go of comes from S3 into the node's own tier, and what is wrong with S3 costs no job."""

import io
import tarfile
import time
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

import pytest

from fleet.compile_cache import index, lease, whereabouts
from fleet.compile_cache.figures import Source
from fleet.compile_cache.lease import Terms
from tests.support.compiled_graphs import FILES, compiler, graph, is_whole
from tests.support.ready_graphs import LLAMA, Node
from tests.unit.workload.compile_cache.test_cold_tier import repacked
from workload.compile_cache.flight.single_flight import OnMiss
from workload.compile_cache.tiers.store import Store
from workload.errors import MissError

GRAPH: Final = graph(1)
ARCHIVE: Final = index.graph_key(LLAMA, GRAPH)


@pytest.fixture
def node(tmp_path: Path) -> Node:
    return Node(tmp_path)


def never(_folder: Path) -> None:
    raise AssertionError("compiled, and should not have been")


@pytest.mark.parametrize("on_miss", [OnMiss.WAIT, OnMiss.ALONE, OnMiss.REFUSE])
def test_what_is_ready_in_s3_is_not_compiled(node: Node, on_miss: OnMiss) -> None:
    cache = node.cache(on_miss)

    obtained = cache.obtain(GRAPH, never)

    assert (obtained.source, obtained.compilation, obtained.problem) == (Source.RESTORED, 600.0, "")
    assert is_whole(GRAPH, node.local.folder(GRAPH))
    assert node.local.is_intact(GRAPH)
    assert node.bucket.asked == [whereabouts.key(GRAPH), ARCHIVE]
    assert (cache.tally.restored, cache.tally.hit_rate) == (1, 1.0)
    # A role that may read takes nothing but for its own node.
    assert (node.shared.listing(), node.table.rows) == ({}, {})
    assert node.is_clean
    assert node.said == []


def test_its_files_have_the_time_at_which_they_came(node: Node) -> None:
    # The agent takes files of one second for fetched ones; those in the archive are of their compilation.
    node.bucket.objects[ARCHIVE] = aged(node.bucket.objects[ARCHIVE])
    before = time.time() - 1
    node.cache().obtain(GRAPH, never)
    for name in FILES:
        assert (node.local.folder(GRAPH) / name).stat().st_mtime > before


def aged(content: bytes) -> bytes:
    """The archive with files of another day."""
    target = io.BytesIO()
    with tarfile.open(fileobj=io.BytesIO(content)) as old, tarfile.open(fileobj=target, mode="w") as new:
        for member in old:
            file = old.extractfile(member)
            member.mtime, member.pax_headers = 1.0, {}
            new.addfile(member, file)
    return target.getvalue()


def test_the_nearer_tiers_are_asked_first(node: Node) -> None:
    node.cache(OnMiss.SHARE).obtain(graph(2), compiler(graph(2)))
    node.bucket.asked.clear()

    assert node.cache().obtain(graph(2), never).source is Source.LOCAL
    node.local.discard(graph(2))
    assert node.cache().obtain(graph(2), never).source is Source.FETCHED

    assert node.bucket.asked == []


def test_what_is_not_there_is_waited_for_or_compiled_as_ever_and_asked_for_once(node: Node) -> None:
    assert node.cache().obtain(graph(2), compiler(graph(2))).source is Source.UNSHARED
    node.local.discard(graph(2))
    # Another rank, shortly after.
    assert node.cache().obtain(graph(2), compiler(graph(2))).source is Source.UNSHARED
    assert (node.bucket.asked, node.said) == ([whereabouts.key(graph(2))], [])

    node.local.discard(graph(2))
    node.forget()
    node.cache().obtain(graph(2), compiler(graph(2)))
    assert node.bucket.asked == [whereabouts.key(graph(2))] * 2


def test_whoever_waits_for_another_asks_s3_once(node: Node) -> None:
    now, pauses = time.time(), list[float]()
    node.table.rows[graph(2)] = lease.take(None, "another", now, Terms())
    cache = node.cache()

    def sleep(seconds: float) -> None:
        pauses.append(seconds)
        if len(pauses) == 4:
            raise InterruptedError

    cache.sleep = sleep
    with pytest.raises(InterruptedError):
        cache.obtain(graph(2), never)

    assert node.bucket.asked == [whereabouts.key(graph(2))]


def test_who_may_write_the_shared_tier_gives_it_back_with_what_its_compilation_took(node: Node) -> None:
    obtained = node.cache(OnMiss.SHARE).obtain(GRAPH, never)

    assert (obtained.source, obtained.problem) == (Source.RESTORED, "")
    assert is_whole(GRAPH, Path(node.shared.folder(GRAPH)))
    found = node.shared.find(GRAPH)
    assert found is not None
    assert (found.token, found.seconds, found.holder) == (4, 600.0, "node-1")
    assert node.table.rows == {}


def test_a_shared_tier_that_does_not_take_it_back_is_said_and_the_graph_is_here(node: Node) -> None:
    (node.shared.root / ".promoting").write_text("in the way")

    obtained = node.cache(OnMiss.SHARE).obtain(GRAPH, never)

    assert obtained.source is Source.RESTORED
    assert obtained.problem.startswith(f"{GRAPH}: not in the shared tier again: ")


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: content[: len(content) // 2],
        lambda content: repacked(content, lambda name, data: (name, data[::-1] if name == "model.neff" else data)),
        lambda content: repacked(content, lambda name, data: (name.replace("neff", "other"), data)),
        lambda content: repacked(content, lambda name, data: (name.replace("model.neff", "../model.neff"), data)),
        lambda content: repacked(content, lambda name, data: (name, data.replace(b"MODULE_1", b"MODULE_2"))),
        lambda _content: b"not an archive",
        lambda _content: b"",
    ],
    ids=["cut short", "another content", "a file is gone", "out of its folder", "another graph", "no archive", "empty"],
)
def test_a_damaged_archive_is_refused_said_once_and_compiled_in_its_place(node: Node, damage: Any) -> None:
    node.bucket.objects[ARCHIVE] = damage(node.bucket.objects[ARCHIVE])

    for _ in range(3):
        assert node.cache().obtain(GRAPH, compiler(GRAPH)).source is Source.UNSHARED
        node.local.discard(GRAPH)

    assert len(node.said) == 1
    assert node.said[0].startswith(f"S3: {GRAPH}: ")
    assert node.said[0].endswith("; it is not used")
    assert node.bucket.asked == [whereabouts.key(GRAPH), ARCHIVE]
    assert node.is_clean
    assert not (node.local.own / "model.neff").exists()


@pytest.mark.parametrize(
    "told",
    [
        b"",
        b"[]",
        b'{"schema": 2, "graph": "' + str(GRAPH).encode() + b'", "archive": "' + ARCHIVE.encode() + b'"}',
        whereabouts.encode(graph(2), index.graph_key(LLAMA, graph(2))),
        whereabouts.encode(GRAPH, index.graph_key(LLAMA, graph(2))),
        whereabouts.encode(GRAPH, f"models/{GRAPH}.tar"),
    ],
)
def test_whereabouts_of_something_else_are_refused(node: Node, told: bytes) -> None:
    node.bucket.objects[whereabouts.key(GRAPH)] = told

    assert node.cache().obtain(GRAPH, compiler(GRAPH)).source is Source.UNSHARED

    assert len(node.said) == 1
    assert whereabouts.key(GRAPH) in node.said[0]
    assert node.bucket.asked == [whereabouts.key(GRAPH)]


def test_an_archive_that_was_purged_is_a_miss(node: Node) -> None:
    del node.bucket.objects[ARCHIVE]

    assert node.cache().obtain(GRAPH, compiler(GRAPH)).source is Source.UNSHARED

    assert node.said == []


def test_s3_being_away_is_said_once_on_a_node_and_costs_no_more_than_compilations(node: Node) -> None:
    node.bucket.is_down = True

    for number in (1, 2, 3):
        obtained = node.cache().obtain(graph(number), compiler(graph(number)))
        assert (obtained.source, obtained.problem) == (Source.UNSHARED, "")

    assert len(node.bucket.asked) == len(node.said) == 1
    assert node.said[0].endswith(
        "Could not connect to the endpoint URL; this node does without what is ready there for 5 min"
    )

    node.bucket.is_down = False
    node.local.discard(GRAPH)
    node.forget()
    assert node.cache().obtain(GRAPH, never).source is Source.RESTORED


def test_s3_that_does_not_come_to_an_end_is_waited_for_for_a_while(node: Node) -> None:
    node.bucket.stands_still = True
    node.store = Store(node.bucket, node.local, node.said.append, longest=timedelta(seconds=0.2))
    began = time.monotonic()

    assert node.cache().obtain(GRAPH, compiler(GRAPH)).source is Source.UNSHARED

    assert 0.2 <= time.monotonic() - began < 5
    assert len(node.said) == 1
    assert "nothing came of it within" in node.said[0]
    assert node.is_clean


def test_whatever_a_client_of_aws_raises_is_a_miss(node: Node, monkeypatch: pytest.MonkeyPatch) -> None:
    def breaks(*_: object) -> bool:
        raise RuntimeError("no credentials in sight")

    monkeypatch.setattr(node.bucket, "fetch", breaks)
    assert node.cache().obtain(GRAPH, compiler(GRAPH)).source is Source.UNSHARED
    assert "RuntimeError: no credentials in sight" in node.said[0]


def test_a_disk_that_does_not_take_it_leaves_the_rest_as_it_is(node: Node, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_graph: object, _arrived: str) -> bool:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(node.local, "accept", full)
    assert node.store.restore(GRAPH) is None
    assert "No space left on device" in node.said[0]
    assert node.is_clean


def test_who_must_not_compile_is_refused_where_s3_has_nothing_either(node: Node) -> None:
    with pytest.raises(MissError):
        node.cache(OnMiss.REFUSE).obtain(graph(2), never)


def test_what_was_refused_elsewhere_and_is_ready_all_the_same_is_not_refused(node: Node) -> None:
    taken = lease.take(None, "another", time.time(), Terms(attempts=1))
    node.table.rows[GRAPH] = lease.fail(taken, "no such op", time.time(), Terms())

    assert node.cache(OnMiss.SHARE).obtain(GRAPH, never).source is Source.RESTORED
