"""Archives that are not what ``pack`` makes: whatever they ask for, nothing is outside the folder afterwards."""

import io
import os
import tarfile
from collections.abc import Callable
from pathlib import Path
from tarfile import TarInfo

import pytest

from fleet.compile_cache.manifest import NAME, FileRecord, Manifest
from tests.support.compiled_graphs import graph
from workload.compile_cache.tiers import content, packing
from workload.errors import DamagedGraphError

GRAPH = graph(1)
FILES = {"model.neff": b"compiled" * 1000, "model.done": b""}


def member(name: str, data: bytes = b"", **fields: object) -> tuple[TarInfo, bytes]:
    made = TarInfo(name)
    made.size = len(data)
    for field, value in fields.items():
        setattr(made, field, value)
    return made, data


def archive(path: Path, *members: tuple[TarInfo, bytes]) -> Path:
    with tarfile.open(path, "w") as target:
        for made, data in members:
            target.addfile(made, io.BytesIO(data) if data else None)
    return path


def whole(folder: Path) -> list[tuple[TarInfo, bytes]]:
    """What a graph's archive consists of."""
    records = []
    for name, data in FILES.items():
        (folder / name).write_bytes(data)
        records.append(FileRecord(name, *content.measure(str(folder / name))))
        (folder / name).unlink()
    manifest = Manifest(GRAPH, tuple(records), token=1, seconds=1.0, promoted=2.0, holder="here")
    return [*(member(name, data) for name, data in FILES.items()), member(NAME, manifest.encode())]


def negative(made: TarInfo) -> bytes:
    """A header that says that its file is smaller than nothing: the next header is where this one is."""
    header = bytearray(made.tobuf(tarfile.GNU_FORMAT))
    header[124:136] = (256**12 - 512).to_bytes(12, "big")
    header[148:156] = b" " * 8
    header[148:156] = b"%06o\0 " % sum(header)
    return bytes(header)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "graph").mkdir()
    return tmp_path / "graph"


@pytest.mark.parametrize(
    "hostile",
    [
        member("/tmp/neuron-fleet-absolute", b"x"),  # noqa: S108
        member("../outside", b"x"),
        member("model/../../outside", b"x"),
        member("..", type=tarfile.DIRTYPE),
        member("folder", type=tarfile.DIRTYPE),
        member("link", type=tarfile.SYMTYPE, linkname="../outside"),
        member("link", type=tarfile.LNKTYPE, linkname="../outside"),
        member("pipe", type=tarfile.FIFOTYPE),
        member("disk", type=tarfile.BLKTYPE, devmajor=8),
        member("terminal", type=tarfile.CHRTYPE, devmajor=5),
        member("hole", pax_headers={"GNU.sparse.size": "1000000000000", "GNU.sparse.map": "0,0"}),
        member("model.neff", b"twice"),
    ],
    ids=lambda found: f"{found[0].name} {found[0].type!r}" if isinstance(found, tuple) else None,
)
def test_a_hostile_member_is_refused_and_nothing_is_outside(
    tmp_path: Path, folder: Path, hostile: tuple[TarInfo, bytes]
) -> None:
    source = archive(tmp_path / "graph.tar", *whole(folder), hostile)

    with pytest.raises(DamagedGraphError, match="MODULE_1"):
        packing.unpack(source, folder, GRAPH)

    assert sorted(path.name for path in tmp_path.iterdir()) == ["graph", "graph.tar"]
    assert {path.name for path in folder.iterdir()} == {*FILES, NAME}
    assert not Path("/tmp/neuron-fleet-absolute").exists()  # noqa: S108


def test_a_link_that_names_a_later_file_is_not_followed(tmp_path: Path, folder: Path) -> None:
    link = member("model.neff", type=tarfile.SYMTYPE, linkname=str(tmp_path / "outside"))
    with pytest.raises(DamagedGraphError):
        packing.unpack(archive(tmp_path / "graph.tar", link, *whole(folder)), folder, GRAPH)
    assert not (tmp_path / "outside").exists()


def test_a_size_below_nothing_does_not_lead_back_to_the_same_header(tmp_path: Path, folder: Path) -> None:
    source = tmp_path / "graph.tar"
    source.write_bytes(negative(TarInfo("model.neff")) * 4 + b"\0" * 10240)
    with pytest.raises(DamagedGraphError, match="MODULE_1"):
        packing.unpack(source, folder, GRAPH)


@pytest.mark.parametrize("asked", [0o7777, 0o4755, 0o000])
def test_owner_mode_and_time_of_an_archive_are_not_taken_over(tmp_path: Path, folder: Path, asked: int) -> None:
    members = whole(folder)
    for made, _ in members:
        made.mode, made.uid, made.gid, made.mtime = asked, 4711, 4711, 1.0
    umask = os.umask(0o077)
    try:
        packing.unpack(archive(tmp_path / "graph.tar", *members), folder, GRAPH)
    finally:
        os.umask(umask)

    for path in folder.iterdir():
        status = path.stat()
        assert (status.st_mode & 0o7777, status.st_uid) == (0o644, os.getuid())
        assert status.st_mtime > 1_000_000


@pytest.mark.parametrize("lost", [lambda data: data[:-6000], lambda data: data[:700], lambda _: b""])
def test_what_is_cut_short_is_damaged(tmp_path: Path, folder: Path, lost: Callable[[bytes], bytes]) -> None:
    source = archive(tmp_path / "graph.tar", *whole(folder))
    source.write_bytes(lost(source.read_bytes().rstrip(b"\0")))
    with pytest.raises(DamagedGraphError, match="MODULE_1"):
        packing.unpack(source, folder, GRAPH)
