"""What an agent remembers of node and jobs survives the agent, in the same boot, and nothing else does."""

from pathlib import Path

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from agents.collectors.collector import Contribution
from agents.collectors.jobs.job import Job
from agents.disk.state_file import StateFile
from agents.minute.batch import NodeMinute, SelfFigures
from agents.minute.pipeline import Pipeline, Surroundings
from fleet.idleness import Idleness
from fleet.job_progress import HANG_MINUTES, Known, Remembered
from fleet.node_state import Memory
from tests.support import agents, samples
from tests.support.samples import GIB, RuntimeSpec

JOBS = tuple(Job(name, name, "research", registered=True, pids=(pid,)) for pid, name in ((1, "good"), (2, "bad")))
GOOD = RuntimeSpec(1, "a", {0: 90.0}, {0: 36.8e12}, {0: GIB}, 10)
BAD = RuntimeSpec(2, "b", {1: 90.0}, {1: 36.8e12}, {1: GIB}, 10)
SPINS = RuntimeSpec(2, "b", {1: 99.0}, {1: 0.0}, {1: GIB}, 0)
RESTS = RuntimeSpec(2, "b", {1: 0.0}, {1: 0.0}, {1: GIB}, 0)


def lived(kept: StateFile, start: int, specs: list[RuntimeSpec]) -> list[NodeMinute]:
    """Minutes with one job that is well and ``specs`` of the other; the agent is another one for each minute."""
    found = []
    for index, spec in enumerate(specs, start=start):
        begin = agents.MINUTE + 60 * index
        pipeline = Pipeline(agents.config(), "i-1", begin, known=kept.load())
        for second in range(5, 60, 5):
            pipeline.line(samples.line(samples.report([GOOD, spec])), begin + second)
        found.append(pipeline.close(begin, begin + 60, index, Surroundings(Contribution(jobs=JOBS)), SelfFigures()))
        kept.save(pipeline.known)
    return found


def test_a_hang_of_one_of_two_jobs_is_told_in_its_tenth_minute_however_often_the_agent_restarts(tmp_path: Path) -> None:
    kept = StateFile(tmp_path / "state.json", "boot-1")
    lived(kept, 0, [BAD])

    assert [entry.worst_job.hung for entry in lived(kept, 1, [SPINS] * HANG_MINUTES)][-2:] == [(), ("bad",)]


def test_a_grown_job_that_idles_gets_no_new_patience_from_a_new_agent(tmp_path: Path) -> None:
    kept = StateFile(tmp_path / "state.json", "boot-1")
    lived(kept, 0, [BAD] * 30)

    assert [entry.worst_job.idle for entry in lived(kept, 30, [RESTS] * 3)] == [(), (), ("bad",)]


def test_another_boot_begins_anew_and_a_file_of_a_version_before_is_read(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    StateFile(path, "boot-1").save(Known(Memory(job="a", since=1.0), {"a": Remembered(stalled_minutes=3)}))

    assert StateFile(path, "boot-2").load() == Known()
    path.write_text('{"boot_id":"boot-1","memory":{"job":"a","since":1.0,"has_executed":true}}')
    assert StateFile(path, "boot-1").load() == Known(Memory(job="a", since=1.0, has_executed=True))


idleness = st.builds(
    Idleness,
    paused=st.integers(0, 99),
    is_told=st.booleans(),
    pauses=st.lists(st.integers(3, 12), max_size=8).map(tuple),
    recent=st.text("01", max_size=60),
)
jobs = st.dictionaries(
    st.text(min_size=1, max_size=8), st.builds(Remembered, stalled_minutes=st.integers(0, 99), idleness=idleness)
)


@given(jobs)
def test_whatever_is_remembered_of_jobs_is_read_back_as_it_was(remembered: dict[str, Remembered]) -> None:
    written = msgspec.json.encode(Known(Memory(job="a"), remembered))

    assert msgspec.json.decode(written, type=Known) == Known(Memory(job="a"), remembered)
