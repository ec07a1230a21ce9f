"""What a minute published of the node's work, in a form that a table can be held against: nothing more, nothing less.

Distributions are {whole percent: how often}, statistic sets (count, sum, minimum, maximum), the rest plain numbers.
The agent's own metrics, money and the node states are left out: the state is compared by name.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import pytest

from agents.collectors.collector import Contribution
from agents.collectors.jobs.job import Job
from agents.minute.aggregate import metric_data
from agents.minute.batch import Datum, SelfFigures
from agents.minute.pipeline import Pipeline, Surroundings
from tests.support import agents, samples
from tests.support.samples import Json

_NOT_OF_WORK = ("Nodes", "Agent", "Report", "Spool", "Dropped", "Publish", "Cost", "Wasted")
JOB = Job("job-1", "llama", "research", registered=True)
Table = Mapping[str, Any]


# What a node says of its worst job takes more than a minute to know: test_worst_job.py.
OF_THE_WORST_JOB = {"LowestJobCoreUtilization", "LowestJobTensorEngineUtilization", "NodesHung"}


def assert_published(data: Iterable[Datum], expected: Table) -> None:
    """Exactly the metrics of ``expected``, with its figures; what is not in the table must be absent."""
    found = {name: figure for name, figure in figures(data).items() if name not in OF_THE_WORST_JOB}
    assert set(found) == set(expected)
    for name, value in expected.items():
        assert found[name] == pytest.approx(value, rel=1e-9), name


def figures(data: Iterable[Datum], left_out: tuple[str, ...] = _NOT_OF_WORK) -> dict[str, Any]:
    """The fleet set's figures by metric, but those whose names begin with one ``left_out``."""
    return {
        datum["MetricName"]: _figure(datum)
        for datum in data
        if len(datum["Dimensions"]) == 2 and not datum["MetricName"].startswith(left_out)
    }


def _figure(datum: Datum) -> Any:
    if "Values" in datum:
        return dict(zip(datum["Values"], datum["Counts"], strict=True))
    if "StatisticValues" in datum:
        sets = datum["StatisticValues"]
        return (sets["SampleCount"], sets["Sum"], sets["Minimum"], sets["Maximum"])
    return datum["Value"]


def minute(*lines: Json | bytes, has_job: bool = False, **config: Any) -> tuple[str, list[Datum], tuple[str, ...]]:
    """State, datums and problems of one minute with ``lines`` five seconds apart, closed five after the last."""
    pipeline = Pipeline(agents.config(price=None, **config), "i-1", agents.MINUTE)
    for index, line in enumerate(lines):
        data = line if isinstance(line, bytes) else samples.line(line)
        pipeline.line(data, agents.MINUTE + 5 * index)
    around = Surroundings(Contribution(jobs=(JOB,) if has_job else ()))
    entry = pipeline.close(agents.MINUTE, agents.MINUTE + 5 * len(lines), 1, around, SelfFigures())
    return entry.verdict.state.value, list(metric_data(entry)), entry.problems
