"""The host's minute: differences by hand, and a burst of writing."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psutil
import pytest

from agents.collectors.collector import Contribution, Request
from agents.collectors.host import machine
from agents.collectors.host.collector import HostCollector
from agents.collectors.host.machine import Disk, Interface
from agents.collectors.host.probe import MountProbes
from tests.support.host import GIB, FakeMachine, nfs, show_mounts

MIB = 2**20


def quiet_probes() -> MountProbes:
    """Probes that find every mount well, at once."""
    return MountProbes(ask=lambda _: None, patience=60, elapsed=lambda: 0.0)


def two_minutes(proc: Path, fake: FakeMachine, change: Any) -> Contribution:
    collector = HostCollector(proc, fake, quiet_probes())
    collector.collect(Request(0))
    change()
    return collector.collect(Request(60))


def test_the_first_minute_has_only_what_holds_at_the_moment(tmp_path: Path) -> None:
    seen = HostCollector(tmp_path, FakeMachine()).collect(Request(0))

    assert seen == Contribution(
        event={
            "host": {
                "cpus": 8,
                "load": [1.5, 2.25, 3.0],
                "memory_used_bytes": 16 * GIB,
                "memory_available_bytes": 48 * GIB,
                "swap_used_bytes": 0,
                "disks": [{"device": "nvme0n1p1", "is_root": True, "size_bytes": 200 * GIB, "used_percent": 40.5}],
            }
        }
    )


def test_processor_time_is_a_share_of_what_passed(tmp_path: Path) -> None:
    fake = FakeMachine()

    # 8 processors for 60 s are 480 s: 120 idle, 24 waiting, so 336 busy.
    seen = two_minutes(tmp_path, fake, lambda: fake.change(cpu_total=1480.0, cpu_idle=720.0, cpu_iowait=74.0))

    assert (seen.event["host"]["cpu_busy_percent"], seen.event["host"]["cpu_iowait_percent"]) == (70.0, 5.0)


def test_a_waiting_time_that_steps_back_is_no_negative_share(tmp_path: Path) -> None:
    fake = FakeMachine()

    seen = two_minutes(tmp_path, fake, lambda: fake.change(cpu_total=1480.0, cpu_idle=1080.0, cpu_iowait=49.0))

    assert (seen.event["host"]["cpu_busy_percent"], seen.event["host"]["cpu_iowait_percent"]) == (0.2, 0.0)


def test_disks_and_interfaces_are_differences_and_what_began_anew_is_absent(tmp_path: Path) -> None:
    fake = FakeMachine()
    fake.change(
        disks=(*fake.reading.disks, Disk("nvme1n1", False, 7 * GIB, 1.0, 5, 5)),
        interfaces=(*fake.reading.interfaces, Interface("ens33", 9, 9, 0, 0), Interface("ens34", 1, 1, 0, 0)),
    )

    seen = two_minutes(
        tmp_path,
        fake,
        lambda: fake.change(
            disks=(
                Disk("nvme0n1p1", True, 200 * GIB, 41.0, 11 * GIB, 102 * GIB),
                Disk("nvme1n1", False, 7 * GIB, 1.0, 0, None),
            ),
            interfaces=(
                Interface("ens32", 1500, 2600, 5, 4),
                Interface("ens33", 8, 9, 0, 0),
                Interface("ens34", 1, 1, 0, 0),
                Interface("ens35", 5, 5, 0, 0),
            ),
        ),
    )

    host = seen.event["host"]
    assert [(disk.get("read_bytes"), disk.get("written_bytes")) for disk in host["disks"]] == [
        (GIB, 2 * GIB),
        (None, None),
    ]
    # ens33 was made anew, ens34 is silent, ens35 has just come.
    assert host["network"] == [
        {"interface": "ens32", "received_bytes": 500, "sent_bytes": 600, "errors": 2, "drops": 0}
    ]


def test_of_many_interfaces_the_busiest_are_told(tmp_path: Path) -> None:
    fake = FakeMachine()
    fake.change(interfaces=tuple(Interface(f"ens{n}", 0, 0, 0, 0) for n in range(16)))

    seen = two_minutes(
        tmp_path,
        fake,
        lambda: fake.change(interfaces=tuple(Interface(f"ens{n}", n * 100, 0, 0, 0) for n in range(16))),
    )

    assert [each["interface"] for each in seen.event["host"]["network"]] == [f"ens{n}" for n in range(15, 7, -1)]


@pytest.mark.parametrize("later", [-60, 0.5, 601])
def test_after_a_step_of_the_clock_nothing_is_compared(tmp_path: Path, later: float) -> None:
    collector = HostCollector(tmp_path, FakeMachine())
    collector.collect(Request(1000))

    host = collector.collect(Request(1000 + later)).event["host"]

    assert "cpu_busy_percent" not in host
    assert "written_bytes" not in host["disks"][0]


def test_where_the_machine_is_not_this_one_the_host_is_quiet(tmp_path: Path) -> None:
    assert HostCollector(tmp_path, None).collect(Request(0)) == Contribution()


def test_a_checkpoint_on_disk_or_on_a_network_mount_is_evidence(tmp_path: Path) -> None:
    fake = FakeMachine()
    collector = HostCollector(tmp_path, fake, quiet_probes())
    total = 0
    seen = []
    for minute, (disk, remote) in enumerate([(0, 0)] * 7 + [(300, 300), (600, 0), (0, 600), (300, 200)]):
        fake.write(disk * MIB)
        total += remote * MIB
        show_mounts(tmp_path, nfs(written=total))
        seen.append(collector.collect(Request(60.0 * minute)).checkpoint)

    # 600 MiB each, together or alone, are more than 512; 500 are not.
    assert seen == [False] * 7 + [True, True, True, False]


def test_a_longer_minute_is_counted_by_the_minute(tmp_path: Path) -> None:
    fake = FakeMachine()
    collector = HostCollector(tmp_path, fake)
    for minute in range(7):
        collector.collect(Request(60.0 * minute))
    fake.write(1000 * MIB)

    # 1000 MiB in two minutes are 500 a minute.
    assert not collector.collect(Request(480.0)).checkpoint


def test_this_machine_can_be_read() -> None:
    reading = machine.read()

    assert reading.cpus >= 1
    assert reading.cpu_total > reading.cpu_idle > 0
    assert 0 < reading.memory_available < reading.memory_total
    assert all(0 <= disk.used_percent <= 100 and "/" not in disk.device for disk in reading.disks)
    assert not any(interface.name == "lo" for interface in reading.interfaces)


def test_each_device_is_told_once_and_a_mount_that_vanished_not_at_all(monkeypatch: pytest.MonkeyPatch) -> None:
    mounted = [
        ("/dev/nvme1n1", "/scratch"),
        ("/dev/nvme0n1p1", "/var/lib/bound"),
        ("/dev/nvme0n1p1", "/"),
        ("/dev/nvme0n1p15", "/boot/efi"),
        ("/dev/nvme2n1", "/gone"),
    ]

    def usage(point: str) -> Any:
        if point == "/gone":
            raise FileNotFoundError(2, "No such file or directory")
        return SimpleNamespace(total=100, percent=7.0)

    partitions = [SimpleNamespace(device=device, mountpoint=point) for device, point in mounted]
    monkeypatch.setattr(psutil, "disk_partitions", lambda: partitions)
    monkeypatch.setattr(psutil, "disk_usage", usage)

    assert [(disk.device, disk.is_root) for disk in machine.read().disks] == [("nvme0n1p1", True), ("nvme1n1", False)]
