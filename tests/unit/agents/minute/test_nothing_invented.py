"""In any sequence of minutes: no WhenRunning datum outside RUNNING, and no zero where the input was missing.

The oracle looks at the raw reports only, never at what the agent made of them.
"""

from collections.abc import Callable, Iterable
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agents.collectors.collector import Contribution
from agents.collectors.jobs.job import Job
from agents.collectors.seen_error import SeenError
from agents.minute.aggregate import metric_data
from agents.minute.batch import SelfFigures
from agents.minute.pipeline import Pipeline, Surroundings
from fleet.hardware_errors import DMA_ABORT
from fleet.node_state import NodeState
from tests.support import agents, samples
from tests.support.samples import GIB, Json, RuntimeSpec
from tests.unit.agents.truth.published import figures

JOB = Job("job-1", "llama", "research", registered=True)
GROUPS = ("neuroncore_counters", "memory_used", "execution_stats")

specs = st.builds(
    RuntimeSpec,
    pid=st.integers(1, 2),
    tag=st.just("1"),
    busy=st.dictionaries(st.integers(0, 1), st.sampled_from([0.0, 50.0])),
    flops=st.just({}),
    tensors=st.dictionaries(st.integers(0, 1), st.sampled_from([0, GIB])),
    completed=st.sampled_from([0, 0, 5]),
    p99=st.none() | st.just(0.04),
    flop_keys=st.sampled_from([(), ("flops",), ("effective_flops",)]),
)
damages = st.sampled_from(["", "", "", "null", "error", "absent", "short"])


@st.composite
def reports(draw: Callable[[st.SearchStrategy[Any]], Any]) -> Json:
    made = samples.report(draw(st.lists(specs, max_size=2, unique_by=lambda spec: spec.pid)), devices=1)
    for runtime in made["neuron_runtime_data"]:
        del runtime["report"]["memory_used"]["loaded_models"]
        for name in GROUPS:
            damage(runtime["report"], name, draw(damages))
    missing = draw(st.sampled_from(["", "", "", "", "system_data", "neuron_runtime_data", "driver"]))
    if missing == "driver":
        made["neuron_hardware_info"]["error"] = "gone"
    elif missing:
        made[missing] = None
    return made


def damage(groups: Json, name: str, how: str) -> None:
    """Take from one runtime the group called ``name``, or what makes it worth reading."""
    match how:
        case "null":
            groups[name] = None
        case "error":
            groups[name]["error"] = "cannot be read"
        case "absent":
            del groups[name]
        case "short":
            groups[name]["period"] = 0.0005


contributions = st.builds(
    Contribution,
    jobs=st.sampled_from([(), (JOB,)]),
    compiling=st.booleans(),
    checkpoint=st.booleans(),
    draining=st.none() | st.just("told to"),
    hardware_errors=st.sampled_from([(), (), (), (SeenError(DMA_ABORT, 0, 1),)]),
)
minutes = st.tuples(st.lists(reports(), max_size=3), contributions, st.sampled_from([60, 60, 60, 3600, -300]))


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(minutes, min_size=1, max_size=4))
def test_no_sequence_of_minutes_publishes_what_was_not_measured(sequence: list[tuple[list[Json], Any, int]]) -> None:
    pipeline = Pipeline(agents.config(), "i-1", agents.MINUTE)
    minute, all_before = agents.MINUTE, []
    for made, collected, step in sequence:
        all_before += made
        for index, each in enumerate(made):
            pipeline.line(samples.line(each), minute + 5 * index)
        entry = pipeline.close(minute, minute + 5 * len(made), 1, Surroundings(collected), SelfFigures())
        published = figures(metric_data(entry))

        check_running(published, entry.verdict.state)
        zeros = {name for name, value in published.items() if is_zero(value)}
        runtimes = [runtime for each in made for runtime in each["neuron_runtime_data"] or []]
        for name in zeros:
            assert ORACLE[name](made, runtimes, all_before), name
        minute += step


def check_running(published: Json, state: NodeState) -> None:
    for name in ("NeuronCoreUtilization", "TensorEngineUtilization"):
        expected = published.get(name) if state is NodeState.RUNNING else None
        assert published.get(f"{name}WhenRunning") == expected
    if state is NodeState.BLIND:
        assert set(published) <= {"CoresTotal", "HardwareErrors"}


def is_zero(value: Any) -> bool:
    """Whether a figure is zero or has one in it."""
    return 0 in value if isinstance(value, dict | tuple) else value == 0


def read(runtimes: Iterable[Json], name: str, *, rate: bool = True) -> list[Json]:
    """The sections called ``name`` that hold data; a short one holds no rate."""
    found = [runtime["report"].get(name) for runtime in runtimes]
    return [each for each in found if each and not each["error"] and (each["period"] > 2.5 or not rate)]


def cores(runtimes: Iterable[Json]) -> list[Json]:
    counters = read(runtimes, "neuroncore_counters")
    return [core for section in counters for core in section["neuroncores_in_use"].values()]


def has_idle_core(_: list[Json], runtimes: list[Json], __: list[Json]) -> bool:
    return any(core["neuroncore_utilization"] == 0 for core in cores(runtimes))


def has_flops(_: list[Json], runtimes: list[Json], __: list[Json]) -> bool:
    return any({"flops", "effective_flops"} & set(core) for core in cores(runtimes))


def has_executions(made: list[Json], runtimes: list[Json], _: list[Json]) -> bool:
    unread = [
        runtime
        for runtime in runtimes
        if "execution_stats" in runtime["report"]
        and (runtime["report"]["execution_stats"] is None or runtime["report"]["execution_stats"]["error"])
    ]
    nothing_ran = any(each["neuron_runtime_data"] == [] for each in made) and not runtimes
    return nothing_ran or bool(read(runtimes, "execution_stats") and not unread)


def has_free_cores(_: list[Json], __: list[Json], all_before: list[Json]) -> bool:
    # Who holds the cores is as last seen, also in a minute without a report.
    lists = [each["neuron_runtime_data"] for each in all_before if each["neuron_runtime_data"] is not None]
    return any(len(read(runtimes, "memory_used", rate=False)) == len(runtimes) for runtimes in lists)


def has_error_counters(made: list[Json], _: list[Json], __: list[Json]) -> bool:
    return any(each["system_data"] for each in made)


ORACLE: dict[str, Callable[[list[Json], list[Json], list[Json]], bool]] = {
    "NeuronCoreUtilization": has_idle_core,
    "NeuronCoreUtilizationWhenRunning": has_idle_core,
    "TensorEngineUtilization": has_flops,
    "TensorEngineUtilizationWhenRunning": has_flops,
    "AchievedTflops": has_flops,
    "ExecutionsCompleted": has_executions,
    "ExecutionErrors": has_executions,
    "LowestJobCoreUtilization": has_idle_core,
    "LowestJobTensorEngineUtilization": has_flops,
    # A verdict and no measurement: nothing hangs where nothing runs.
    "NodesHung": lambda *_: True,
    "CoresAllocated": has_free_cores,
    "HardwareErrors": has_error_counters,
}
