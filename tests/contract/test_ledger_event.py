"""What agents and the capacity watch write is what the ledger reads, and the dollars are the same."""

import json

from agents.collectors.collector import Contribution, WorkloadReport
from agents.collectors.jobs.job import Job
from agents.minute.log_event import log_event
from agents.minute.pipeline import Surroundings
from fleet import metrics
from fleet.ledger import UNITS, Category, read_node_minute, read_reserved_minute
from fleet.reserved.observed import Seen
from tests.contract.test_capacity_event import emitted
from tests.support import agents, samples
from tests.support.agents import MINUTE
from tests.support.samples import GIB, RuntimeSpec
from tests.support.watched_capacity import named, reservation

SHARED = samples.report(
    [
        RuntimeSpec(1, "1", {0: 80.0, 1: 60.0, 2: 40.0}, {0: 46e12, 1: 27.6e12, 2: 9.2e12}, {0: GIB}, 100),
        RuntimeSpec(3, "1", {}, {}, {3: GIB}, 0),
    ],
    devices=2,
)
JOBS = tuple(Job(name, name, f"owner of {name}", registered=True, pids=(pid,)) for name, pid in (("a", 1), ("b", 3)))
WORK = Contribution(
    jobs=JOBS,
    job_metrics={"a": {metrics.TOKENS_PER_SECOND: 250.0}, "b#1": {metrics.SAMPLES_PER_SECOND: 4.0}},
    workload_reports=(WorkloadReport("a", 2, step=41), WorkloadReport("b#1", 1, step=7)),
)


def test_a_shared_nodes_event_is_a_minute_of_the_same_dollars() -> None:
    event = json.loads(json.dumps(log_event(agents.one_minute(SHARED, SHARED, SHARED, around=Surroundings(WORK)))))
    minute = read_node_minute(event)

    assert (minute.minute, minute.category, minute.node) == (MINUTE, Category.RUNNING, event["node"])
    assert minute.price is not None
    assert sum(part.units for part in minute.parts) == UNITS
    assert (
        sum(part.amount or 0 for part in minute.parts) == minute.price.rate == round(event["cost_usd_per_hour"] * 1e6)
    )
    assert [part.amount for part in minute.parts] == [round(job["cost_usd_per_hour"] * 1e6) for job in event["jobs"]]
    assert [(p.job, p.owner, p.cores) for p in minute.parts] == [("a", "owner of a", 3.0), ("b", "owner of b", 1.0)]


def test_what_workloads_report_is_their_jobs() -> None:
    event = log_event(agents.one_minute(SHARED, SHARED, SHARED, around=Surroundings(WORK)))
    first, second = read_node_minute(event).parts

    assert (first.tokens, first.samples, first.step) == (15_000.0, None, 41)
    assert (second.tokens, second.samples, second.step) == (None, 240.0, 7)


def test_without_a_report_there_is_no_work() -> None:
    event = log_event(agents.one_minute(SHARED, SHARED, around=Surroundings(Contribution(jobs=JOBS))))
    assert not {"tokens_per_second", "samples_per_second", "step"} & set(event["jobs"][0])


def test_unused_reservations_are_a_minute_of_the_watchs_dollars() -> None:
    event = emitted(named(), Seen(reservations=(reservation(available=2),)))
    look = read_reserved_minute(event)

    assert look is not None
    assert look.unused == event["unused"] == 2
    assert look.price is not None
    assert look.amount == 2 * look.price.rate == round(event["unused_usd_per_hour"] * 1e6)
