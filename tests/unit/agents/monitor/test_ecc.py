"""Memory errors, counted per period or since power-on: each is told once, also over restarts and reboots."""

from pathlib import Path

import pytest

from agents.minute.pipeline import Pipeline
from agents.monitor.decode.report import Ecc
from agents.monitor.ecc import EccWatch
from fleet.job_progress import Known
from fleet.node_state import NodeState
from tests.support import agents, samples


def seen(watch: EccWatch, value: int | None, device: int = 6) -> int:
    """How many errors are new when the device reports ``value``."""
    counters = {} if value is None else {"mem_ecc_uncorrected": value}
    return sum(error.count for error in watch.new_errors([Ecc(device, counters)]))


@pytest.mark.parametrize(
    ("values", "new"),
    [
        # Since power-on: one error, then two more.
        ((0, 1, 1, 1, 3, 3), (0, 1, 0, 0, 2, 0)),
        # Per period: 1, then 5, then 3.
        ((1, 0, 5, 3, 0), (1, 0, 5, 3, 0)),
        # Since power-on, and reset by a driver that was loaded again: 2 have come since.
        ((4, 4, 2, 2), (4, 0, 2, 0)),
        # A report that does not hold the counter says nothing.
        ((1, None, 1, 2), (1, 0, 0, 1)),
    ],
)
def test_each_error_is_told_once(values: tuple[int | None, ...], new: tuple[int, ...]) -> None:
    watch = EccWatch()

    assert tuple(seen(watch, value) for value in values) == new


def test_corrected_errors_are_no_fault() -> None:
    assert EccWatch().new_errors([Ecc(0, {"mem_ecc_corrected": 9, "sram_ecc_corrected": 9})]) == ()


def test_each_device_and_kind_has_its_own_counter() -> None:
    found = EccWatch().new_errors([Ecc(1, {"mem_ecc_uncorrected": 2, "sram_ecc_uncorrected": 3}), Ecc(2, {})])

    assert [(error.error.kind, error.device, error.count) for error in found] == [
        ("hbm-uncorrectable", 1, 2),
        ("sram-uncorrectable", 1, 3),
    ]


def test_an_agent_that_starts_again_tells_no_old_error_and_misses_no_new_one(tmp_path: Path) -> None:
    record = tmp_path / "ecc.json"
    before = EccWatch(record)
    assert seen(before, 3) == 3
    before.keep()

    after = EccWatch(record)

    # Also after a reboot that the counter survived: the node is not in FAULT for ever.
    assert seen(after, 3) == 0
    assert seen(after, 4) == 1


def test_an_error_that_came_while_no_agent_looked_is_told(tmp_path: Path) -> None:
    record = tmp_path / "ecc.json"
    before = EccWatch(record)
    seen(before, 3)
    before.keep()

    assert seen(EccWatch(record), 5) == 2


def test_an_error_that_was_not_published_before_a_crash_is_told_again(tmp_path: Path) -> None:
    record = tmp_path / "ecc.json"
    seen(EccWatch(record), 3)

    assert seen(EccWatch(record), 3) == 3


def test_counters_that_do_not_change_are_not_written_again(tmp_path: Path) -> None:
    record = tmp_path / "ecc.json"
    watch = EccWatch(record)
    seen(watch, 3)
    watch.keep()
    record.unlink()

    seen(watch, 3)
    watch.keep()

    assert not record.exists()


@pytest.mark.parametrize("damage", [b"", b"{", b"[]", b'{"mem_ecc_uncorrected/6": "3"}', b"\xff"])
def test_a_damaged_record_makes_every_error_new(
    damage: bytes, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    record = tmp_path / "ecc.json"
    record.write_bytes(damage)

    assert seen(EccWatch(record), 3) == 3
    assert "every nonzero error counter is new" in caplog.text


def test_a_record_that_cannot_be_written_is_logged_and_written_later(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    record = tmp_path / "missing" / "ecc.json"
    watch = EccWatch(record)
    seen(watch, 3)

    watch.keep()
    record.parent.mkdir()
    watch.keep()

    assert "No such file" in caplog.text
    assert seen(EccWatch(record), 3) == 0


def test_a_reboot_ends_a_fault_whose_counter_survives_it(tmp_path: Path) -> None:
    record = tmp_path / "ecc.json"
    made = samples.report([], ecc={6: {"mem_ecc_uncorrected": 1}})
    before = Pipeline(agents.config(), "i-1", agents.MINUTE, errors=EccWatch(record))
    assert agents.feed(before, agents.MINUTE, made).verdict.state is NodeState.FAULT
    before.published()

    # What the node's state remembers ends with the boot.
    after = Pipeline(agents.config(), "i-1", agents.MINUTE, known=Known(), errors=EccWatch(record))

    assert agents.feed(after, agents.MINUTE, made).verdict.state is NodeState.NO_JOB
    worse = samples.report([], ecc={6: {"mem_ecc_uncorrected": 2}})
    assert agents.feed(after, agents.MINUTE + 60, worse).verdict.state is NodeState.FAULT
