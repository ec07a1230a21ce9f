"""Every series that the agent shows is in the table that people read, and the table has no others."""

import re
from pathlib import Path

from agents.collectors.collector import Contribution
from agents.sinks.prometheus.exporter import collector_families
from agents.sinks.series import node
from agents.sinks.series.family import Shape
from fleet import metrics
from tests.support import batches

DOCUMENT = Path(__file__).parents[2] / "docs/prometheus.md"
ENDINGS = {Shape.COUNT: "_total", Shape.INFO: "_info"}
HOST = {"cpu_busy_percent": 1, "cpu_iowait_percent": 1, "memory_used_bytes": 1, "memory_available_bytes": 1}

COLLECTORS = {"host": {"ms": 1.5, "ok": True}}
SYSFS = {"index": [0], "power_percent": {"avg": [1], "max": [2]}, "hbm_peak_bytes": [1]}


def shown() -> set[str]:
    """The names of a minute that has everything."""
    given = {metrics.Kind.GAUGE, metrics.Kind.PER_MINUTE}
    every = {spec: 1.0 for spec in metrics.AGENT_CATALOGUE.values() if spec.per_fleet and spec.kind in given}
    of_jobs = {spec: 1.0 for spec in metrics.AGENT_CATALOGUE.values() if spec.per_job and spec.kind in given}
    event = {"host": HOST, "sysfs_devices": SYSFS, "collectors": COLLECTORS}
    around = Contribution(metrics=every, job_metrics={"job-1": of_jobs}, event=event, jobs=(batches.JOB,))
    batch = batches.one(batches.SHAPES["above the peak, with memory errors"], around=around)
    families = (*node.families(batch), *collector_families(event))
    return {family.name + ENDINGS.get(family.shape, "") for family in families}


def documented() -> set[str]:
    """The names in the first column of the table of series."""
    rows = [line.split("|")[1] for line in DOCUMENT.read_text("utf-8").splitlines() if line.startswith("| `neuron_")]
    return {name for row in rows for name in re.findall(r"`(\w+)`", row)}


def test_the_table_of_series_is_complete() -> None:
    assert documented() == shown()
