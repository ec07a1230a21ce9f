"""The Neuron driver's tree: found wherever it is, looked at within bounds, and never written to."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agents.collectors.collector import Contribution, Request
from agents.collectors.sysfs import tree
from agents.collectors.sysfs.tree import Measure, measure_of
from tests.support.neuron_sysfs import Generation, NeuronSysfs, collector, devices

GIB = 1024**3


@pytest.fixture(params=list(Generation), ids=lambda generation: generation.name)
def driver(request: pytest.FixtureRequest, tmp_path: Path) -> NeuronSysfs:
    return NeuronSysfs(tmp_path / "sys", devices=2, cores=2, generation=request.param)


def test_no_driver_is_quiet(tmp_path: Path) -> None:
    assert collector(tmp_path).collect(Request(0)) == Contribution()
    (tmp_path / "sys/devices/virtual/neuron_device").mkdir(parents=True)
    assert collector(tmp_path).collect(Request(0)) == Contribution()


def test_a_device_that_vanishes_is_a_problem_until_it_is_back(driver: NeuronSysfs, tmp_path: Path) -> None:
    follower = collector(tmp_path)
    driver.memory(0, 0, "", GIB)
    follower.collect(Request(0))
    driver.remove(1)

    gone = follower.collect(Request(60))
    driver.remove(0)
    all_gone = follower.collect(Request(120))
    driver.add(0)
    driver.add(1)
    back = follower.collect(Request(180))

    assert gone.problems == ("Neuron devices have vanished from sysfs: 1",)
    assert (devices(gone)["index"], devices(gone)["hbm_bytes"]) == ([0], [GIB])
    assert all_gone.problems == ("Neuron devices have vanished from sysfs: 0, 1",)
    assert all_gone.event == {}
    assert back.problems == ()
    assert devices(back)["index"] == [0, 1]


def test_a_driver_reloaded_with_another_layout_is_found_at_once(tmp_path: Path) -> None:
    old = NeuronSysfs(tmp_path / "sys", devices=1)
    follower = collector(tmp_path)
    follower.collect(Request(0))
    old.remove(0)
    new = NeuronSysfs(tmp_path / "sys", devices=1, generation=Generation.MOVED)
    new.memory(0, 1, "", 3 * GIB)

    seen = follower.collect(Request(60))

    assert devices(seen)["hbm_bytes"] == [3 * GIB]
    assert seen.problems == ()


def test_the_tree_is_walked_when_a_file_vanishes_and_every_half_hour(
    driver: NeuronSysfs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    walks = []
    real = tree.walk

    def counted(folders: dict[int, Path], *, tensor_engine: bool) -> tree.Tree:
        walks.append(now)
        return real(folders, tensor_engine=tensor_engine)

    monkeypatch.setattr("agents.collectors.sysfs.collector.walk", counted)
    follower = collector(tmp_path)
    for now in (0, 60, 1740, 1800, 1860):
        follower.collect(Request(now))
    driver.ecc_path(0, "mem_ecc_uncorrected").unlink()
    for now in (1920, 1980):
        follower.collect(Request(now))
    # A clock that was set back is no reason to wait for it.
    now = 600
    follower.collect(Request(now))

    assert walks == [0, 1800, 1920, 600]


def test_a_driver_folder_that_cannot_be_listed_is_a_problem(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: Path) -> list[str]:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("agents.collectors.sysfs.tree.os.listdir", refuse)

    assert collector(tmp_path).collect(Request(0)).problems == (
        "the Neuron devices in sysfs cannot be listed: Permission denied",
    )


def test_a_tree_without_end_is_cut_and_it_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    NeuronSysfs(tmp_path / "sys", devices=4)
    monkeypatch.setattr(tree, "_MOST_ENTRIES", 300)

    seen = collector(tmp_path).collect(Request(0))

    assert "the Neuron tree in sysfs is larger than is looked at; figures may be missing" in seen.problems


def test_deep_folders_and_links_are_not_followed(tmp_path: Path) -> None:
    driver = NeuronSysfs(tmp_path / "sys", devices=1)
    deep = driver.root / "neuron0" / "/".join(["deeper"] * 12)
    deep.mkdir(parents=True)
    (deep / "mem_ecc_corrected").write_text("5")
    (driver.root / "neuron0/loop").symlink_to(driver.root / "neuron0")

    found = tree.walk(tree.device_folders(tmp_path / "sys"), tensor_engine=False)

    assert len({leaf.path for leaf in found.leaves}) == len(found.leaves)
    assert not [leaf for leaf in found.leaves if "deeper" in leaf.path or "loop" in leaf.path]


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("neuron_core0/stats/memory_usage/device_mem/tensors/total", (Measure.DEVICE_MEMORY, "tensors")),
        ("neuron_core0/stats/memory_usage/device_mem/total", (Measure.DEVICE_MEMORY, "")),
        ("neuron_core0/stats/memory_usage/device_mem/tensors/peak", None),
        ("stats/hardware/mem_ecc_uncorrected", (Measure.ECC, "mem_ecc_uncorrected")),
        ("ecc/mem_ecc_uncorrected/total", (Measure.ECC, "mem_ecc_uncorrected")),
        ("neuron_core3/stats/status/infer_timeout/total", (Measure.STATUS, "infer_timeout")),
        ("power/utilization", (Measure.POWER, "")),
        ("power/control", None),
        ("total", None),
        ("info/serial_number", None),
    ],
)
def test_a_file_is_known_by_its_name_and_its_folders(path: str, expected: tuple[Measure, str] | None) -> None:
    assert measure_of(tuple(path.split("/"))) == expected


_opened: list[tuple[str, str | None, int]] = []
_watched: list[str] = []


def _audit(event: str, arguments: tuple[Any, ...]) -> None:
    if _watched and event == "open" and str(arguments[0]).startswith(_watched[0]):
        _opened.append((str(arguments[0]), arguments[1], arguments[2]))


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[list[tuple[str, str | None, int]]]:
    """Every file below the tree that this process opens, by whatever function: an audit hook cannot be got around."""
    if not getattr(sys, "_neuron_sysfs_audited", False):
        sys.addaudithook(_audit)
        setattr(sys, "_neuron_sysfs_audited", True)  # noqa: B010 - hooks cannot be removed, so one is added only once
    _opened.clear()
    _watched.append(str(tmp_path / "sys"))
    yield _opened
    _watched.clear()


def test_nothing_below_the_tree_is_ever_opened_for_writing(
    driver: NeuronSysfs, tmp_path: Path, opened: list[tuple[str, str | None, int]]
) -> None:
    opened.clear()
    follower = collector(tmp_path, tensor_engine=True)
    for minute in range(3):
        follower.collect(Request(60 * minute))

    # Two devices with three ECC counters each, three minutes: a guard that sees no file would prove nothing.
    assert sum("_ecc_" in path for path, _, _ in opened) == 2 * 3 * 3
    assert {flags & os.O_ACCMODE for _, _, flags in opened} == {os.O_RDONLY}
    assert not any(flags & (os.O_CREAT | os.O_TRUNC | os.O_APPEND) for _, _, flags in opened)
    assert not [path for path, _, _ in opened if path.endswith(("/reset", "/serial_number", "/present"))]
