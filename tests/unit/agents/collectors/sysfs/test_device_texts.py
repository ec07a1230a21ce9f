"""Whatever the kernel prints: bytes that mean nothing do no harm, and are no figure."""

import math
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agents.collectors.collector import Request
from agents.collectors.efa.collector import EfaCollector
from agents.collectors.efa.tcp_fallback import TcpFallback
from agents.collectors.reading.read_only import whole_number
from agents.collectors.sysfs.readings import components, power
from agents.collectors.sysfs.tensor_engine import rows
from tests.support import kernel_log, neuron_sysfs

# Bytes at random, and bytes that are nearly right.
pieces = st.sampled_from(
    [
        *(b"POWER_STATUS_VALID,", b"NEURON_HW_ERR=", b"DMA_ERROR", b" nd-id=", b" action=", b"3,7,1,-;", b"0,1,2,3"),
        *(b"99999999999999999999", b"-1", b"1.5", b",", b":", b"eth0:", b"nan", b"1e999", b" ", b"\n"),
    ]
)
garbage = st.binary(max_size=300) | st.lists(pieces, max_size=20).map(b"".join)
# Files are written again in every example.
reuse = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=150)


@given(garbage)
def test_texts_of_the_driver_give_a_figure_or_none(text: bytes) -> None:
    number, percent, table = whole_number(text), power(text), rows(text)

    assert number is None or 0 <= number < 10**20
    assert percent is None or all(map(math.isfinite, (percent.minimum, percent.maximum, percent.average)))
    assert table is None or len(table) == 4
    assert len(components(text, "")) <= 16


@reuse
@given(content=garbage)
def test_a_kernel_log_of_garbage_is_read(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "kmsg").write_bytes(content)

    seen = kernel_log.collector(tmp_path).collect(Request(0))

    assert all(error.count > 0 for error in seen.hardware_errors)
    assert all(len(problem) < 300 for problem in seen.problems)


@pytest.mark.parametrize("texts", [30, pytest.param(300, marks=pytest.mark.soak)])
def test_a_sysfs_of_garbage_is_read(tmp_path: Path, texts: int) -> None:
    settings(max_examples=texts)(given(content=garbage)(_read_a_sysfs))(tmp_path)


def _read_a_sysfs(tmp_path: Path, content: bytes) -> None:
    if not (tmp_path / "sys").exists():
        neuron_sysfs.NeuronSysfs(tmp_path / "sys", devices=1, cores=1)
    for path in (tmp_path / "sys").rglob("*"):
        if path.is_file() and not path.is_symlink():
            path.write_bytes(content)

    seen = neuron_sysfs.collector(tmp_path, tensor_engine=True).collect(Request(0))

    assert seen.hardware_errors == ()
    assert len(str(seen)) < 4000


@reuse
@given(content=garbage)
def test_efa_counters_and_interfaces_of_garbage_are_read(tmp_path: Path, content: bytes) -> None:
    counters = tmp_path / "sys/class/infiniband/efa_0/ports/1/hw_counters"
    counters.mkdir(parents=True, exist_ok=True)
    process = tmp_path / "proc/7"
    (process / "net").mkdir(parents=True, exist_ok=True)
    files = [
        *(counters / name for name in ("rx_bytes", "tx_bytes", "rx_drops")),
        process / "environ",
        process / "net/dev",
    ]
    for path in files:
        path.write_bytes(content)

    seen = EfaCollector(tmp_path / "sys", tmp_path / "proc").collect(Request(0, (7,)))

    assert seen.metrics == {}
    assert TcpFallback(tmp_path / "proc").seen((7,), 0, 0) is None
