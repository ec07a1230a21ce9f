"""A model's graphs in S3, and back again."""

import io
import json
import shutil
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from fleet.compile_cache import whereabouts
from fleet.compile_cache.artifact import Artifact
from tests.support.cold_bucket import Bucket
from tests.support.compiled_graphs import graph, is_whole, write
from workload.compile_cache.tiers import promotion
from workload.compile_cache.tiers.cold import ColdReport, ColdTier
from workload.compile_cache.tiers.local import OWN, LocalTier
from workload.compile_cache.tiers.shared import SharedTier
from workload.errors import CacheError, ColdTierError

LLAMA = Artifact("meta/llama", "r1", "2.20.0", (128, 256))


class Place:
    """A cold tier with three graphs in its shared one."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "shared").mkdir()
        self.shared, self.bucket = SharedTier(folder / "shared"), Bucket()
        self.local = LocalTier(folder / "local")
        self.cold = ColdTier(self.bucket, self.shared, self.local)
        for number in range(3):
            write(graph(number), folder / "compiled")
            staged = promotion.stage(
                self.shared, graph(number), str(folder / "compiled"), token=4, seconds=60.0, holder="x"
            )
            promotion.publish(self.shared, staged)

    def archive(self) -> ColdReport:
        return self.cold.archive(LLAMA, [graph(number) for number in range(3)])

    def key(self, number: int) -> str:
        return f"{LLAMA.prefix}/{graph(number)}.tar"

    def lose(self, *numbers: int) -> None:
        for number in numbers:
            shutil.rmtree(self.shared.folder(graph(number)))


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def test_what_was_archived_comes_back_whole(place: Place) -> None:
    assert place.archive() == ColdReport(LLAMA.prefix, moved=3, present=0)
    place.lose(0, 2)

    assert place.cold.restore(LLAMA) == ColdReport(LLAMA.prefix, moved=2, present=1)

    for number in range(3):
        assert is_whole(graph(number), Path(place.shared.folder(graph(number))))
    found = place.shared.find(graph(0))
    assert found is not None
    assert (found.seconds, found.token) == (60.0, 4)
    assert list((place.folder / "local" / OWN).iterdir()) == []


def test_the_index_is_written_last_and_graphs_once(place: Place) -> None:
    place.archive()
    assert place.archive() == ColdReport(LLAMA.prefix, moved=0, present=3)

    index = f"{LLAMA.prefix}/index.json"
    told = [whereabouts.key(graph(number)) for number in range(3)]
    first = [key for number in range(3) for key in (place.key(number), told[number])]
    assert place.bucket.uploads == [*first, index, *told, index]
    assert json.loads(place.bucket.objects[index])["artifact"]["model_version"] == "r1"


def test_a_graph_is_found_by_its_name_in_the_artifact_that_was_archived_last(place: Place) -> None:
    place.archive()
    other = Artifact("bert", "7", "2.20.0", (128,))
    place.cold.archive(other, [graph(1)])

    told = {number: place.bucket.objects[whereabouts.key(graph(number))] for number in range(3)}
    assert whereabouts.decode(told[0], graph(0)) == place.key(0)
    assert whereabouts.decode(told[1], graph(1)) == f"{other.prefix}/{graph(1)}.tar"

    # One that was purged since does not leave a way to nowhere for ever.
    place.archive()
    assert whereabouts.decode(place.bucket.objects[whereabouts.key(graph(1))], graph(1)) == place.key(1)


def test_what_is_not_uploaded_is_not_found_by_its_name(place: Place) -> None:
    place.bucket.fails_at = f"{graph(1)}.tar"
    with pytest.raises(CacheError, match="SlowDown"):
        place.archive()

    assert whereabouts.key(graph(0)) in place.bucket.objects
    assert whereabouts.key(graph(1)) not in place.bucket.objects


def test_an_upload_that_was_cut_short_is_no_artifact(place: Place) -> None:
    place.bucket.fails_at = "MODULE_1"
    with pytest.raises(CacheError, match="SlowDown"):
        place.archive()

    with pytest.raises(CacheError, match=r"index\.json: Not Found"):
        place.cold.restore(LLAMA)


def test_a_graph_that_is_not_there_makes_no_artifact(place: Place) -> None:
    place.lose(1)

    with pytest.raises(CacheError, match=r"MODULE_1.*not in the shared tier"):
        place.archive()

    assert f"{LLAMA.prefix}/index.json" not in place.bucket.objects


def repacked(content: bytes, change: Callable[[str, bytes], tuple[str, bytes]]) -> bytes:
    """The archive with its files changed."""
    target = io.BytesIO()
    with tarfile.open(fileobj=io.BytesIO(content)) as old, tarfile.open(fileobj=target, mode="w") as new:
        for member in old:
            file = old.extractfile(member)
            assert file is not None
            name, data = change(member.name, file.read())
            member.name, member.size = name, len(data)
            new.addfile(member, io.BytesIO(data))
    return target.getvalue()


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: content[: len(content) // 2],
        lambda content: repacked(content, lambda name, data: (name, data[::-1] if name == "model.neff" else data)),
        lambda content: repacked(content, lambda name, data: (name.replace("neff", "other"), data)),
        lambda content: repacked(content, lambda name, data: (name.replace("model.neff", "../model.neff"), data)),
        lambda content: repacked(content, lambda name, data: (name, data.replace(b"MODULE_1", b"MODULE_2"))),
        lambda _content: b"not an archive",
    ],
    ids=["cut short", "another content", "a file is gone", "out of its folder", "another graph", "no archive"],
)
def test_a_damaged_archive_is_never_promoted(place: Place, damage: Callable[[bytes], bytes]) -> None:
    place.archive()
    place.lose(1)
    place.bucket.objects[place.key(1)] = damage(place.bucket.objects[place.key(1)])

    with pytest.raises(CacheError, match="MODULE_1"):
        place.cold.restore(LLAMA)

    assert place.shared.find(graph(1)) is None
    assert not (place.folder / "local" / OWN).joinpath("model.neff").exists()


@pytest.mark.parametrize(
    "index", [b"{}", b"[", json.dumps({"schema": 1, "artifact": {"model": "other"}, "graphs": []}).encode()]
)
def test_an_index_of_something_else_is_refused(place: Place, index: bytes) -> None:
    place.archive()
    place.bucket.objects[f"{LLAMA.prefix}/index.json"] = index

    with pytest.raises(ColdTierError, match=r"index\.json"):
        place.cold.restore(LLAMA)
