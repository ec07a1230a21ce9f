"""Which collectors an agent has, by its configuration; on a machine that shows nothing they have nothing to say."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from agents import assemble
from agents.collectors.collector import Collector, Contribution, Request
from agents.collectors.pool import CollectorPool
from agents.collectors.workload.collector import WorkloadCollector
from agents.config import ALWAYS_ON, CAN_BE_OFF
from agents.minute.log_event import log_event
from agents.minute.pipeline import Surroundings
from tests.support import agents, samples

SCHEMA = Draft202012Validator(
    json.loads((Path(assemble.__file__).parent / "schemas/node-log-event.schema.json").read_text(encoding="utf-8"))
)


def collectors(folder: Path, **changes: Any) -> tuple[Collector, ...]:
    config = agents.config(
        **{
            "run_directory": str(folder / "run"),
            "proc": str(folder / "proc"),
            "sysfs": str(folder / "sys"),
            "kernel_log": str(folder / "kmsg"),
            "compile_cache": str(folder / "cache"),
            "statsd_port": 0,
            "instance_metadata": "",
            **changes,
        }
    )
    return assemble.collectors(config)


def test_on_a_machine_that_shows_nothing_all_are_quiet(tmp_path: Path) -> None:
    # The monitor is looked for among the children of this process, and a test run may have some.
    found = [each for each in collectors(tmp_path) if each.name != "neuron_monitor"]

    assert {"markers", "compilers", "compile cache", "jobs", "host"} <= {collector.name for collector in found}
    assert [_seen(collector, 60.0 * minute) for minute in (1, 2) for collector in found] == [Contribution()] * (
        2 * len(found)
    )


def test_a_cache_in_a_bucket_is_no_folder(tmp_path: Path) -> None:
    (cache,) = (each for each in collectors(tmp_path, compile_cache="s3://bucket/c") if each.name == "compile cache")

    assert cache.collect(Request(60)) == Contribution()


def _names(folder: Path, **changes: Any) -> set[str]:
    found = collectors(folder, statsd_port=None, instance_metadata="http://127.0.0.1:9/latest", **changes)
    for collector in found:
        if isinstance(collector, WorkloadCollector):
            collector.receiver.close()
    return {collector.name for collector in found}


def test_every_collector_can_be_switched_off_or_has_a_reason_why_not(tmp_path: Path) -> None:
    every = _names(tmp_path)

    assert {*CAN_BE_OFF, *ALWAYS_ON} <= every
    assert not set(CAN_BE_OFF) & set(ALWAYS_ON)
    for name in CAN_BE_OFF:
        assert _names(tmp_path, collectors_off=(name,)) == every - {name}


def test_what_is_switched_off_is_absent_and_the_event_says_so(tmp_path: Path) -> None:
    def minute(**changes: Any) -> dict[str, Any]:
        pool = CollectorPool(collectors(tmp_path, proc="/proc", **changes), deadline=10)
        around = Surroundings(pool.collect(Request(agents.MINUTE)))
        return log_event(agents.one_minute(samples.full_node(), around=around, **changes))

    on, off = minute(), minute(collectors_off=("host",))

    assert on["host"]["memory_available_bytes"] > 0
    assert "collectors_off" not in on
    assert off.keys() & {"host", "collectors_off"} == {"collectors_off"}
    assert off["collectors_off"] == ["host"]
    assert "host" not in off["collectors"]
    assert not [error.message for error in SCHEMA.iter_errors(off)]


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"instance_metadata": "http://127.0.0.1:9/latest"}, "notices"),
        ({"statsd_port": 1}, "workload"),
        ({"statsd_port": None}, "workload"),
    ],
)
def test_what_is_configured_is_there(tmp_path: Path, changes: dict[str, Any], name: str) -> None:
    found = {collector.name: collector for collector in collectors(tmp_path, **changes)}

    for collector in found.values():
        if isinstance(collector, WorkloadCollector):
            collector.receiver.close()
    assert name in found


def _seen(collector: Collector, now: float) -> Contribution:
    # That there is no job is an answer; that nobody looked is none.
    seen = collector.collect(Request(now))
    return replace(seen, jobs=None) if seen.jobs == () else seen
