"""A minute as a batch, the way the agent's loop makes it."""

from typing import Any

from agents.collectors.collector import Contribution
from agents.collectors.jobs.job import Job
from agents.minute.aggregate import batch_of
from agents.minute.batch import Batch, SelfFigures
from agents.minute.pipeline import Surroundings
from tests.support import agents, samples
from tests.support.samples import Json, RuntimeSpec

JOB = Job("job-1", "llama", "research", registered=True)
OWN = SelfFigures(report_age_seconds=3.0, spool_bytes=4096, dropped=1, retries=2, cpu_percent=2.5, rss_bytes=60_000_000)
# Every shape of report that the agent knows, by what it shows.
SHAPES: dict[str, Json] = {
    "full node": samples.full_node(),
    "colliding tags": samples.colliding_tags(),
    "grouped cores": samples.grouped_cores(),
    "idle first record": samples.idle_first_record(),
    "no driver": samples.no_driver(),
    "no devices": samples.no_devices(),
    "null sections": samples.null_sections(),
    "above the peak, with memory errors": samples.report(
        [RuntimeSpec(1, "a", {0: 130.0}, {0: 200e12}, {0: 1}, 5, 1, 1, 0.2)], ecc={3: {"mem_ecc_uncorrected": 2}}
    ),
    "too short": samples.report([RuntimeSpec(1, "a", flop_keys=())], seconds=0.0005),
}


def one(*reports: Json, around: Contribution | None = None, **changes: Any) -> Batch:
    """One minute of ``reports`` on a node that works for a registered job."""
    collected = Contribution(jobs=(JOB,)) if around is None else around
    return batch_of(agents.one_minute(*reports, around=Surroundings(collected), own=OWN, **changes))
