"""The state machine: the order of the states, what is remembered, and what is never said."""

from hypothesis import given
from hypothesis import strategies as st

from fleet.node_state import Memory, NodeState, Observation, Verdict, decide

MINUTE = 60.0
WORKING = {"holds_cores": True, "job": "job-1"}


def after(*minutes: dict[str, object], memory: Memory | None = None) -> Verdict:
    """The verdict of the last of ``minutes``, one observation each."""
    memory = memory or Memory()
    for index, minute in enumerate(minutes):
        verdict = decide(Observation(at=index * MINUTE, **minute), memory)  # type: ignore[arg-type]  # tables of fields
        memory = verdict.memory
    return verdict


def test_nobody_on_the_node_is_no_job() -> None:
    assert after({}).state is NodeState.NO_JOB


def test_a_registered_job_that_holds_nothing_yet_starts_up() -> None:
    assert after({"job": "job-1"}).state is NodeState.STARTUP


def test_the_first_execution_ends_the_start_up() -> None:
    verdict = after({**WORKING, "completed": 0}, {**WORKING, "completed": 3}, {**WORKING, "completed": 0})

    assert verdict.state is NodeState.RUNNING


def test_start_up_is_excused_for_thirty_minutes_and_not_longer() -> None:
    assert after(*[{**WORKING, "completed": 0}] * 29).state is NodeState.STARTUP
    assert after(*[{**WORKING, "completed": 0}] * 30).state is NodeState.RUNNING


def test_compiling_is_excused_while_nothing_executes_and_grace_begins_again_after_it() -> None:
    compiling = [{**WORKING, "compiling": True, "completed": 0}] * 40

    assert after(*compiling).state is NodeState.COMPILING
    assert "for 40 min" in after(*compiling).reason
    assert after(*compiling, {**WORKING, "completed": 0}).state is NodeState.STARTUP
    assert after(*compiling, {**WORKING, "compiling": True, "completed": 9}).state is NodeState.RUNNING


def test_a_checkpoint_is_excused_for_fifteen_minutes() -> None:
    running = {**WORKING, "completed": 9}
    writing = {**WORKING, "completed": 0, "checkpoint": True}

    assert after(running, *[writing] * 14).state is NodeState.CHECKPOINT
    assert after(running, *[writing] * 15).state is NodeState.RUNNING


def test_a_fault_stays_until_the_node_boots() -> None:
    verdict = after({**WORKING, "fault": "hbm-uncorrectable on device 6"}, {**WORKING, "completed": 9}, {})

    assert verdict.state is NodeState.FAULT
    assert "device 6" in verdict.reason
    assert after({}, memory=Memory()).state is NodeState.NO_JOB


def test_a_fault_that_was_seen_while_blind_is_remembered() -> None:
    assert after({"blind": "silent", "fault": "hbm"}, WORKING).state is NodeState.FAULT


def test_a_hang_says_for_how_long() -> None:
    verdict = after({**WORKING, "completed": 9}, *[{**WORKING, "completed": 0}] * 12)

    assert verdict.state is NodeState.RUNNING
    assert verdict.reason == "no execution completed for 12 min"


def test_a_new_job_starts_up_again() -> None:
    verdict = after({**WORKING, "completed": 9}, {"holds_cores": True, "job": "job-2", "completed": 0})

    assert verdict.state is NodeState.STARTUP


def test_blindness_concludes_nothing_about_the_job() -> None:
    running = {**WORKING, "completed": 9}

    assert after(running, {"blind": "silent"}, {**WORKING, "completed": 0}).state is NodeState.RUNNING


observations = st.builds(
    Observation,
    at=st.integers(0, 10_000).map(lambda minute: minute * MINUTE),
    blind=st.none() | st.just("silent"),
    fault=st.none() | st.just("hbm"),
    draining=st.none() | st.just("told to"),
    holds_cores=st.booleans(),
    job=st.none() | st.sampled_from(["a", "b"]),
    compiling=st.booleans(),
    completed=st.none() | st.integers(0, 5),
    checkpoint=st.booleans(),
)


@given(st.lists(observations, max_size=20))
def test_in_any_sequence_the_first_state_that_holds_wins(sequence: list[Observation]) -> None:
    memory = Memory()
    faulty = False
    for seen in sorted(sequence, key=lambda observation: observation.at):
        verdict = decide(seen, memory)
        memory = verdict.memory
        faulty = faulty or seen.fault is not None
        occupied = seen.holds_cores or seen.job is not None
        assert verdict.reason
        assert (verdict.state is NodeState.BLIND) == (seen.blind is not None)
        assert (verdict.state is NodeState.FAULT) == (seen.blind is None and faulty)
        if verdict.state is NodeState.RUNNING:
            assert occupied
            assert not faulty
        if verdict.state in {NodeState.COMPILING, NodeState.STARTUP, NodeState.CHECKPOINT}:
            assert seen.completed in {None, 0}
