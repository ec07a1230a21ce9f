"""Every series that the agent shows is in the table that people read, and the table has no others."""

import re
from pathlib import Path

from agents.collectors.collector import Contribution
from agents.sinks.prometheus.exporter import collector_families
from agents.sinks.series import node
from agents.sinks.series.family import Shape
from agents.sinks.series.levels import READ_BY_RULES, minutes_of_counts
from fleet import metrics
from fleet.alarms import contributor_alarms
from local.alarm_evaluation.promql import parse, selectors_in
from tests.support import batches, samples
from tests.support.followed_fleet import settings

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
    shown = (*node.families(batch), *node.families(batches.one(samples.full_node())))
    families = (*shown, *minutes_of_counts(shown), *collector_families(event))
    return {family.name + ENDINGS.get(family.shape, "") for family in families}


def documented() -> set[str]:
    """The names in the first column of the table of series."""
    rows = [line.split("|")[1] for line in DOCUMENT.read_text("utf-8").splitlines() if line.startswith("| `neuron_")]
    return {name for row in rows for name in re.findall(r"`(\w+)`", row)}


def test_the_table_of_series_is_complete() -> None:
    assert documented() == shown()


def test_what_is_pushed_for_the_rules_is_what_they_read() -> None:
    fleets = (settings(), settings(purpose="inference"), settings(reports_flops=False))
    rules = [rule for each in fleets for rule in contributor_alarms(each)]
    read = {selector.metric for rule in rules for selector, _ in selectors_in(parse(rule.expression))}
    assert read == READ_BY_RULES


def test_every_series_that_a_rule_reads_is_scraped_under_the_same_name() -> None:
    assert shown() >= READ_BY_RULES
