"""The watch asks in a thread of its own: a runtime that hangs hangs nobody else."""

import threading
from pathlib import Path

import pytest

from fleet.serving.readiness import Expected, Limits, Step
from workload.serving.devices import held_devices
from workload.serving.health import Health
from workload.serving.memory import HostMemory
from workload.serving.watch import Watch


class Runtime:
    def __init__(self) -> None:
        self.hangs = threading.Event()
        self.error: Exception | None = None
        self.asked = 0

    def answer(self) -> None:
        self.asked += 1
        if self.error:
            raise self.error
        if self.hangs.is_set():
            threading.Event().wait(0.3)

    def held_cores(self) -> int:
        return 2


def watched(tmp_path: Path, runtime: Runtime, ended: list[str]) -> tuple[Watch, Health]:
    health = Health(Expected(2, frozenset()), HostMemory(tmp_path, "b"), lambda: 0.0, Limits(failures=2))
    return Watch(health, runtime, lambda: ended.append("ended"), every=0.01, timeout=0.05), health


def test_a_runtime_that_answers_is_ready(tmp_path: Path) -> None:
    watch, health = watched(tmp_path, Runtime(), [])

    assert watch.once() is None
    assert health.ready().status == 200
    watch.stop()


def test_a_runtime_that_hangs_is_asked_once_while_it_hangs(tmp_path: Path) -> None:
    runtime = Runtime()
    watch, health = watched(tmp_path, runtime, [])
    watch.once()
    runtime.hangs.set()

    assert [watch.once(), watch.once()] == [None, Step.RESTART]
    assert runtime.asked == 2
    assert "no answer in 0.05 s" in health.live().body["reason"]
    watch.stop()


def test_what_a_runtime_raises_is_the_reason(tmp_path: Path) -> None:
    runtime = Runtime()
    watch, health = watched(tmp_path, runtime, [])
    runtime.error = RuntimeError("NRT_EXEC_HW_ERR_HBM_UE")
    watch.once()

    assert health.ready().body["checks"]["runtime"]["detail"] == "RuntimeError: NRT_EXEC_HW_ERR_HBM_UE"
    watch.stop()


def test_the_watch_ends_the_process_once(tmp_path: Path) -> None:
    ended: list[str] = []
    runtime = Runtime()
    watch, health = watched(tmp_path, runtime, ended)
    watch.once()
    runtime.error = RuntimeError("sick")
    watch.start()
    for _ in range(200):
        if ended:
            break
        threading.Event().wait(0.01)
    watch.stop()

    assert ended == ["ended"]
    assert health.live().status == 503


def test_a_memory_that_cannot_be_written_restarts_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    health = Health(Expected(2, frozenset()), HostMemory(tmp_path / "file/in", "b"), lambda: 0.0, Limits(failures=1))
    runtime = Runtime()
    watch = Watch(health, runtime, lambda: None, timeout=1)
    watch.once()
    runtime.error = RuntimeError("sick")

    assert watch.once() is None
    watch.stop()


@pytest.mark.parametrize(("opened", "held"), [([], set()), (["/dev/neuron0", "/dev/neuron11", "/dev/null"], {0, 11})])
def test_devices_are_held_by_whoever_has_them_open(tmp_path: Path, opened: list[str], held: set[int]) -> None:
    for number, path in enumerate(opened):
        folder = tmp_path / f"{number + 7}/fd"
        folder.mkdir(parents=True)
        (folder / "3").symlink_to(path)
    (tmp_path / "self").mkdir()
    (tmp_path / "99").mkdir()

    assert held_devices(tmp_path) == held
