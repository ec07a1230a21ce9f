"""A minute of the largest node there is: 16 devices, 128 cores with a process each, four jobs, no two figures alike."""

import random

from agents.collectors.collector import Contribution
from agents.collectors.jobs.job import Job
from agents.minute.batch import NodeMinute, SelfFigures
from agents.minute.pipeline import Pipeline, Surroundings
from fleet import metrics
from tests.support import agents, samples
from tests.support.samples import Json

CORES = 128
JOBS = tuple(Job(f"train-{index}", f"llama-{index}", "ada", registered=True) for index in range(4))


def report(chance: random.Random, completed: int | None = None) -> Json:
    """One report of it; every process completed ``completed`` executions, or some other number each."""
    specs = [
        samples.RuntimeSpec(
            pid=41000 + core,
            tag=f"rank{core}",
            busy={core: chance.uniform(20, 99)},
            flops={core: chance.uniform(1e13, 9e13)},
            tensors={core: chance.randrange(10**9, 2 * 10**10)},
            completed=chance.randrange(5, 50) if completed is None else completed,
            p99=chance.uniform(0.01, 0.1),
        )
        for core in range(CORES)
    ]
    ecc = {device: {"mem_ecc_corrected": chance.randrange(9)} for device in range(16)}
    return samples.report(specs, devices=16, cores_per_device=8, instance_type="trn2.48xlarge", ecc=ecc)


def surroundings() -> Surroundings:
    """Four jobs, each with what a workload can report of itself."""
    spoken = (metrics.TOKENS_PER_SECOND, metrics.SAMPLES_PER_SECOND, metrics.TRAINING_LOSS, metrics.NON_FINITE_LOSS)
    return Surroundings(Contribution(jobs=JOBS, job_metrics={job.job_id: dict.fromkeys(spoken, 1.5) for job in JOBS}))


def trn2_minute(minute: int) -> NodeMinute:
    """Twelve reports of it, closed."""
    chance = random.Random(1)  # noqa: S311 - no secret, only variety
    pipeline = Pipeline(agents.config(), "i-0123456789abcdef0", minute, boot_id="0f8fad5b-d9cb-469f-a165-70867728950e")
    for index in range(12):
        pipeline.line(samples.line(report(chance)), minute + 5 * index)
    return pipeline.close(
        minute, minute + 60, 4_321, surroundings(), SelfFigures(cpu_percent=0.4, rss_bytes=70_000_000)
    )
