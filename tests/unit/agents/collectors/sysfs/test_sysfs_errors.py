"""The Neuron driver's error counters: what is new, what was there before, and what only seemed to be gone."""

from pathlib import Path

import pytest

from agents.collectors.collector import Request
from agents.collectors.seen_error import SeenError, Source
from fleet.hardware_errors import (
    CORE_UNCORRECTABLE,
    DMA_ABORT,
    HANG_ON_COLLECTIVES,
    HBM_REPAIRABLE,
    HBM_UNCORRECTABLE,
    SRAM_UNCORRECTABLE,
)
from tests.support.neuron_sysfs import Generation, NeuronSysfs, collector, devices

ECC, STATUS = (Source.SYSFS_ECC,), (Source.RUNTIME_STATUS,)


@pytest.fixture(params=list(Generation), ids=lambda generation: generation.name)
def driver(request: pytest.FixtureRequest, tmp_path: Path) -> NeuronSysfs:
    return NeuronSysfs(tmp_path / "sys", devices=2, cores=2, generation=request.param)


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
