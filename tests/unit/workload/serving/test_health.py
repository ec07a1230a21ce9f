"""Every transition of a serving process: loading, ready, failing, sick, restarted, given up, recovered."""

from collections.abc import Callable
from pathlib import Path

import pytest

from fleet.serving.readiness import Expected, Limits, Step
from workload.serving import memory
from workload.serving.health import Health
from workload.serving.memory import HostMemory

EXPECTED = Expected(2, frozenset({(128, 1), (256, 1)}), "neuron-artifacts/chat/5f1c")
LIMITS = Limits(loading_seconds=100, failures=3, well_seconds=1000)


class Host:
    """One machine; ``process`` is what ECS starts on it, as often as it is asked."""

    def __init__(self, folder: Path, boot: str = "boot-1") -> None:
        self.folder, self.boot, self.time = folder, boot, 0.0

    def process(self) -> Health:
        return Health(EXPECTED, HostMemory(self.folder, self.boot), lambda: self.time, LIMITS)

    def ready_process(self) -> Health:
        health = self.process()
        health.found_artifact("")
        health.ran(128, 1)
        health.ran(256, 1)
        assert health.probed("", 2) is None
        return health


@pytest.fixture
def host(tmp_path: Path) -> Host:
    return Host(tmp_path / "serving")


def statuses(health: Health) -> tuple[int, int]:
    return health.live().status, health.ready().status


def test_a_process_that_loads_is_live_and_not_ready_and_says_what_is_missing(host: Host) -> None:
    health = host.process()

    assert statuses(health) == (200, 503)
    checks = health.ready().body["checks"]
    assert {name for name, check in checks.items() if not check["holds"]} == {
        "runtime",
        "cores",
        "buckets",
        "artifact",
    }


def test_it_becomes_ready_with_the_last_thing_that_was_missing(host: Host) -> None:
    health = host.process()
    seen = [statuses(health)]
    steps: list[Callable[[], object]] = [
        lambda: health.found_artifact(""),
        lambda: health.probed("", 2),
        lambda: health.ran(128, 1),
        lambda: health.ran(256, 1),
    ]
    for happens in steps:
        happens()
        seen.append(statuses(health))

    assert seen == [(200, 503)] * 4 + [(200, 200)]


def test_one_failed_probe_takes_it_out_of_service_and_does_not_end_it(host: Host) -> None:
    health = host.ready_process()

    assert health.probed("no answer in 5 s", None) is None
    assert statuses(health) == (200, 503)
    health.probed("", 2)
    assert statuses(health) == (200, 200)


def test_a_core_that_was_lost_is_not_ready(host: Host) -> None:
    health = host.ready_process()
    health.probed("", 1)

    assert health.ready().body["checks"]["cores"] == {"holds": False, "detail": "1 of 2 are held"}


def test_a_wrong_artifact_is_no_reason_to_end_the_process(host: Host) -> None:
    health = host.ready_process()
    health.found_artifact("a graph differs")
    host.time = 10_000

    assert health.probed("", 2) is None
    assert statuses(health) == (200, 503)


def test_a_sick_runtime_is_restarted_once_and_then_the_host_is_given_up(host: Host) -> None:
    first = host.ready_process()
    steps = [first.probed("it hangs", None) for _ in range(3)]
    assert (steps, statuses(first)) == ([None, None, Step.RESTART], (503, 503))
    assert first.live().body["reason"] == "3 probes in a row failed: it hangs"

    second = host.ready_process()
    steps = [second.probed("it hangs", None) for _ in range(3)]
    # Alive, so that ECS does not start it again and again on a sick host.
    assert (steps, statuses(second)) == ([None, None, Step.HAND_OVER], (200, 503))
    kept = memory.read(host.folder)
    assert kept is not None
    assert kept.handed_over == "sick again after a restart: 3 probes in a row failed: it hangs"

    # It asks for nothing twice, and a container that is started there all the same takes no requests.
    assert second.probed("it hangs", None) is None
    assert statuses(host.ready_process()) == (200, 503)


def test_a_process_that_never_loads_is_sick_too(host: Host) -> None:
    health = host.process()
    host.time = 99.0
    assert health.probed("loading", None) is None
    host.time = 100.0

    assert health.probed("loading", None) is Step.RESTART
    assert "no answer in 100 s of loading: loading" in health.live().body["reason"]


def test_a_restart_is_forgotten_when_the_runtime_was_well_for_long(host: Host) -> None:
    for _ in range(3):
        host.process().probed("x", None)
    first = host.ready_process()
    [first.probed("it hangs", None) for _ in range(3)]
    second = host.ready_process()
    host.time += LIMITS.well_seconds
    second.probed("", 2)

    assert memory.read(host.folder) is None
    steps = [second.probed("it hangs", None) for _ in range(3)]
    assert steps[-1] is Step.RESTART


def test_a_host_that_was_rebooted_starts_anew(host: Host) -> None:
    for _ in range(2):
        health = host.ready_process()
        [health.probed("it hangs", None) for _ in range(3)]
    host.boot = "boot-2"

    assert statuses(host.ready_process()) == (200, 200)


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"boot_id": "boot-1"}', b"[" * 5000, b"x" * 20_000])
def test_a_damaged_memory_is_no_memory(host: Host, content: bytes) -> None:
    host.folder.mkdir()
    (host.folder / memory.NAME).write_bytes(content)

    assert memory.read(host.folder) is None
    assert statuses(host.ready_process()) == (200, 200)
