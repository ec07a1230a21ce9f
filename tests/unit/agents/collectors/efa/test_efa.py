"""EFA devices: what they carried, what went wrong, and what is not known of them."""

import shutil
from pathlib import Path
from typing import Any

import pytest

from agents.collectors.collector import Contribution, Request
from agents.collectors.efa.collector import EfaCollector
from fleet import metrics

NEW = {"retrans_pkts": 0, "retrans_bytes": 0, "retrans_timeout_events": 0, "unresponsive_remote_events": 0}


def set_counters(folder: Path, device: str, *, port: Any = "1", driver: Any = "efa", **counters: Any) -> None:
    """A device with ``counters`` as the kernel shows it; ``port`` is empty for kernels before 5.15."""
    path = folder / "sys/class/infiniband" / device
    path.mkdir(parents=True, exist_ok=True)
    if driver is not None and not (path / "device/driver").is_symlink():
        (path / "device").mkdir(exist_ok=True)
        (path / "device/driver").symlink_to(folder / f"sys/bus/pci/drivers/{driver}")
    values = path / (f"ports/{port}/hw_counters" if port else "hw_counters")
    values.mkdir(parents=True, exist_ok=True)
    for name, value in {"rx_drops": 0, "lifespan": 10, **counters}.items():
        (values / name).write_text(f"{value}\n")


def collector(folder: Path) -> EfaCollector:
    return EfaCollector(folder / "sys", folder / "proc")


def figures(seen: Contribution) -> dict[str, float]:
    return {spec.name: value for spec, value in seen.metrics.items()}


def summary(seen: Contribution) -> dict[str, Any]:
    shown: dict[str, Any] = seen.event["efa_devices"]
    return shown


def test_traffic_and_retransmissions_are_what_all_devices_rose_by(tmp_path: Path) -> None:
    set_counters(tmp_path, "rdmap0s31", rx_bytes=1000, tx_bytes=50, **NEW)
    set_counters(tmp_path, "rdmap16s31", rx_bytes=7000, tx_bytes=10, **NEW)
    follower = collector(tmp_path)
    follower.collect(Request(0))
    set_counters(tmp_path, "rdmap0s31", rx_bytes=1500, tx_bytes=90, retrans_pkts=2)
    set_counters(tmp_path, "rdmap16s31", rx_bytes=7100, tx_bytes=11, retrans_pkts=1, retrans_timeout_events=4)

    seen = follower.collect(Request(60))

    # 500 + 100 received, 40 + 1 sent, 2 + 1 packets again.
    assert figures(seen) == {"EfaReceiveBytes": 600, "EfaTransmitBytes": 41, "EfaRetransmits": 3}
    assert summary(seen) == {
        "names": ["rdmap0s31", "rdmap16s31"],
        "rx_bytes": [500, 100],
        "tx_bytes": [40, 1],
        "retrans_pkts": [2, 1],
        "retrans_timeout_events": [0, 4],
    }
    assert seen.problems == ()


def test_the_first_reading_is_a_start_and_no_traffic(tmp_path: Path) -> None:
    set_counters(tmp_path, "rdmap0s31", rx_bytes=10**15, tx_bytes=10**15, **NEW)

    seen = collector(tmp_path).collect(Request(0))

    assert seen.metrics == {}
    assert summary(seen)["rx_bytes"] == [None]


def test_a_device_without_retransmission_counters_has_no_metric_of_them(tmp_path: Path) -> None:
    set_counters(tmp_path, "rdmap0s31", rx_bytes=0, tx_bytes=0)
    follower = collector(tmp_path)
    follower.collect(Request(0))

    assert figures(follower.collect(Request(60))) == {"EfaReceiveBytes": 0, "EfaTransmitBytes": 0}


def test_a_machine_without_efa_is_quiet(tmp_path: Path) -> None:
    assert collector(tmp_path).collect(Request(0)) == Contribution()


def test_devices_of_other_drivers_are_not_efa(tmp_path: Path) -> None:
    set_counters(tmp_path, "mlx5_0", driver="mlx5_core", rx_bytes=1, tx_bytes=1)
    set_counters(tmp_path, "rxe0", driver=None, port="1")

    assert collector(tmp_path).collect(Request(0)) == Contribution()


@pytest.mark.parametrize("port", ["1", ""])
def test_a_device_is_known_by_its_counters_where_its_driver_is_not_shown(tmp_path: Path, port: str) -> None:
    set_counters(tmp_path, "efa_0", driver=None, port=port, rx_bytes=5, tx_bytes=5)
    follower = collector(tmp_path)
    follower.collect(Request(0))
    set_counters(tmp_path, "efa_0", driver=None, port=port, rx_bytes=9, tx_bytes=5)

    assert figures(follower.collect(Request(60)))["EfaReceiveBytes"] == 4


def test_counters_of_trouble_are_shown_only_when_they_rise(tmp_path: Path) -> None:
    set_counters(tmp_path, "rdmap0s31", rx_bytes=0, tx_bytes=0, send_rnr_events=0, rdma_write_wr_err=7, **NEW)
    follower = collector(tmp_path)
    follower.collect(Request(0))
    set_counters(tmp_path, "rdmap0s31", rx_drops=3, send_rnr_events=2, unresponsive_remote_events=1)

    shown = summary(follower.collect(Request(60)))

    assert set(shown) == {
        *("names", "rx_bytes", "tx_bytes", "retrans_pkts"),
        *("rx_drops", "send_rnr_events", "unresponsive_remote_events"),
    }
    assert shown["rx_drops"] == [3]


def test_a_reloaded_driver_is_a_new_start(tmp_path: Path) -> None:
    set_counters(tmp_path, "rdmap0s31", rx_bytes=1000, tx_bytes=1000)
    follower = collector(tmp_path)
    follower.collect(Request(0))
    set_counters(tmp_path, "rdmap0s31", rx_bytes=0, tx_bytes=10)
    assert figures(follower.collect(Request(60))) == {"EfaReceiveBytes": 0, "EfaTransmitBytes": 0}
    set_counters(tmp_path, "rdmap0s31", rx_bytes=2500, tx_bytes=15)

    # 2500 since the driver was loaded, although it once stood at 1000.
    assert figures(follower.collect(Request(120))) == {"EfaReceiveBytes": 2500, "EfaTransmitBytes": 5}


def test_a_device_that_vanishes_is_a_problem_and_the_others_go_on(tmp_path: Path) -> None:
    for device in ("rdmap0s31", "rdmap16s31"):
        set_counters(tmp_path, device, rx_bytes=0, tx_bytes=0)
    follower = collector(tmp_path)
    follower.collect(Request(0))
    shutil.rmtree(tmp_path / "sys/class/infiniband/rdmap16s31")
    set_counters(tmp_path, "rdmap0s31", rx_bytes=8)

    seen = follower.collect(Request(60))

    assert seen.problems == ("EFA devices have vanished: rdmap16s31",)
    assert seen.metrics[metrics.EFA_RECEIVE_BYTES] == 8
    shutil.rmtree(tmp_path / "sys/class/infiniband")
    assert follower.collect(Request(120)).problems == ("EFA devices have vanished: rdmap0s31, rdmap16s31",)


@pytest.mark.parametrize(("text", "reason"), [("N/A (no PMA)", "not a number"), ("-1", "not a number")])
def test_a_total_without_one_of_its_devices_is_not_published(tmp_path: Path, text: str, reason: str) -> None:
    for device in ("rdmap0s31", "rdmap16s31"):
        set_counters(tmp_path, device, rx_bytes=0, tx_bytes=0)
    follower = collector(tmp_path)
    follower.collect(Request(0))
    set_counters(tmp_path, "rdmap0s31", rx_bytes=text, tx_bytes=5)
    set_counters(tmp_path, "rdmap16s31", rx_bytes=8, tx_bytes=5)

    seen = follower.collect(Request(60))

    assert seen.metrics == {}
    assert seen.problems == (f"1 EFA devices cannot be read, the first: rdmap0s31 rx_bytes: {reason}",)
    assert summary(seen)["names"] == ["rdmap16s31"]


def test_an_efa_device_without_counters_is_a_problem(tmp_path: Path) -> None:
    set_counters(tmp_path, "rdmap0s31")

    seen = collector(tmp_path).collect(Request(0))

    assert seen.problems == ("1 EFA devices cannot be read, the first: rdmap0s31 has no counters",)
    assert seen.event == {}


def test_a_folder_that_cannot_be_listed_is_a_problem(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: Path) -> list[str]:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("agents.collectors.efa.collector.os.listdir", refuse)

    assert collector(tmp_path).collect(Request(0)).problems == ("the EFA devices cannot be listed: Permission denied",)
