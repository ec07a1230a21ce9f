"""What the files of the compile cache say about compilations, and what they cannot say."""

import inspect
import os
import shutil
from pathlib import Path

import pytest

import agents
from agents.collectors.collector import Contribution, Request
from agents.collectors.compile_cache.collector import CompileCacheCollector, file_system
from agents.collectors.compile_cache.entry import State, read
from agents.collectors.compile_cache.scan import CacheScan
from agents.config import AgentConfig
from fleet import metrics
from tests.support.compile_cache import CacheFolder

T = 1_795_230_000.0
SECOND = 1_000_000_000
NAMES = (
    metrics.COMPILATION_EVENTS,
    metrics.COMPILATION_SECONDS,
    metrics.COMPILE_CACHE_MISSES,
    metrics.COMPILE_FAILURES,
)


class Node:
    """A cache, a /proc, and the collector that looks at both once a minute from ``T`` on."""

    def __init__(self, folder: Path) -> None:
        self.proc = folder / "proc"
        self.proc.mkdir()
        self.logs = folder / "logs"
        self.cache = CacheFolder(folder / "cache")
        self.collector = CompileCacheCollector(str(self.cache.root), self.proc, str(self.logs / "*.log"))
        self._minute = 0

    def minute(self) -> Contribution:
        seen = self.collector.collect(Request(T + 60 * self._minute))
        self._minute += 1
        return seen

    def compiler(self, *, runs: bool) -> None:
        folder = self.proc / "77"
        if not runs:
            shutil.rmtree(folder)
            return
        folder.mkdir()
        (folder / "comm").write_text("neuronx-cc\n")

    def mount(self, kind: str) -> None:
        (self.proc / "self").mkdir()
        lines = f"/dev/root / ext4 rw 0 0\nfs-1:/ {self.cache.root} {kind} rw 0 0\nx {self.cache.root}-2 tmpfs rw 0 0\n"
        (self.proc / "self/mounts").write_text(lines)


@pytest.fixture
def node(tmp_path: Path) -> Node:
    return Node(tmp_path)


def figures(seen: Contribution) -> tuple[float, ...]:
    """Compiled, seconds, misses, failures."""
    return tuple(seen.metrics[spec] for spec in NAMES)


def test_without_a_cache_there_is_nothing_to_say(node: Node) -> None:
    assert node.minute() == Contribution()


def test_the_first_look_takes_stock(node: Node) -> None:
    node.cache.compiled(1, T - 40, T - 20)
    node.cache.begin(2, T - 500)
    node.cache.fail(2, T - 400)
    node.cache.put(3, T - 300, "model.hlo_module.pb", size=5)

    seen = node.minute()

    assert figures(seen) == (0, 0, 0, 0)
    assert seen.event == {
        "compile_cache": {
            "succeeded": 1,
            "failed": 1,
            "incomplete": 1,
            "bytes": 105,
            "versions": ["2.21.18209.0+043b1bf7"],
        }
    }
    assert not seen.compiling


def test_a_graph_that_was_compiled_within_the_minute_counts_with_its_seconds(node: Node) -> None:
    node.cache.root.mkdir()
    node.minute()
    node.cache.compiled(1, T + 10, T + 32.5)
    node.cache.compiled(2, T + 20, T + 50)

    seen = node.minute()

    # 22.5 s and 30 s
    assert figures(seen) == (2, 52.5, 2, 0)
    assert metrics.COMPILE_CACHE_HITS not in seen.metrics
    assert seen.compiling
    assert figures(node.minute()) == (0, 0, 0, 0)


def test_a_long_compilation_is_a_miss_when_it_begins_and_an_event_when_it_ends(node: Node) -> None:
    node.cache.root.mkdir()
    node.minute()
    node.cache.begin(1, T + 30)
    began, went_on = node.minute(), node.minute()
    node.cache.finish(1, T + 150)
    ended, after = node.minute(), node.minute()

    assert [figures(seen) for seen in (began, went_on, ended, after)] == [
        (0, 0, 1, 0),
        (0, 0, 0, 0),
        (1, 120, 0, 0),
        (0, 0, 0, 0),
    ]
    assert [seen.compiling for seen in (began, went_on, ended, after)] == [True, True, True, False]


def test_a_graph_that_was_collected_long_before_is_timed_from_its_lock(node: Node) -> None:
    node.cache.put(1, T - 7200, "model.hlo_module.pb")
    node.minute()
    node.cache.put(1, T + 50, "model.hlo_module.pb.lock")
    node.minute()
    node.cache.finish(1, T + 110)

    assert figures(node.minute()) == (1, 60, 0, 0)


def test_where_the_lock_was_never_seen_the_time_begins_with_the_last_look(node: Node) -> None:
    node.cache.put(1, T - 7200, "model.hlo_module.pb")
    node.minute()
    node.cache.finish(1, T + 40)

    # It was idle at T, so it cannot have taken more than 40 s.
    assert figures(node.minute()) == (1, 40, 1, 0)


def test_a_failure_counts_once_and_its_retry_again(node: Node) -> None:
    node.cache.root.mkdir()
    node.minute()
    node.cache.begin(1, T + 5)
    node.cache.fail(1, T + 25)
    failed, quiet = node.minute(), node.minute()
    node.cache.put(1, T + 130, "model.hlo_module.pb.lock")
    retried = node.minute()
    node.cache.fail(1, T + 200)
    failed_again = node.minute()
    node.cache.finish(1, T + 250)
    succeeded = node.minute()

    assert [figures(seen) for seen in (failed, quiet, retried, failed_again, succeeded)] == [
        (0, 20, 1, 1),
        (0, 0, 0, 0),
        (0, 0, 1, 0),
        (0, 70, 0, 1),
        # Idle when it was seen at T + 240, done ten seconds later.
        (1, 10, 1, 0),
    ]
    assert retried.compiling
    assert failed_again.event["compile_cache"]["failed"] == 1


def test_a_graph_that_was_copied_here_is_a_hit_and_no_compilation(node: Node) -> None:
    node.cache.compiled(1, T - 900, T - 600)
    node.minute()
    node.cache.compiled(2, T + 30, T + 30.4)
    node.cache.compiled(3, T - 86400, T - 86000)

    seen = node.minute()

    assert figures(seen) == (0, 0, 0, 0)
    assert seen.metrics[metrics.COMPILE_CACHE_HITS] == 2
    assert seen.event["compile_cache"]["fetched"] == 2


def test_hits_come_from_the_logs_that_the_agent_may_read(node: Node) -> None:
    node.logs.mkdir()
    hit = "INFO ||NEURON_CACHE||: Using a cached neff at /var/tmp/c/neuronxcc-2.21/MODULE_1+a/model.neff\n"
    old = (
        "Using a cached neff at /var/tmp/c/USER_neuroncc-1/MODULE_7/MODULE_0_x_host/9f/MODULE_0-h.neff. Exiting with\n"
    )
    bad = "Got a cached failed neff at /c/MODULE_3+b/model.neff. Will skip compilation\n"
    (node.logs / "a.log").write_text(hit * 5)
    node.cache.root.mkdir()
    first = node.minute()
    with (node.logs / "a.log").open("a") as log:
        log.write(hit + old + bad + hit[:40])
    second = node.minute()
    with (node.logs / "a.log").open("a") as log:
        log.write(hit[40:])
    (node.logs / "b.log").write_text(hit)
    os.mkfifo(node.logs / "c.log")
    (node.logs / "d.log").mkdir()
    third = node.minute()
    (node.logs / "a.log").write_text(hit)
    rotated = node.minute()

    hits = [seen.metrics[metrics.COMPILE_CACHE_HITS] for seen in (first, second, third, rotated)]
    # Before the agent: not counted. Then two whole lines; then the rest of the third and a new file; then a new start.
    assert hits == [0, 2, 2, 1]
    assert second.event["compile_cache"]["failures_found"] == 1


def test_a_lock_without_a_compiler_is_stale_after_ten_minutes(node: Node) -> None:
    node.cache.begin(1, T - 540)
    node.cache.begin(2, T - 2460)
    seen = node.minute(), node.minute(), node.minute()

    # At T the first lock is 9 minutes old and the second 41; at T + 60 the first is 10, which is not more than 10.
    assert [each.event["compile_cache"].get("stale_locks") for each in seen] == [1, 1, 2]
    assert seen[0].problems == (
        "compile cache: 1 locks are held by nobody, the oldest for 41 min: no compiler runs on this host",
    )
    assert [each.compiling for each in seen] == [True, True, False]


def test_with_a_compiler_on_the_host_an_old_lock_is_a_long_compilation(node: Node) -> None:
    node.compiler(runs=True)
    node.cache.begin(1, T - 7200)

    seen = node.minute()

    assert (seen.problems, seen.compiling) == ((), True)


def test_on_a_shared_file_system_only_this_hosts_compilations_count(node: Node) -> None:
    node.mount("nfs4")
    node.cache.begin(1, T - 7200)
    first = node.minute()
    node.cache.compiled(2, T + 5, T + 55)
    elsewhere = node.minute()
    node.compiler(runs=True)
    node.cache.compiled(3, T + 65, T + 115)
    here = node.minute()
    node.compiler(runs=False)
    node.cache.compiled(4, T + 125, T + 175)
    just_ended = node.minute()
    node.cache.compiled(5, T + 185, T + 235)

    assert first.event["compile_cache"]["is_shared"]
    assert first.problems[0].endswith(
        "no compiler runs on this host; the cache is shared, so it may run on another host"
    )
    assert elsewhere.metrics == {}
    assert not elsewhere.compiling
    assert (figures(here), figures(just_ended)) == ((1, 50, 1, 0), (1, 50, 1, 0))
    assert node.minute().metrics == {}


def test_the_file_system_is_that_of_the_nearest_mount(node: Node) -> None:
    node.mount("lustre")

    assert file_system(node.proc, node.cache.root / "x") == "lustre"
    assert file_system(node.proc, node.cache.root.parent) == "ext4"
    assert file_system(node.proc / "nowhere", node.cache.root) == ""


def test_a_cache_that_comes_later_is_measured_from_when_it_was_not_there(node: Node) -> None:
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


def test_a_graph_that_is_removed_is_forgotten_and_counts_when_it_is_compiled_again(node: Node) -> None:
    node.cache.compiled(1, T - 900, T - 600, size=1000)
    node.minute()
    shutil.rmtree(node.cache.graph(1))
    removed = node.minute()
    node.cache.compiled(1, T + 70, T + 100)

    assert removed.event["compile_cache"]["bytes"] == 0
    assert figures(node.minute()) == (1, 30, 1, 0)


def test_a_finished_graph_that_is_compiled_anew_counts(node: Node) -> None:
    node.cache.compiled(1, T - 900, T - 600)
    node.minute()
    (node.cache.graph(1) / "model.done").unlink()
    node.cache.compiled(1, T + 10, T + 30)

    assert figures(node.minute()) == (1, 20, 1, 0)


def test_a_link_does_not_lead_out_of_the_cache(node: Node, tmp_path: Path) -> None:
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


def test_the_layout_of_2022_is_understood(node: Node) -> None:
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


def test_a_cache_that_may_not_be_read_is_a_problem(node: Node, monkeypatch: pytest.MonkeyPatch) -> None:
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
    assert "PrivateTmp=no" in unit.read_text().splitlines()


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
