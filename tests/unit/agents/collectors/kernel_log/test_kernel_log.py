"""The kernel log: what counts, what counts once, and what is said of the rest."""

from pathlib import Path

import pytest

from agents.collectors.collector import Contribution, Request
from agents.collectors.kernel_log.collector import Entry, entry
from agents.collectors.seen_error import SeenError, Source
from fleet.hardware_errors import HANG_ON_COLLECTIVES, SRAM_UNCORRECTABLE, UNLISTED, Action
from tests.support.kernel_log import append, collector, errors, hardware, record

DOCUMENTED = (
    "NEURON_HW_ERR=SRAM_UNCORRECTABLE_ERROR instance-id=i-0592464924bd45322 hostname=ip-172-31-61-252 "
    "nd-id=0 nc-id=0 serial-num=19fcda00f5ff6eb9 action=TERMINATE_INSTANCE"
)
KERNEL = (Source.KERNEL_LOG,)


def test_the_documented_line_is_an_error_with_its_device_and_action_and_without_its_serial_number(
    tmp_path: Path,
) -> None:
    append(tmp_path / "kmsg", record(7, DOCUMENTED))

    seen = collector(tmp_path).collect(Request(0))

    assert seen.hardware_errors == (SeenError(SRAM_UNCORRECTABLE, 0, 1, KERNEL, Action.REPLACE),)
    assert seen.problems == ()
    assert "19fcda00f5ff6eb9" not in str(seen)
    assert "ip-172-31-61-252" not in str(seen)


def test_lines_of_other_sources_and_their_properties_are_ignored(tmp_path: Path) -> None:
    append(
        tmp_path / "kmsg",
        record(1, "NET: Registered protocol family 10"),
        " SUBSYSTEM=acpi NEURON_HW_ERR=DMA_ERROR\n",
        "not a record NEURON_HW_ERR=DMA_ERROR\n",
        record(2, "neuron: NEURON_HW_ERROR is not the word"),
    )

    assert collector(tmp_path).collect(Request(0)) == Contribution()


def test_lines_of_one_kind_and_device_add_up(tmp_path: Path) -> None:
    append(
        tmp_path / "kmsg",
        record(1, hardware("DMA_ERROR", 3)),
        record(2, hardware("DMA_ERROR", 3)),
        record(3, hardware("DMA_ERROR", 12)),
    )

    assert errors(collector(tmp_path).collect(Request(0))) == [("dma-abort", 3, 2), ("dma-abort", 12, 1)]


def test_only_what_is_new_counts_and_half_a_line_waits_for_its_end(tmp_path: Path) -> None:
    log = tmp_path / "kmsg"
    follower = collector(tmp_path)
    line = record(2, hardware("DMA_ERROR"))
    append(log, record(1, hardware("DMA_ERROR")), line[:40])

    assert errors(follower.collect(Request(0))) == [("dma-abort", 0, 1)]
    assert errors(follower.collect(Request(60))) == []
    append(log, line[40:])
    assert errors(follower.collect(Request(120))) == [("dma-abort", 0, 1)]


def test_a_restart_of_the_agent_counts_no_line_again_and_misses_none(tmp_path: Path) -> None:
    log = tmp_path / "kmsg"
    append(log, record(5, hardware("DMA_ERROR", 1)), record(6, "usb"))
    first = collector(tmp_path)
    assert errors(first.collect(Request(0))) == [("dma-abort", 1, 1)]
    first.collect(Request(60))
    # The agent is down while the second error is logged.
    append(log, record(7, hardware("DMA_ERROR", 2)))

    assert errors(collector(tmp_path).collect(Request(120))) == [("dma-abort", 2, 1)]


def test_a_crash_before_the_count_can_be_in_the_spool_repeats_it(tmp_path: Path) -> None:
    append(tmp_path / "kmsg", record(5, hardware("DMA_ERROR", 1)))
    collector(tmp_path).collect(Request(0))

    assert errors(collector(tmp_path).collect(Request(60))) == [("dma-abort", 1, 1)]


def test_a_new_boot_numbers_its_records_anew(tmp_path: Path) -> None:
    append(tmp_path / "kmsg", record(900, hardware("DMA_ERROR")))
    old = collector(tmp_path, "boot-1")
    old.collect(Request(0))
    old.collect(Request(60))
    (tmp_path / "kmsg").write_text(record(3, hardware("HANG_ON_COLLECTIVES")))

    (hang,) = collector(tmp_path, "boot-2").collect(Request(120)).hardware_errors

    assert (hang.error, hang.count) == (HANG_ON_COLLECTIVES, 1)


@pytest.mark.parametrize("content", [b"", b"{", b'{"boot_id":1}', b'{"boot_id":"boot-1","numbers":{"sequence":"x"}}'])
def test_a_damaged_memory_is_as_good_as_none(tmp_path: Path, content: bytes) -> None:
    append(tmp_path / "kmsg", record(5, hardware("DMA_ERROR")))
    (tmp_path / "spool").mkdir()
    (tmp_path / "spool/kernel-log.json").write_bytes(content)

    assert errors(collector(tmp_path).collect(Request(0))) == [("dma-abort", 0, 1)]


def test_a_memory_that_cannot_be_written_stops_nothing(tmp_path: Path) -> None:
    (tmp_path / "spool").write_text("a file where the folder should be")
    append(tmp_path / "kmsg", record(5, hardware("DMA_ERROR")))
    follower = collector(tmp_path)
    follower.collect(Request(0))

    assert follower.collect(Request(60)) == Contribution()


def test_an_unknown_kind_is_named_and_does_what_it_asks_for(tmp_path: Path) -> None:
    append(
        tmp_path / "kmsg",
        record(1, hardware("FLUX_ERROR", 4)),
        record(2, hardware("FLUX_ERROR", 4)),
        record(3, "NEURON_HW_ERR=HUM_ERROR nd-id=1"),
    )

    seen = collector(tmp_path).collect(Request(0))

    assert seen.hardware_errors == (SeenError(UNLISTED, 4, 2, KERNEL, Action.REPLACE),)
    assert seen.problems == (
        "the kernel log names the hardware error FLUX_ERROR, which is not known here (2 times)",
        "the kernel log names the hardware error HUM_ERROR, which is not known here (1 times)",
    )


def test_a_flood_of_unknown_kinds_is_a_few_problems(tmp_path: Path) -> None:
    append(tmp_path / "kmsg", *(record(n, f"NEURON_HW_ERR=KIND_{n}") for n in range(1000)))

    problems = collector(tmp_path).collect(Request(0)).problems

    assert len(problems) == 6
    assert problems[-1] == "the kernel log names 995 more that are not known here"


def test_an_unknown_action_is_said_and_the_documented_one_stays(tmp_path: Path) -> None:
    append(tmp_path / "kmsg", record(1, hardware("DMA_ERROR", 2, "KICK_IT")))

    seen = collector(tmp_path).collect(Request(0))

    assert [each.action for each in seen.hardware_errors] == [Action.REPLACE]
    assert seen.problems == ("the kernel log names the action KICK_IT, which is not known here (1 times)",)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("NEURON_HW_ERR=DMA_ERROR", Entry("DMA_ERROR", None, None)),
        ("NEURON_HW_ERR=DMA_ERROR nd-id=x action=", Entry("DMA_ERROR", None, None)),
        # A line feed at the end of the runtime's text is printed as \x0a.
        (
            "NEURON_HW_ERR=DMA_ERROR nd-id=15 action=TERMINATE_INSTANCE\\x0a",
            Entry("DMA_ERROR", 15, "TERMINATE_INSTANCE"),
        ),
        ("NEURON_HW_ERR= nd-id=15", None),
        ("", None),
    ],
)
def test_what_a_line_does_not_say_is_not_known(text: str, found: Entry | None) -> None:
    assert entry(text) == found


def test_a_machine_without_a_kernel_log_is_quiet(tmp_path: Path) -> None:
    assert collector(tmp_path).collect(Request(0)) == Contribution()
