"""How the cache's folders are looked through: what comes and goes, links, limits, and the states of a graph."""

import inspect
import os
import shutil
from pathlib import Path

import pytest

import agents
from agents.collectors.collector import Contribution
from agents.collectors.compile_cache.scan import CacheScan
from agents.config import AgentConfig
from fleet import metrics
from tests.support.compile_cache import SECOND, CacheFolder, CacheNode, T, figures
from workload.compile_cache.entry import State, read


@pytest.fixture
def node(tmp_path: Path) -> CacheNode:
    return CacheNode(tmp_path)


def test_a_cache_that_comes_later_is_measured_from_when_it_was_not_there(node: CacheNode) -> None:
    node.minute()
    node.cache.compiled(1, T - 900, T - 600)
    node.cache.compiled(2, T + 10, T + 20)
    appeared = node.minute()
    shutil.rmtree(node.cache.root)
    vanished = node.minute()
    node.cache.compiled(1, T - 900, T - 600)
    node.cache.compiled(2, T + 10, T + 20)
    node.cache.compiled(3, T + 125, T + 155)
    back = node.minute()

    assert figures(appeared) == (1, 10, 1, 0)
    assert vanished == Contribution()
    assert figures(back) == (1, 30, 1, 0)
    assert metrics.COMPILE_CACHE_HITS not in back.metrics


def test_a_graph_that_is_removed_is_forgotten_and_counts_when_it_is_compiled_again(node: CacheNode) -> None:
    node.cache.compiled(1, T - 900, T - 600, size=1000)
    node.minute()
    shutil.rmtree(node.cache.graph(1))
    removed = node.minute()
    node.cache.compiled(1, T + 70, T + 100)

    assert removed.event["compile_cache"]["bytes"] == 0
    assert figures(node.minute()) == (1, 30, 1, 0)


def test_a_finished_graph_that_is_compiled_anew_counts(node: CacheNode) -> None:
    node.cache.compiled(1, T - 900, T - 600)
    node.minute()
    (node.cache.graph(1) / "model.done").unlink()
    node.cache.compiled(1, T + 10, T + 30)

    assert figures(node.minute()) == (1, 20, 1, 0)


def test_a_link_does_not_lead_out_of_the_cache(node: CacheNode, tmp_path: Path) -> None:
    elsewhere = CacheFolder(tmp_path / "elsewhere")
    elsewhere.compiled(1, T - 900, T - 600)
    node.cache.put(2, T - 900, "model.hlo_module.pb")
    (node.cache.graph(2) / "model.done").symlink_to(elsewhere.graph(1) / "model.done")
    (node.cache.graph(2) / "model.neff").symlink_to(elsewhere.graph(1) / "model.neff")
    (node.cache.graph(2) / "folder").symlink_to(elsewhere.graph(1))
    (node.cache.graph(2).parent / "MODULE_3").symlink_to(elsewhere.graph(1))
    (node.cache.root / "neuronxcc-9").symlink_to(elsewhere.graph(1).parent)
    (node.cache.root / "lost+found").mkdir()

    assert node.minute().event["compile_cache"] == {
        "incomplete": 1,
        "bytes": 0,
        "versions": ["2.21.18209.0+043b1bf7"],
    }


def test_the_layout_of_2022_is_understood(node: CacheNode) -> None:
    old = CacheFolder(node.cache.root, "USER_neuroncc-1.0.48875.0+7437fbf18")
    deep = old.graph(7) / "MODULE_0_SyncTensorsGraph_host" / "9f1c"
    deep.mkdir(parents=True)
    node.minute()
    (deep / "MODULE_0_SyncTensorsGraph.neff").write_bytes(b"x" * 9)
    os.utime(deep / "MODULE_0_SyncTensorsGraph.neff", (T + 30, T + 30))

    seen = node.minute()

    # Nothing says when it began: it was idle at T.
    assert figures(seen) == (1, 30, 1, 0)
    assert seen.event["compile_cache"] == {"succeeded": 1, "bytes": 9, "versions": ["1.0.48875.0+7437fbf18"]}


def test_what_time_does_not_suffice_for_is_left_for_the_next_minute(tmp_path: Path) -> None:
    cache = CacheFolder(tmp_path)
    for number in range(5):
        cache.compiled(number, T - 900, T - 600)
    cache.compiled(5, T + 10, T + 20)
    ticks = iter(range(1000))
    # Each look at the clock is a second later: time for two graphs, of open ones and of new ones.
    scan = CacheScan(tmp_path, elapsed=lambda: float(next(ticks)), budget=1.5)

    changes = []
    for minute in range(3):
        seen = scan.step(int((T + 60 * minute) * SECOND))
        assert seen is not None
        changes.append((scan.unread, seen.compiled, seen.fetched))

    # The one that was compiled after the first look is found to be new when its turn comes.
    assert changes == [(4, 0, 0), (2, 0, 0), (0, 1, 0)]


def test_open_graphs_take_turns_when_there_are_too_many(tmp_path: Path) -> None:
    cache = CacheFolder(tmp_path)
    for number in range(4):
        cache.put(number, T - 900, "model.hlo_module.pb")
    scan = CacheScan(tmp_path)
    scan.step(int(T * SECOND))
    ticks = iter(range(1000))
    scan._elapsed = lambda: float(next(ticks))
    scan._budget = 1.5
    for number in (2, 3):
        cache.finish(number, T + 10)

    compiled = [changes.compiled for minute in (1, 2) if (changes := scan.step(int((T + 60 * minute) * SECOND)))]

    # Two are looked at in a minute: first 0 and 1, which stay as they are, then the others.
    assert compiled == [0, 2]


def test_an_unchanged_list_is_not_read_again_unless_it_is_fresh(tmp_path: Path) -> None:
    cache = CacheFolder(tmp_path)
    cache.compiled(1, T - 900, T - 600)
    folder = cache.graph(1).parent
    scan = CacheScan(tmp_path)
    seen = []
    # The second graph comes in the same tick of the clock as the list was read; nobody can come as late as the third.
    for minute, changed in ((0, T - 1), (1, T - 1), (2, T - 1)):
        cache.compiled(minute + 1, T - 900, T - 600)
        os.utime(folder, (changed, changed))
        scan.step(int((T + 60 * minute) * SECOND))
        seen.append(sum(scan.count().values()))

    assert seen == [1, 2, 2]


def test_a_cache_that_may_not_be_read_is_a_problem(node: CacheNode, monkeypatch: pytest.MonkeyPatch) -> None:
    node.cache.compiled(1, T - 900, T - 600)
    real = os.scandir

    def refuse(path: Path) -> object:
        if "MODULE" in str(path):
            raise PermissionError(13, "Permission denied", str(path))
        return real(path)

    monkeypatch.setattr(os, "scandir", refuse)

    seen = node.minute()

    assert seen.problems == ("compile cache: a graph: Permission denied",)
    assert seen.event["compile_cache"]["not_looked_at"] == 1


def test_the_service_sees_the_host_where_the_compiler_keeps_its_cache() -> None:
    unit = Path(agents.__file__).parent / "packaging/neuron-fleet-agent.service"
    default = inspect.signature(AgentConfig).parameters["compile_cache"].default

    assert default.startswith("/var/tmp/")  # noqa: S108 - where the compiler keeps it
    # A private one would hide the compilers' files from the agent.
    assert "PrivateTmp=yes" not in unit.read_text().splitlines()


@pytest.mark.parametrize(
    ("files", "state"),
    [
        (["model.hlo_module.pb", "model.neff", "model.done"], State.SUCCEEDED),
        (["model.hlo.pb", "model.neff", "model.done", "model.hlo.pb.lock"], State.SUCCEEDED),
        (["model.hlo_module.pb", "model.done", "model.log"], State.FAILED),
        (["model.hlo_module.pb", "model.log"], State.FAILED),
        (["model.hlo_module.pb", "model.log", "model.hlo_module.pb.lock"], State.COMPILING),
        (["model.hlo_module.pb", "model.hlo_module.pb.lock"], State.COMPILING),
        (["model.hlo_module.pb"], State.INCOMPLETE),
        (["model.hlo_module.pb", "model.neff"], State.INCOMPLETE),
        ([], State.INCOMPLETE),
    ],
)
def test_the_files_of_a_graph_make_its_state(tmp_path: Path, files: list[str], state: State) -> None:
    for name in files:
        (tmp_path / name).touch()

    entry = read(tmp_path)

    assert entry is not None
    assert entry.state is state
    assert read(tmp_path / "gone") is None
