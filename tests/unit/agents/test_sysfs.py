"""The Neuron driver's tree: found wherever it is, read and never written, and counted once."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agents.collectors.boot_memory import BootMemory
from agents.collectors.collector import Contribution, Request
from agents.collectors.seen_error import SeenError, Source
from agents.collectors.sysfs import tree
from agents.collectors.sysfs.collector import SysfsCollector
from agents.collectors.sysfs.readings import Power, components, power
from agents.collectors.sysfs.tensor_engine import TensorEngineEstimate, rows
from agents.collectors.sysfs.tree import Measure, measure_of
from fleet.hardware_errors import (
    CORE_UNCORRECTABLE,
    DMA_ABORT,
    HANG_ON_COLLECTIVES,
    HBM_REPAIRABLE,
    HBM_UNCORRECTABLE,
    SRAM_UNCORRECTABLE,
)
from tests.support.neuron_sysfs import PE_HEADER, SERIAL_NUMBER, Generation, NeuronSysfs, pe_cntrs

GIB = 1024**3
ECC, STATUS = (Source.SYSFS_ECC,), (Source.RUNTIME_STATUS,)


def collector(folder: Path, boot: str = "boot-1", *, tensor_engine: bool = False) -> SysfsCollector:
    memory = BootMemory(folder / "spool/sysfs.json", boot)
    return SysfsCollector(folder / "sys", memory, tensor_engine=tensor_engine)


def devices(seen: Contribution) -> dict[str, Any]:
    shown: dict[str, Any] = seen.event["sysfs_devices"]
    return shown


@pytest.fixture(params=list(Generation), ids=lambda generation: generation.name)
def driver(request: pytest.FixtureRequest, tmp_path: Path) -> NeuronSysfs:
    return NeuronSysfs(tmp_path / "sys", devices=2, cores=2, generation=request.param)


def test_memory_is_the_total_and_never_the_last_allocation(driver: NeuronSysfs, tmp_path: Path) -> None:
    for core, used, peak in ((0, 3 * GIB, 5 * GIB), (1, 1 * GIB, 2 * GIB)):
        driver.memory(1, core, "", used, peak)
    driver.memory(1, 0, "tensors", 2 * GIB)
    driver.memory(1, 1, "tensors", 1 * GIB)
    driver.memory(1, 0, "model_code", 1 * GIB)
    driver.host_memory(0, "dma_buffers", 4096)
    driver.host_memory(0, "tensors", 1024)

    shown = devices(collector(tmp_path).collect(Request(0)))

    assert shown["index"] == [0, 1]
    # 3 + 1 GiB now; the cores' peaks 5 + 2 GiB. 2 + 1 GiB of tensors. 4096 + 1024 bytes on the host.
    assert shown["hbm_bytes"] == [0, 4 * GIB]
    assert shown["hbm_peak_bytes"] == [0, 7 * GIB]
    assert shown["hbm_bytes_by_category"] == {"tensors": 3 * GIB, "model_code": 1 * GIB}
    assert shown["host_bytes"] == [5120, 0]


def test_power_ecc_and_resets_are_shown_by_device(driver: NeuronSysfs, tmp_path: Path) -> None:
    driver.power(0, "POWER_STATUS_VALID,1795230000,0.86,25.00,18.86")
    driver.power(1, "POWER_STATUS_NO_DATA,0,0.00,0.00,0.00")
    driver.ecc(1, "mem_ecc_corrected", 12)
    driver.other(0, 0, "reset_req_count", 1)
    driver.other(0, 1, "reset_req_count", 1)
    driver.other(1, 1, "reset_fail_count", 3)

    shown = devices(collector(tmp_path).collect(Request(0)))

    assert shown["power_percent"] == {"min": [0.86, None], "max": [25.0, None], "avg": [18.86, None]}
    assert shown["ecc"]["mem_ecc_corrected"] == [None, 12]
    assert shown["ecc"]["mem_ecc_uncorrected"] == [0, 0]
    assert shown["resets"] == {"reset_fail_count": [0, 3], "reset_req_count": [2, 0]}
    assert "status" not in shown


def test_what_is_identifying_or_not_live_is_not_read(driver: NeuronSysfs, tmp_path: Path) -> None:
    driver.other(0, 0, "flop_count", 987_654_321)
    driver.status(0, 0, "success", 987_654_321)
    follower = collector(tmp_path)
    follower.collect(Request(0))
    driver.status(0, 0, "success", 987_654_999)

    seen = follower.collect(Request(60))

    assert SERIAL_NUMBER not in str(seen)
    assert "987654" not in str(seen)
    assert str(tmp_path) not in str(seen)


def test_each_status_that_rises_is_a_hardware_error_by_its_code(driver: NeuronSysfs, tmp_path: Path) -> None:
    follower = collector(tmp_path)
    assert follower.collect(Request(0)).hardware_errors == ()
    for name in ("collectives", "hbm_ue", "nc_ue", "dma_abort", "repairable_hbm_ue"):
        driver.status(1, 0, f"hw_{name}_error", 2)
    driver.status(1, 1, "hw_dma_abort_error", 1)
    driver.status(0, 0, "timeout", 4)
    driver.status(0, 1, "timeout", 1)

    seen = follower.collect(Request(60))

    assert set(seen.hardware_errors) == {
        SeenError(HANG_ON_COLLECTIVES, 1, 2, STATUS),
        SeenError(HBM_UNCORRECTABLE, 1, 2, STATUS),
        SeenError(CORE_UNCORRECTABLE, 1, 2, STATUS),
        SeenError(DMA_ABORT, 1, 2 + 1, STATUS),
        SeenError(HBM_REPAIRABLE, 1, 2, STATUS),
    }
    assert devices(seen)["status"]["timeout"] == [4 + 1, None]
    assert devices(seen)["status"]["hw_dma_abort_error"] == [None, 3]
    assert follower.collect(Request(120)).hardware_errors == ()


def test_each_uncorrected_ecc_error_that_is_new_counts(driver: NeuronSysfs, tmp_path: Path) -> None:
    follower = collector(tmp_path)
    follower.collect(Request(0))
    driver.ecc(0, "mem_ecc_uncorrected", 1)
    driver.ecc(1, "sram_ecc_uncorrected", 3)
    driver.ecc(1, "mem_ecc_repairable_uncorrected", 2)
    driver.ecc(1, "mem_ecc_corrected", 9)

    seen = follower.collect(Request(60))

    assert set(seen.hardware_errors) == {
        SeenError(HBM_UNCORRECTABLE, 0, 1, ECC),
        SeenError(SRAM_UNCORRECTABLE, 1, 3, ECC),
        SeenError(HBM_REPAIRABLE, 1, 2, ECC),
    }
    assert follower.collect(Request(120)).hardware_errors == ()


def test_errors_of_before_the_first_look_are_said_once_and_are_no_fault(driver: NeuronSysfs, tmp_path: Path) -> None:
    driver.ecc(1, "mem_ecc_uncorrected", 2)
    driver.status(1, 0, "hw_hbm_ue_error", 2)
    follower = collector(tmp_path)

    first, second = follower.collect(Request(0)), follower.collect(Request(60))

    assert (first.hardware_errors, second.hardware_errors) == ((), ())
    assert first.problems == ("device 1 had 2 mem_ecc_uncorrected before the agent first looked; they do not count",)
    assert second.problems == ()
    assert devices(second)["ecc"]["mem_ecc_uncorrected"] == [0, 2]


def test_a_restarted_agent_counts_what_happened_without_it_and_nothing_twice(tmp_path: Path) -> None:
    driver = NeuronSysfs(tmp_path / "sys")
    driver.ecc(0, "mem_ecc_uncorrected", 2)
    first = collector(tmp_path)
    first.collect(Request(0))
    first.collect(Request(60))
    assert collector(tmp_path).collect(Request(120)).hardware_errors == ()
    # While no agent runs: one memory error, and two DMA aborts of a process that ended.
    driver.ecc(0, "mem_ecc_uncorrected", 3)
    driver.status(1, 0, "hw_dma_abort_error", 2)

    seen = collector(tmp_path).collect(Request(180))

    assert set(seen.hardware_errors) == {SeenError(HBM_UNCORRECTABLE, 0, 1, ECC), SeenError(DMA_ABORT, 1, 2, STATUS)}


def test_a_new_boot_starts_with_what_the_counters_show(tmp_path: Path) -> None:
    driver = NeuronSysfs(tmp_path / "sys")
    first = collector(tmp_path, "boot-1")
    first.collect(Request(0))
    first.collect(Request(60))
    driver.ecc(0, "mem_ecc_repairable_uncorrected", 1)

    assert collector(tmp_path, "boot-2").collect(Request(0)).hardware_errors == ()


def test_a_cleared_counter_is_a_new_start(driver: NeuronSysfs, tmp_path: Path) -> None:
    follower = collector(tmp_path)
    counts = []
    for minute, value in enumerate((7, 2, 2, 3, 0, 5)):
        driver.status(0, 0, "hw_dma_abort_error", value)
        counts.append(sum(error.count for error in follower.collect(Request(60 * minute)).hardware_errors))

    # First seen; cleared; the same; one more; cleared; five since then.
    assert counts == [0, 0, 0, 1, 0, 5]


def test_an_ecc_register_that_could_not_be_read_for_a_while_counts_nothing_twice(
    driver: NeuronSysfs, tmp_path: Path
) -> None:
    follower = collector(tmp_path)
    counts = []
    for minute, value in enumerate((4, 0, 0, 4, 0, 6, 0, 1, 2, 0xDEADBEEF, 2)):
        driver.ecc(0, "mem_ecc_uncorrected", value)
        counts.append(sum(error.count for error in follower.collect(Request(60 * minute)).hardware_errors))

    # First seen, unreadable, unreadable, back, unreadable, back with 6 - 4 new ones; then cleared, and 1, and 2 - 1.
    assert counts == [0, 0, 0, 0, 0, 2, 0, 1, 1, 0, 0]


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


def test_a_file_that_gives_nothing_takes_nothing_from_the_others(
    driver: NeuronSysfs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    driver.memory(0, 0, "", GIB)
    driver.ecc(0, "mem_ecc_uncorrected", "N/A")
    driver.power(1, "\x00\x7fgarbage")
    broken = str(driver.ecc_path(1, "sram_ecc_uncorrected"))
    real = os.open

    def opened(path: str, flags: int) -> int:
        if path == broken:
            raise OSError(5, "Input/output error")
        return real(path, flags)

    monkeypatch.setattr("agents.collectors.read_only.os.open", opened)

    seen = collector(tmp_path).collect(Request(0))

    shown = devices(seen)
    assert shown["hbm_bytes"] == [GIB, 0]
    assert shown["ecc"]["mem_ecc_uncorrected"] == [None, 0]
    assert shown["ecc"]["sram_ecc_uncorrected"] == [0, None]
    assert shown["power_percent"]["avg"] == [1.57, None]
    (problem,) = seen.problems
    assert problem.startswith("sysfs: 3 files gave nothing, the first: device ")


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


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b"POWER_STATUS_VALID,1795230000,0.32,3.04,1.57\n", Power(0.32, 3.04, 1.57)),
        (b"POWER_STATUS_VALID,1795230000,0,3,1", Power(0, 3, 1)),
        (b"POWER_STATUS_INVALID,1795230000,0.32,3.04,1.57", None),
        (b"POWER_STATUS_VALID,1795230000,5.00,3.04,4.00", None),
        (b"POWER_STATUS_VALID,1795230000,0.32,3.04,nan", None),
        (b"POWER_STATUS_VALID,1795230000,0.32,1e99,0.5", None),
        (b"POWER_STATUS_VALID,1795230000,0.32,3.04", None),
        (b"\xff" * 4096, None),
        (b"", None),
    ],
)
def test_only_a_power_line_of_the_known_form_is_power(text: bytes, expected: Power | None) -> None:
    assert power(text) == expected


def test_unhealthy_parts_are_shown_and_are_a_problem(driver: NeuronSysfs, tmp_path: Path) -> None:
    driver.health(0, "none\n")
    driver.health(1, "hbm, link_pcie\n")

    seen = collector(tmp_path).collect(Request(0))

    assert devices(seen)["unhealthy"] == {"1": ["hbm", "link_pcie"]}
    assert seen.problems == ("the driver calls parts of device 1 unhealthy: hbm, link_pcie",)


@pytest.mark.parametrize(
    ("text", "name", "expected"),
    [
        (b"", "", set()),
        (b"0\n", "", set()),
        (b"hbm sram\n", "", {"hbm", "sram"}),
        (b"hbm=0 sram=0", "", set()),
        (b"0\n", "hbm", set()),
        (b"1\n", "hbm", {"hbm"}),
        (b"\xff\xfe/../x", "", set()),
    ],
)
def test_what_is_no_list_of_components_names_none(text: bytes, name: str, expected: set[str]) -> None:
    assert components(text, name) == expected


def test_a_flood_of_components_is_bounded() -> None:
    assert len(components(b" ".join(b"part_%d" % n for n in range(500)), "")) == 16


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


def test_the_tensor_engine_is_estimated_only_when_asked_for(driver: NeuronSysfs, tmp_path: Path) -> None:
    asked, not_asked = collector(tmp_path, tensor_engine=True), collector(tmp_path)
    for follower in (asked, not_asked):
        follower.collect(Request(0))
    # 60 s at 1.4 GHz are 84e9 cycles: 21e9 of them are 25 %, 42e9 are 50 %; the mean of 25, 25, 50, 50 is 37.5.
    quarter, half = (21 * 10**9, 63 * 10**9), (42 * 10**9, 42 * 10**9)
    driver.tensor_engine(1, 0, pe_cntrs(quarter, quarter, half, half))

    assert "tensor_engine_estimated" not in devices(not_asked.collect(Request(60)))
    assert devices(asked.collect(Request(60)))["tensor_engine_estimated"] == {
        "method": "pe_cntrs",
        "percent_by_core": [[None], [37.5]],
    }


FOUR = ((1, 9), (1, 9), (1, 9), (1, 9))


@pytest.mark.parametrize(
    ("later", "seconds"),
    [
        (((0, 9), *FOUR[1:]), 60),
        (((1 + 2**40, 9), *FOUR[1:]), 60),
        (FOUR, 60),
        (((2, 10), (2, 10), (2, 10), (2, 10)), 0),
        (((2, 10), (2, 10), (2, 10), (2, 10)), -60),
    ],
    ids=["a fall", "a jump", "no cycle", "no time", "a clock set back"],
)
def test_counters_that_cannot_be_are_no_estimate(later: tuple[tuple[int, int], ...], seconds: float) -> None:
    estimate = TensorEngineEstimate()
    estimate.percent((0, 0), FOUR, 1000.0)

    assert estimate.percent((0, 0), later, 1000.0 + seconds) is None


def test_the_estimate_starts_again_after_a_reading_that_was_cut() -> None:
    estimate = TensorEngineEstimate()
    later = ((11, 19), (11, 19), (11, 19), (11, 19))

    assert estimate.percent((0, 0), FOUR, 0) is None
    assert estimate.percent((0, 0), None, 60) is None
    assert estimate.percent((0, 0), FOUR, 120) is None
    assert estimate.percent((0, 0), later, 180) == 50.0


@pytest.mark.parametrize(
    "text",
    [
        b"",
        PE_HEADER.encode(),
        pe_cntrs((1, 2), (1, 2), (1, 2)).encode(),
        pe_cntrs((1, 2), (1, 2), (1, 2), (1, 2)).encode() + b"x",
        pe_cntrs(*[(10**18, 10**18)] * 4).encode().ljust(255, b"9"),
    ],
    ids=["empty", "header alone", "three rows", "a broken row", "a full buffer"],
)
def test_a_table_without_four_whole_rows_is_not_used(text: bytes) -> None:
    assert rows(text) is None
