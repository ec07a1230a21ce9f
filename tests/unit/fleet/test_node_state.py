"""The state machine: the order of the states, what is remembered, and what is never said."""

from hypothesis import given
from hypothesis import strategies as st

from fleet.node_state import Memory, NodeState, Observation, Verdict, decide
from fleet.patience import ANNOUNCED_USD, LONGEST_ANNOUNCED_MINUTES, Announced, allowed

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
    assert after(*[{**WORKING, "completed": 0}] * 30).state is NodeState.STARTUP
    assert after(*[{**WORKING, "completed": 0}] * 31).state is NodeState.WAITING
    # Where executions are not measured, nobody knows whether there were any.
    assert after(*[WORKING] * 31).state is NodeState.RUNNING


def test_a_job_that_never_begins_is_excused_for_a_hundred_dollars_of_its_node() -> None:
    minute = {**WORKING, "completed": 0, "usd_per_hour": 50.0}

    assert after(*[minute] * 150).state is NodeState.WAITING
    assert after(*[minute] * 151).state is NodeState.RUNNING


def test_somebody_elses_lock_in_the_shared_cache_is_a_longer_start_up_and_no_endless_one() -> None:
    waits = {**WORKING, "completed": 0, "waits_for_lock": True, "usd_per_hour": 25.0}

    assert after(*[waits] * 60).state is NodeState.STARTUP
    # The grace is for loading what was compiled.
    assert after(*[waits] * 60, *[{**WORKING, "completed": 0}] * 29).state is NodeState.STARTUP
    assert after(*[waits] * 91).state is NodeState.WAITING
    assert after({**waits, "completed": 5}, waits).state is NodeState.RUNNING


def test_an_announced_phase_is_its_own_state_also_while_cores_work_in_it() -> None:
    validates = {**WORKING, "completed": 3, "phase": Announced("validation")}

    verdict = after({**WORKING, "completed": 9}, *[validates] * 45)
    assert verdict.state is NodeState.PHASE
    assert verdict.reason == "the job announced validation, for 45 min"
    assert after({**WORKING, "completed": 9}, *[validates] * 46).state is NodeState.RUNNING


def test_a_job_states_its_patience_and_gets_no_more_than_its_dollars() -> None:
    def phases(minutes: int, **said: float) -> NodeState:
        phase = {**WORKING, "completed": 0, "phase": Announced("evaluation", 120), **said}
        return after({**WORKING, "completed": 9}, *[phase] * minutes).state

    assert phases(120) is NodeState.PHASE
    assert phases(121) is NodeState.RUNNING
    # 25 dollars.
    assert phases(60, usd_per_hour=25.0) is NodeState.PHASE
    assert phases(61, usd_per_hour=25.0) is NodeState.RUNNING


def test_a_pause_begins_when_what_was_announced_or_compiled_is_over() -> None:
    running, resting = {**WORKING, "completed": 9}, {**WORKING, "completed": 0}
    excuses: list[dict[str, object]] = [{"phase": Announced("validation")}, {"compiling": True}]

    for excuse in excuses:
        verdict = after(running, *[{**resting, **excuse}] * 12, *[resting] * 8)
        assert verdict.reason in {"no execution completed for 9 min", "the job has executed nothing yet, for 9 min"}


def test_what_outlasts_its_patience_has_paused_from_its_beginning() -> None:
    running, resting = {**WORKING, "completed": 9}, {**WORKING, "completed": 0}

    for name in ("validation", "checkpoint"):
        verdict = after(running, *[{**resting, "phase": Announced(name)}] * 46)
        assert verdict.reason == "no execution completed for 46 min"


def test_an_announced_checkpoint_may_take_longer_than_a_burst_of_writing() -> None:
    running = {**WORKING, "completed": 9}
    writing = {**WORKING, "completed": 0, "checkpoint": True, "phase": Announced("checkpoint", 25)}

    assert after(running, *[writing] * 25).state is NodeState.CHECKPOINT
    assert after(running, *[writing] * 26).state is NodeState.RUNNING


def test_one_phase_after_another_is_no_excuse_for_ever() -> None:
    phases: list[dict[str, object]] = [
        {**WORKING, "completed": 0, "usd_per_hour": 50.0, "phase": Announced(name, 20)}
        for name in ("validation", "evaluation", "data-preparation")
        for _ in range(15)
    ]

    # 25 dollars are half an hour of this node.
    assert after({**WORKING, "completed": 9}, *phases[:30]).state is NodeState.PHASE
    assert after({**WORKING, "completed": 9}, *phases[:31]).state is NodeState.RUNNING
    # Work in between makes it a new one.
    assert after({**WORKING, "completed": 9}, *phases[:30], {**WORKING, "completed": 9}, phases[0]).state is (
        NodeState.PHASE
    )


def test_compiling_is_excused_while_nothing_executes_and_grace_begins_again_after_it() -> None:
    compiling = [{**WORKING, "compiling": True, "completed": 0}] * 40

    assert after(*compiling).state is NodeState.COMPILING
    assert "for 40 min" in after(*compiling).reason
    # What it compiled is loaded, or the next graph is traced; its peers wait for that too.
    loading = [{**WORKING, "completed": 0}]
    assert after(*compiling, *loading * 5).state is NodeState.COMPILING
    assert after(*compiling, *loading * 6).state is NodeState.STARTUP
    assert after(*compiling, *loading * 30).state is NodeState.WAITING
    assert after(*compiling, {**WORKING, "compiling": True, "completed": 9}).state is NodeState.RUNNING


def test_a_checkpoint_is_excused_for_fifteen_minutes() -> None:
    running = {**WORKING, "completed": 9}
    writing = {**WORKING, "completed": 0, "checkpoint": True}

    assert after(running, *[writing] * 15).state is NodeState.CHECKPOINT
    assert after(running, *[writing] * 16).state is NodeState.RUNNING


def test_a_checkpoint_is_excused_no_longer_where_executions_are_not_measured() -> None:
    running = {**WORKING, "completed": 9}
    unseen = {**WORKING, "checkpoint": True}

    assert after(running, *[unseen] * 15).state is NodeState.CHECKPOINT
    assert after(running, *[unseen] * 16).state is NodeState.RUNNING


def test_a_pause_counts_from_its_beginning_and_not_from_the_hint_that_came_later() -> None:
    running, hanging = {**WORKING, "completed": 9}, {**WORKING, "completed": 0}

    verdict = after(running, *[hanging] * 15, {**hanging, "checkpoint": True})

    assert verdict.state is NodeState.RUNNING
    assert verdict.reason == "no execution completed for 16 min"


def test_a_fault_stays_until_the_node_boots() -> None:
    verdict = after({**WORKING, "fault": "hbm-uncorrectable on device 6"}, {**WORKING, "completed": 9}, {})

    assert verdict.state is NodeState.FAULT
    assert "device 6" in verdict.reason
    assert after({}, memory=Memory()).state is NodeState.NO_JOB


def test_a_fault_that_passes_is_one_minute_of_fault() -> None:
    hang = {**WORKING, "passing_fault": "hang-on-collectives: another worker hangs"}

    assert after(WORKING, hang).state is NodeState.FAULT
    assert after(WORKING, hang, {**WORKING, "completed": 9}).state is NodeState.RUNNING


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


def test_jobs_that_take_turns_in_being_named_are_not_excused_for_ever() -> None:
    turns: list[dict[str, object]] = [{**WORKING, "job": f"job-{index % 2}", "completed": 0} for index in range(40)]

    # Each has its own start, one minute apart.
    assert after(*turns[:31]).state is NodeState.STARTUP
    assert after(*turns[:32]).state is NodeState.WAITING


def test_not_knowing_whose_the_cores_are_for_a_minute_is_not_a_new_job() -> None:
    nameless: dict[str, object] = {"holds_cores": True, "completed": 0}

    assert after({**WORKING, "completed": 9}, nameless, {**WORKING, "completed": 0}).state is NodeState.RUNNING


def test_a_clock_that_is_set_back_lengthens_no_excuse() -> None:
    memory = Memory()
    # Ten minutes, two hours back, and on: the 31st minute that passed is past the grace.
    times = [*range(10), *range(-110, -89)]
    states = []
    for minute in times:
        verdict = decide(Observation(at=minute * MINUTE, holds_cores=True, job="a", completed=0), memory)
        memory = verdict.memory
        states.append(verdict.state)

    # The minute of the step is judged twice in effect: no time has passed in it.
    assert states == [*[NodeState.STARTUP] * 31]
    assert decide(Observation(at=-89 * MINUTE, job="a", completed=0), memory).state is NodeState.WAITING


def test_a_clock_that_is_set_forward_ends_an_excuse_and_crashes_nothing() -> None:
    memory = decide(Observation(at=0.0, job="a", completed=0), Memory()).memory

    assert decide(Observation(at=1_795_230_000.0, job="a", completed=0), memory).state is NodeState.RUNNING


observations = st.builds(
    Observation,
    at=st.integers(-10_000, 10_000).map(lambda minute: minute * MINUTE),
    blind=st.none() | st.just("silent"),
    fault=st.none() | st.just("hbm"),
    passing_fault=st.none() | st.just("hang"),
    draining=st.none() | st.just("told to"),
    holds_cores=st.booleans(),
    job=st.none() | st.sampled_from(["a", "b"]),
    compiling=st.booleans(),
    completed=st.none() | st.integers(0, 5),
    checkpoint=st.booleans(),
    phase=st.none() | st.builds(Announced, st.sampled_from(["validation", "checkpoint"]), st.none() | st.just(5.0)),
    waits_for_lock=st.booleans(),
    usd_per_hour=st.none() | st.sampled_from([1.0, 20.0]),
)


@given(st.lists(observations, max_size=20))
def test_in_any_sequence_and_on_any_clock_the_first_state_that_holds_wins(sequence: list[Observation]) -> None:
    memory = Memory()
    faulty = False
    for seen in sequence:
        verdict = decide(seen, memory)
        memory = verdict.memory
        faulty = faulty or seen.fault is not None
        occupied = seen.holds_cores or seen.job is not None
        progressed = bool(seen.completed)
        expected = (
            (NodeState.BLIND, seen.blind is not None),
            (NodeState.FAULT, faulty or seen.passing_fault is not None),
            (NodeState.DRAINING, seen.draining is not None),
            (NodeState.NO_JOB, not occupied),
            (NodeState.COMPILING, seen.compiling and not progressed),
            # For some minutes after it.
            (NodeState.COMPILING, verdict.state is NodeState.COMPILING and not progressed),
        )
        forced = next((state for state, holds in expected if holds), None)
        assert verdict.reason
        if forced is not None:
            assert verdict.state is forced
        else:
            assert verdict.state not in {NodeState.STARTUP, NodeState.CHECKPOINT, NodeState.WAITING} or not progressed
            assert verdict.state is not NodeState.CHECKPOINT or seen.checkpoint or seen.phase
            assert verdict.state is not NodeState.PHASE or seen.phase


steps = st.lists(st.tuples(st.integers(-30, 30), st.none() | st.just(0), st.booleans()), max_size=80)


@given(steps)
def test_on_any_clock_the_start_up_ends_when_thirty_minutes_have_passed(
    sequence: list[tuple[int, int | None, bool]],
) -> None:
    memory = decide(Observation(at=0.0, job="a"), Memory()).memory
    now = passed = 0
    for step, completed, _ in sequence:
        # Time that the clock took back had passed all the same.
        now, passed = now + step, passed + max(0, step)
        verdict = decide(Observation(at=now * MINUTE, job="a", completed=completed), memory)
        memory = verdict.memory
        assert (verdict.state is NodeState.STARTUP) == (passed < 30)


@given(steps)
def test_on_any_clock_a_checkpoint_ends_when_fifteen_minutes_have_passed(
    sequence: list[tuple[int, int | None, bool]],
) -> None:
    memory = decide(Observation(at=0.0, job="a", completed=1), Memory()).memory
    now = passed = 0
    began: int | None = None
    for step, completed, hint in sequence:
        now, passed = now + step, passed + max(0, step)
        began = None if not hint else passed if began is None else began
        verdict = decide(Observation(at=now * MINUTE, job="a", completed=completed, checkpoint=hint), memory)
        memory = verdict.memory
        if verdict.state is NodeState.CHECKPOINT:
            assert began is not None
            assert passed - began < 15
        else:
            assert verdict.state is NodeState.RUNNING


said = st.none() | st.builds(
    Announced, st.sampled_from(["validation", "evaluation"]), st.none() | st.floats(0, 2_000), st.just("")
)


@given(st.lists(st.tuples(said, st.integers(0, 1)), min_size=1, max_size=200), st.sampled_from([20.0, 60.0, 200.0]))
def test_whatever_a_job_announces_it_is_excused_for_no_more_than_the_dollars(
    sequence: list[tuple[Announced | None, int]], usd_per_hour: float
) -> None:
    memory = decide(Observation(at=0.0, job="a", completed=1), Memory()).memory
    most = allowed(LONGEST_ANNOUNCED_MINUTES, ANNOUNCED_USD, usd_per_hour)
    began: int | None = None
    for minute, (phase, completed) in enumerate(sequence, start=1):
        seen = Observation(at=minute * MINUTE, job="a", completed=completed, phase=phase, usd_per_hour=usd_per_hour)
        verdict = decide(seen, memory)
        memory = verdict.memory
        # An ordinary minute of work ends the stretch.
        began = None if phase is None and completed else minute if began is None and phase else began
        if verdict.state is NodeState.PHASE:
            assert began is not None
            assert minute - began < most
