"""What the Neuron driver shows of its devices, in the log event."""

import os
from pathlib import Path

import pytest

from agents.collectors.collector import Request
from tests.support.neuron_sysfs import SERIAL_NUMBER, Generation, NeuronSysfs, collector, devices, pe_cntrs

GIB = 1024**3


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
    assert shown["host_bytes"] == 5120


def test_power_ecc_and_resets_are_shown_by_device(driver: NeuronSysfs, tmp_path: Path) -> None:
    driver.power(0, "POWER_STATUS_VALID,1795230000,0.86,25.00,18.86")
    driver.power(1, "POWER_STATUS_NO_DATA,0,0.00,0.00,0.00")
    driver.ecc(1, "mem_ecc_corrected", 12)
    driver.other(0, 0, "reset_req_count", 1)
    driver.other(0, 1, "reset_req_count", 1)
    driver.other(1, 1, "reset_fail_count", 3)

    shown = devices(collector(tmp_path).collect(Request(0)))

    assert shown["power_percent"] == {"max": [25.0, None], "avg": [18.86, None]}
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

    monkeypatch.setattr("agents.collectors.reading.read_only.os.open", opened)

    seen = collector(tmp_path).collect(Request(0))

    shown = devices(seen)
    assert shown["hbm_bytes"] == [GIB, 0]
    assert shown["ecc"]["mem_ecc_uncorrected"] == [None, 0]
    assert shown["ecc"]["sram_ecc_uncorrected"] == [0, None]
    assert shown["power_percent"]["avg"] == [1.57, None]
    (problem,) = seen.problems
    assert problem.startswith("sysfs: 3 files gave nothing, the first: device ")


def test_unhealthy_parts_are_shown_and_are_a_problem(driver: NeuronSysfs, tmp_path: Path) -> None:
    driver.health(0, "none\n")
    driver.health(1, "hbm, link_pcie\n")

    seen = collector(tmp_path).collect(Request(0))

    assert devices(seen)["unhealthy"] == {"1": ["hbm", "link_pcie"]}
    assert seen.problems == ("the driver calls parts of device 1 unhealthy: hbm, link_pcie",)


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
