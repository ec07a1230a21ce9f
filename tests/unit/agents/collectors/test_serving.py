"""What becomes of a host that an endpoint's task has given up: one fault of the node, counted once."""

from pathlib import Path

from agents.collectors.collector import Request
from agents.collectors.reading.boot_memory import BootMemory
from agents.collectors.seen_error import SeenError, Source
from agents.collectors.serving import ServingCollector
from fleet.hardware_errors import SERVING_RUNTIME, Action
from workload.serving.memory import HostMemory, Remembered

BOOT = "0a1b"


def collector(folder: Path, boot: str = BOOT) -> ServingCollector:
    return ServingCollector(folder / "serving", boot, BootMemory(folder / "kept.json", boot))


def remember(folder: Path, restarts: int, handed_over: str = "", boot: str = BOOT) -> None:
    HostMemory(folder / "serving", boot).save(Remembered(boot, restarts, "it hangs", handed_over))


def test_nothing_is_said_where_nothing_happened(tmp_path: Path) -> None:
    told = collector(tmp_path).collect(Request(60.0))

    assert (told.event, told.hardware_errors, told.problems) == ({}, (), ())


def test_a_restart_is_told_and_is_no_fault(tmp_path: Path) -> None:
    remember(tmp_path, 1)
    told = collector(tmp_path).collect(Request(60.0))

    assert told.event == {"serving": {"restarts": 1, "last": "it hangs", "handed_over": ""}}
    assert told.hardware_errors == ()
    assert told.problems == ("the endpoint's runtime was restarted: it hangs",)


def test_a_host_that_was_given_up_is_one_fault_also_after_the_agent_was_restarted(tmp_path: Path) -> None:
    remember(tmp_path, 1, "sick again")
    first = collector(tmp_path)

    assert first.collect(Request(60.0)).hardware_errors == (SeenError(SERVING_RUNTIME, None, 1, (Source.SERVING,)),)
    assert first.collect(Request(120.0)).hardware_errors == ()
    assert collector(tmp_path).collect(Request(180.0)).hardware_errors == ()
    assert SERVING_RUNTIME.action is Action.REBOOT


def test_what_was_said_before_a_reboot_is_over(tmp_path: Path) -> None:
    remember(tmp_path, 1, "sick again", boot="another")

    assert collector(tmp_path).collect(Request(60.0)).hardware_errors == ()
