"""What the agent pays for a minute of reports of a full node, beside reading the same bytes with ``json.loads``.

The report has 32 processes on 32 cores, 1,024 core entries and loaded models: every process lists every core, and a
line has 0.44 MB as the one that was captured. Twelve make a minute; decoding, merging, the state, the minute's end
with its datums and log event are all paid for. The recording itself is measured too where it is at hand.
"""

import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from agents.inspect import default_config
from agents.minute.aggregate import metric_data
from agents.minute.batch import SelfFigures
from agents.minute.log_event import log_event
from agents.minute.pipeline import Pipeline, Surroundings
from tests.support import samples
from tests.support.loaded_models import with_models

REPORTS: Final = 12
REPEATS: Final = 15
BAR: Final = 0.6
START: Final = 1_795_230_000
RECORDING: Final = "cwagent-test_trn1n.32xlarge_32procs.json"


def run() -> None:
    """Print CPU milliseconds of both for one report, their ratio, and the share of a core at one in five seconds."""
    measure("made report", samples.line(with_models(samples.full_node())))
    recorded = Path(os.environ.get("NEURON_MONITOR_SAMPLES", "")) / RECORDING
    if recorded.is_file():
        measure("recorded report", recorded.read_bytes())


def measure(what: str, data: bytes) -> float:
    """Print the figures of one report and return agent / json.loads."""
    pipeline = Pipeline(default_config("trn1.32xlarge", 5), "i-1", START, rate_seconds=0.001)
    # Taken in turns, so that a noisy machine hurts both alike; the best of each was disturbed least.
    baseline = agent = float("inf")
    for index in range(REPEATS):
        baseline = min(baseline, cpu_seconds(lambda: read_minute(data)))
        agent = min(agent, cpu_seconds(lambda: agent_minute(pipeline, data, START + 60 * index)))  # noqa: B023 - at once
    print(
        f"{what} of {len(data) / 1000:.0f} KB: json.loads {1000 * baseline / REPORTS:.2f} ms, agent with its share of"
        f" the minute's end {1000 * agent / REPORTS:.2f} ms"
    )
    ratio = agent / baseline
    share = 100 * agent / REPORTS / 5
    print(f"agent / json.loads = {ratio:.2f} (bar {BAR}); one in five seconds is {share:.3f} % of a core")
    return ratio


def read_minute(data: bytes) -> None:
    """A minute's lines, read by the standard library and not used."""
    for _ in range(REPORTS):
        json.loads(data)


def agent_minute(pipeline: Pipeline, data: bytes, minute: int) -> None:
    """The agent's work for a minute."""
    for index in range(REPORTS):
        pipeline.line(data, minute + 5 * index)
    entry = pipeline.close(minute, minute + 60, 1, Surroundings(), SelfFigures())
    metric_data(entry)
    log_event(entry)


def cpu_seconds(work: Callable[[], object]) -> float:
    """CPU of this process for one call."""
    before = time.process_time()
    work()
    return time.process_time() - before
