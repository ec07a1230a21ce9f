"""One fault as the real sources show it, from the node's files to what is published."""

from pathlib import Path
from typing import Any

from agents.assemble import collectors as assembled
from agents.collectors.collector import Collector, Contribution, Request, merged
from agents.minute.aggregate import metric_data
from agents.minute.batch import NodeMinute
from agents.minute.log_event import log_event
from agents.minute.pipeline import Pipeline, Surroundings
from fleet.node_state import NodeState
from tests.support import agents, kernel_log, neuron_sysfs, samples
from tests.support.agents import MINUTE
from tests.support.samples import RuntimeSpec
from tests.unit.agents.collectors.efa.test_efa import set_counters


def hardware_errors(entry: NodeMinute) -> list[float]:
    return [datum["Value"] for datum in metric_data(entry) if datum["MetricName"] == "HardwareErrors"]


def failing(ecc: int) -> samples.Json:
    spec = RuntimeSpec(1, "a", {0: 9.0}, {}, {0: 1}, hardware_errors=4)
    return samples.report([spec], ecc={1: {"mem_ecc_uncorrected": ecc}})


def test_a_fault_that_shows_in_every_source_is_published_as_one(tmp_path: Path) -> None:
    driver = neuron_sysfs.NeuronSysfs(tmp_path / "sys")
    collectors: list[Collector] = [neuron_sysfs.collector(tmp_path), kernel_log.collector(tmp_path)]

    def collected(now: float) -> Contribution:
        return merged(collector.collect(Request(now)) for collector in collectors)

    pipeline = Pipeline(agents.config(), "i-1", MINUTE)
    quiet = agents.feed(pipeline, MINUTE, samples.report([]), around=Surroundings(collected(MINUTE + 60)))
    # The memory of device 1 breaks: its counter, the code of the core's execution, and the kernel log say so; to
    # neuron-monitor it is an ECC error and four executions that failed for the hardware.
    driver.ecc(1, "mem_ecc_uncorrected", 1)
    driver.status(1, 0, "hw_hbm_ue_error", 1)
    kernel_log.append(tmp_path / "kmsg", kernel_log.record(9, kernel_log.hardware("HBM_UNCORRECTABLE_ERROR", device=1)))
    entry = agents.feed(pipeline, MINUTE + 60, failing(1), around=Surroundings(collected(MINUTE + 120)))
    after = agents.feed(pipeline, MINUTE + 120, samples.report([]), around=Surroundings(collected(MINUTE + 180)))

    assert hardware_errors(quiet) == [0]
    assert hardware_errors(entry) == [1]
    assert hardware_errors(after) == [0]
    event: dict[str, Any] = log_event(entry)
    assert event["hardware_errors"] == [
        {
            "kind": "hbm-uncorrectable",
            "action": "replace",
            "device": 1,
            "count": 1,
            "sources": ["kernel-log", "monitor-ecc", "runtime-status", "sysfs-ecc"],
        }
    ]
    assert entry.verdict.state is NodeState.FAULT
    assert entry.verdict.reason == "hbm-uncorrectable on device 1: device memory is damaged; replace"
    assert event["sysfs_devices"]["ecc"]["mem_ecc_uncorrected"] == [0, 1]


def test_the_assembled_agent_looks_where_it_is_configured_to(tmp_path: Path) -> None:
    neuron_sysfs.NeuronSysfs(tmp_path / "sys").tensor_engine(0, 0, "not read")
    set_counters(tmp_path, "rdmap0s31", rx_bytes=1, tx_bytes=1)
    kernel_log.append(tmp_path / "kmsg", kernel_log.record(1, kernel_log.hardware("DMA_ERROR")))
    boot = tmp_path / "proc/sys/kernel/random/boot_id"
    boot.parent.mkdir(parents=True)
    boot.write_text("boot-1")
    config = agents.config(
        sysfs=str(tmp_path / "sys"),
        kernel_log=str(tmp_path / "kmsg"),
        proc=str(tmp_path / "proc"),
        spool_directory=str(tmp_path / "spool"),
        run_directory=str(tmp_path / "run"),
        statsd_port=0,
        instance_metadata="",
        compile_cache=str(tmp_path / "cache"),
    )
    devices = [each for each in assembled(config) if each.name in {"sysfs", "EFA", "kernel log"}]

    seen = merged(collector.collect(Request(now)) for now in (60, 120) for collector in devices)

    assert len(devices) == 3
    assert {"sysfs_devices", "efa_devices"} <= seen.event.keys()
    assert "tensor_engine_estimated" not in seen.event["sysfs_devices"]
    assert [(each.error.kind, each.count) for each in seen.hardware_errors] == [("dma-abort", 1)]
    assert seen.problems == ()
    assert {path.name for path in (tmp_path / "spool").iterdir()} == {"kernel-log.json", "sysfs.json"}
