"""A job that starts in vain, from the monitor's lines to datums, log event and series; also over a restarted agent."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from agents.collectors.collector import Contribution
from agents.collectors.jobs.job import Job, KnownBy
from agents.disk.state_file import StateFile
from agents.minute.aggregate import batch_of
from agents.minute.batch import SelfFigures
from agents.minute.pipeline import Pipeline, Surroundings
from agents.sinks.series.jobs import judged_families
from fleet.job_progress import Known
from fleet.patience import Announced
from tests.support import agents, samples
from tests.support.samples import GIB, RuntimeSpec

JOB = Job("job-1", "llama", "research", registered=True)
# A start, and a minute in which the job is gone.
CRASH = (0, 0, None)


def lived(
    minutes: Sequence[int | None],
    known: Known | None = None,
    *,
    pids: Sequence[int] = (),
    jobs: tuple[Job, ...] = (JOB,),
    phase: str | None = None,
    start: int = 0,
    **config: Any,
) -> tuple[list[tuple[float | None, Mapping[str, Any]]], Known]:
    """NodesCrashLooping and the log event of each minute, by executions completed; None is a minute without the job."""
    pipeline = Pipeline(agents.config(**config), "i-1", agents.MINUTE, known=known, boot_id="b")
    found = []
    for index, completed in enumerate(minutes):
        begin = agents.MINUTE + 60 * (start + index)
        pid = pids[index] if pids else 1
        cores = {0: 50.0, 1: 50.0}
        specs = [RuntimeSpec(pid, "a", cores, {}, {0: GIB, 1: GIB}, completed)] if completed is not None else []
        for second in range(5, 60, 5):
            pipeline.line(samples.line(samples.report(specs)), begin + second)
        there = completed is not None
        said = (Announced(phase, None, JOB.job_id),) if phase and there else ()
        around = Surroundings(Contribution(jobs=jobs if there else (), phases=said))
        batch = batch_of(pipeline.close(begin, begin + 60, index + 1, around, SelfFigures()))
        values = [each["Value"] for each in batch.metric_data if each["MetricName"] == "NodesCrashLooping"]
        found.append((values[0] if values else None, batch.log_event))
    return found, pipeline.known


def looping(minutes: Sequence[int | None], **said: Any) -> list[float | None]:
    return [value for value, _ in lived(minutes, **said)[0]]


def test_the_third_run_in_vain_is_told_and_the_first_execution_ends_it() -> None:
    assert looping([*CRASH * 3, 0, None, 0, 5]) == [*[0] * 8, 1, 1, 1, 1, 0]


def test_restarts_within_one_registration_are_seen_by_their_processes() -> None:
    assert looping([0] * 5, pids=[1, 2, 3, 4, 4]) == [0, 0, 0, 1, 1]


def test_the_event_says_how_often_and_the_series_that_it_is_so() -> None:
    event = lived([*CRASH * 3, 0])[0][-1][1]

    assert event["jobs"][0]["vain_runs"] == 3
    (family,) = (each for each in judged_families(event) if each.name == "neuron_fleet_job_crash_looping")
    assert [(point.labels, point.value) for point in family.points] == [(("job-1", "research"), 1.0)]
    assert "vain_runs" not in lived([*CRASH * 2, 0])[0][-1][1]["jobs"][0]


def test_a_restarted_agent_goes_on_counting(tmp_path: Path) -> None:
    file = StateFile(tmp_path / "state.json", "b")
    file.save(lived(CRASH * 2)[1])

    assert [value for value, _ in lived(CRASH, file.load(), start=6)[0]] == [0, 0, 1]
    assert looping(CRASH) == [0, 0, 0]


def test_what_an_agent_before_runs_were_counted_wrote_is_read(tmp_path: Path) -> None:
    file = StateFile(tmp_path / "state.json", "b")
    file.save(lived(CRASH * 2)[1])
    content = json.loads(file.path.read_bytes())
    del content["runs"]
    del content["memory"]["free_since"]
    file.path.write_text(json.dumps(content), encoding="utf-8")

    assert file.load().runs == {}
    assert file.load().memory.at is not None


@pytest.mark.parametrize(
    "why",
    [
        # A person who starts a script by hand sees how it ends.
        {"jobs": ()},
        {"jobs": (Job("unattributed", "unattributed", "", registered=False, known_by=KnownBy.NOTHING),)},
        {"phase": "data-preparation"},
    ],
)
def test_what_nobody_schedules_and_what_says_why_it_executes_nothing_is_no_loop(why: Mapping[str, Any]) -> None:
    assert set(looping(CRASH * 6, **why)) == {0}


def test_an_endpoint_says_nothing_of_it() -> None:
    seen, _ = lived([*CRASH * 4, 0], purpose="inference")

    assert {value for value, _ in seen} == {None}
    assert "vain_runs" not in seen[-1][1]["jobs"][0]


def test_a_minute_that_nobody_saw_says_nothing_and_ends_no_run() -> None:
    known = lived([*CRASH * 2, 0])[1]
    pipeline = Pipeline(agents.config(), "i-1", agents.MINUTE, known=known, boot_id="b")
    begin = agents.MINUTE + 60 * 7

    unseen = pipeline.close(begin, begin + 60, 1, Surroundings(monitor="it has ended"), SelfFigures())

    assert "NodesCrashLooping" not in {datum["MetricName"] for datum in batch_of(unseen).metric_data}
    assert pipeline.known.runs == known.runs
