"""One process of the fleet compiles a graph, and what everybody else gets meanwhile, and when something is down."""

import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest

from fleet.compile_cache import lease
from fleet.compile_cache.figures import Source
from fleet.compile_cache.lease import State, Terms
from tests.support.compiled_graphs import VERSION, compiler, graph, is_whole, write
from tests.support.lease_tables import MemoryTable
from workload.compile_cache.flight import leases
from workload.compile_cache.flight.single_flight import CompileCache, OnMiss
from workload.compile_cache.tiers import promotion
from workload.compile_cache.tiers.local import LocalTier
from workload.compile_cache.tiers.shared import SharedTier
from workload.errors import CacheError, CompilationFailedError, MissError

GRAPH = graph(1)
QUICK = Terms(lease=0.3, skew=0.05, visible=0.2, refusal=60.0)
LIMIT = 30.0


class Fleet:
    """Nodes with a cache each, one shared tier and one table."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "shared").mkdir()
        self.shared = SharedTier(folder / "shared")
        self.table = MemoryTable()

    def node(self, name: str, on_miss: OnMiss = OnMiss.SHARE, terms: Terms = QUICK) -> CompileCache:
        return CompileCache(
            LocalTier(self.folder / name), self.shared, self.table, on_miss=on_miss, terms=terms, holder=name
        )

    def dies(self, name: str, state: State, ago: float = 0.0) -> None:
        """A holder took the lease, and is never heard of again."""
        row = lease.take(None, name, time.time() - ago, QUICK)
        self.table.rows[GRAPH] = replace(row, state=state)

    @property
    def row(self) -> lease.Row:
        return self.table.rows[GRAPH]


@pytest.fixture
def fleet(tmp_path: Path) -> Fleet:
    return Fleet(tmp_path)


def never(_folder: Path) -> None:
    raise AssertionError("compiled, and should not have been")


def test_what_one_node_compiles_the_others_fetch(fleet: Fleet) -> None:
    first, second = fleet.node("first"), fleet.node("second")

    compiled = first.obtain(GRAPH, compiler(GRAPH))
    fetched = second.obtain(GRAPH, never)
    again = second.obtain(GRAPH, never)

    assert (compiled.source, compiled.problem) == (Source.COMPILED, "")
    assert [fetched.source, again.source] == [Source.FETCHED, Source.LOCAL]
    assert is_whole(GRAPH, second.local.folder(GRAPH))
    assert (fleet.row.state, fleet.row.token) == (State.DONE, 1)
    assert second.tally.hit_rate == 1.0
    assert first.tally.hit_rate == 0.0


def test_a_node_that_asks_while_another_compiles_waits_and_fetches(fleet: Fleet) -> None:
    began, may_end = threading.Event(), threading.Event()

    def compile_slowly(folder: Path) -> None:
        began.set()
        assert may_end.wait(LIMIT)
        write(GRAPH, folder)

    patient = replace(QUICK, lease=LIMIT)
    slow = threading.Thread(target=lambda: fleet.node("slow", terms=patient).obtain(GRAPH, compile_slowly))
    slow.start()
    assert began.wait(LIMIT)
    waiter = fleet.node("waiter", terms=patient)
    pauses: list[float] = []

    def sleep(seconds: float) -> None:
        pauses.append(seconds)
        if len(pauses) == 5:
            may_end.set()
            slow.join(LIMIT)

    waiter.sleep = sleep
    obtained = waiter.obtain(GRAPH, never)

    assert obtained.source is Source.FETCHED
    assert fleet.row.token == 1
    # 0.2 s, each then 1.6 times as long, and each between half of that and all of it.
    assert len(pauses) == 5
    assert all(0.1 * 1.6**turn <= pause <= 0.2 * 1.6**turn for turn, pause in enumerate(pauses))


def test_the_lease_of_a_dead_holder_is_taken_over_when_it_ends(fleet: Fleet) -> None:
    fleet.dies("dead", State.COMPILING)
    started = time.monotonic()

    obtained = fleet.node("heir").obtain(GRAPH, compiler(GRAPH))

    assert obtained.source is Source.COMPILED
    assert (fleet.row.state, fleet.row.token, fleet.row.holder) == (State.DONE, 2, "heir")
    assert time.monotonic() - started >= QUICK.lease


def test_what_a_holder_promoted_before_it_died_is_not_compiled_again(fleet: Fleet, tmp_path: Path) -> None:
    fleet.dies("dead", State.PROMOTING, ago=60)
    write(GRAPH, tmp_path / "compiled")
    looks: list[str] = []

    def shows_late(_seconds: float) -> None:
        # While the heir, which holds the lease, looks for it.
        looks.append(fleet.row.holder)
        if len(looks) == 3:
            staged = promotion.stage(
                fleet.shared, GRAPH, str(tmp_path / "compiled"), token=1, seconds=9.0, holder="dead"
            )
            promotion.publish(fleet.shared, staged)

    heir = fleet.node("heir", terms=replace(QUICK, visible=LIMIT))
    heir.sleep = shows_late

    assert heir.obtain(GRAPH, never).source is Source.FETCHED
    assert looks == ["heir"] * 3
    assert fleet.row.state is State.DONE


def test_who_comes_back_to_find_another_holder_does_not_promote(fleet: Fleet) -> None:
    def compile_and_lose(folder: Path) -> None:
        write(GRAPH, folder)
        fleet.table.rows[GRAPH] = lease.take(fleet.row, "other", time.time() + 60, QUICK)

    obtained = fleet.node("late", terms=replace(QUICK, lease=LIMIT)).obtain(GRAPH, compile_and_lose)

    assert obtained.source is Source.UNSHARED
    assert "the lease went to another node" in obtained.problem
    assert fleet.shared.find(GRAPH) is None
    assert (fleet.row.holder, fleet.row.token) == ("other", 2)


def test_a_failed_compilation_is_tried_on_one_more_node_and_then_refused(fleet: Fleet) -> None:
    def fail(folder: Path) -> None:
        folder.mkdir(parents=True)
        (folder / "model.log").write_text("INFO\nERROR: 16 GB do not fit\n\n")

    for name in ("one", "two"):
        node = fleet.node(name)
        with pytest.raises(CompilationFailedError, match="ERROR: 16 GB do not fit"):
            node.obtain(GRAPH, fail)
        # The compiler would take it for final.
        assert node.local.state(GRAPH) is None
    with pytest.raises(CompilationFailedError, match=r"refused after 2 failures, the last: .*16 GB do not fit"):
        fleet.node("three").obtain(GRAPH, never)

    assert fleet.shared.find(GRAPH) is None
    assert (fleet.row.state, fleet.row.failures) == (State.FAILED, 2)


def test_a_compiler_that_says_nothing_and_leaves_nothing_has_failed(fleet: Fleet) -> None:
    with pytest.raises(CompilationFailedError, match="the compiler left no finished graph"):
        fleet.node("one").obtain(GRAPH, lambda _folder: None)


def test_an_interrupted_compilation_gives_the_lease_back(fleet: Fleet) -> None:
    def interrupt(_folder: Path) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fleet.node("one").obtain(GRAPH, interrupt)

    assert (fleet.row.state, fleet.row.failures) == (State.FREE, 0)


def test_a_compiler_that_is_at_work_on_the_graph_here_is_waited_for(fleet: Fleet) -> None:
    node = fleet.node("one")
    lock = node.local.folder(GRAPH) / "model.hlo_module.pb.lock"
    lock.parent.mkdir(parents=True)
    lock.touch()

    def end(_seconds: float) -> None:
        write(GRAPH, node.local.folder(GRAPH))
        lock.unlink()

    node.sleep = end

    assert node.obtain(GRAPH, never).source is Source.COMPILED
    assert fleet.shared.find(GRAPH) is not None


def test_who_may_not_share_waits_for_whoever_does(fleet: Fleet) -> None:
    fleet.dies("alive", State.COMPILING)
    waiter, writer = fleet.node("waiter", OnMiss.WAIT), fleet.node("alive")
    fleet.table.rows[GRAPH] = replace(fleet.row, until=time.time() + LIMIT)
    before = list(fleet.table.history)

    def sleep(_seconds: float) -> None:
        fleet.table.rows.clear()
        writer.obtain(GRAPH, compiler(GRAPH))
        before[:] = fleet.table.history

    waiter.sleep = sleep
    assert waiter.obtain(GRAPH, never).source is Source.FETCHED
    assert fleet.table.history == before


def test_who_may_not_share_compiles_for_itself_where_nobody_does_and_leaves_the_table_alone(fleet: Fleet) -> None:
    fleet.dies("dead", State.COMPILING, ago=60)
    obtained = fleet.node("reader", OnMiss.WAIT).obtain(GRAPH, compiler(GRAPH))
    assert (obtained.source, obtained.problem, fleet.table.history) == (Source.UNSHARED, "", [])
    assert fleet.shared.find(GRAPH) is None


def test_who_may_not_share_does_not_repeat_what_has_failed_twice(fleet: Fleet) -> None:
    fleet.dies("dead", State.FAILED)
    fleet.table.rows[GRAPH] = replace(fleet.row, failures=2, until=time.time() + LIMIT, reason="TilingError")
    with pytest.raises(CompilationFailedError, match="refused after 2 failures, the last: TilingError"):
        fleet.node("reader", OnMiss.WAIT).obtain(GRAPH, never)


def test_a_lease_table_that_is_down_costs_the_sharing_and_not_the_job(fleet: Fleet) -> None:
    fleet.table.is_down = True

    obtained = fleet.node("one").obtain(GRAPH, compiler(GRAPH))

    assert (obtained.source, obtained.problem) == (Source.UNSHARED, "the lease table did not answer")
    assert fleet.node("one").local.has(GRAPH)


def test_a_table_that_goes_down_while_compiling_costs_the_sharing_and_not_the_job(fleet: Fleet) -> None:
    def compile_then_lose_the_table(folder: Path) -> None:
        write(GRAPH, folder)
        fleet.table.is_down = True

    obtained = fleet.node("one").obtain(GRAPH, compile_then_lose_the_table)

    assert obtained.source is Source.UNSHARED
    assert "the lease table did not answer" in obtained.problem
    assert fleet.shared.find(GRAPH) is None


def test_a_shared_tier_that_cannot_be_written_costs_the_sharing_and_not_the_job(
    fleet: Fleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    def read_only(*_arguments: object, **_named: object) -> None:
        raise PermissionError(13, "Permission denied", "shared")

    monkeypatch.setattr(promotion, "stage", read_only)
    obtained = fleet.node("one").obtain(GRAPH, compiler(GRAPH))

    assert obtained.source is Source.UNSHARED
    assert "not promoted: [Errno 13] Permission denied" in obtained.problem
    assert fleet.row.state is State.FREE


def test_a_graph_that_stays_damaged_is_replaced_by_who_holds_the_lease(fleet: Fleet) -> None:
    fleet.node("first").obtain(GRAPH, compiler(GRAPH))
    (fleet.folder / "shared" / VERSION / GRAPH.module / "model.neff").write_bytes(b"damaged")
    # Promoted so long ago that nothing can be late any more.
    fleet.table.rows[GRAPH] = replace(fleet.row, changed=fleet.row.changed - 60)

    assert fleet.node("second").obtain(GRAPH, compiler(GRAPH)).source is Source.COMPILED
    assert fleet.node("third").obtain(GRAPH, never).source is Source.FETCHED


def test_an_answer_that_was_lost_does_not_lose_the_lease(fleet: Fleet) -> None:
    fleet.table.loses_answers = 3

    assert fleet.node("one").obtain(GRAPH, compiler(GRAPH)).source is Source.COMPILED
    assert [row.state for row in fleet.table.history] == [State.COMPILING, State.PROMOTING, State.DONE]


def test_a_server_that_must_not_compile_is_told_of_a_miss(fleet: Fleet) -> None:
    server = fleet.node("server", OnMiss.REFUSE)

    with pytest.raises(MissError, match=r"MODULE_1.* in no tier of the compile cache"):
        server.obtain(GRAPH, never)

    assert fleet.table.rows == {}
    assert (server.tally.failed, server.tally.hit_rate) == (1, 0.0)


def test_a_reader_compiles_for_itself_and_touches_neither_table_nor_tier(fleet: Fleet) -> None:
    obtained = fleet.node("reader", OnMiss.ALONE).obtain(GRAPH, compiler(GRAPH))

    assert (obtained.source, obtained.problem) == (Source.UNSHARED, "")
    assert fleet.table.rows == {}
    assert fleet.shared.listing() == {}


def test_a_full_disk_is_one_line_that_names_the_place(fleet: Fleet, monkeypatch: pytest.MonkeyPatch) -> None:
    node = fleet.node("one")

    def full(*_arguments: object) -> bool:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(node.local, "has", full)
    with pytest.raises(CacheError, match=r"one/neuronxcc-.*: No space left on device"):
        node.obtain(GRAPH, never)


def test_a_compiler_that_hangs_keeps_its_lease_for_a_limited_time(fleet: Fleet) -> None:
    held = leases.take(fleet.table, GRAPH, None, "hung", replace(QUICK, lease=0.03, longest=0.2))
    assert held is not None

    with held:
        deadline = time.monotonic() + LIMIT
        while time.time() < fleet.row.until + 0.1:
            assert time.monotonic() < deadline
            threading.Event().wait(0.02)

    assert fleet.row.revision > 2


def test_a_lease_that_is_finished_is_not_renewed(fleet: Fleet) -> None:
    held = leases.take(fleet.table, GRAPH, None, "one", QUICK)
    assert held is not None
    assert held.finish(5.0)

    assert not held.release()
    assert fleet.row.state is State.DONE
