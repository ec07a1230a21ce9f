"""Whole tiers: warming up, promoting, purging, evicting, looking."""

import os
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from fleet.compile_cache import lease
from fleet.compile_cache.eviction import EvictionPolicy
from fleet.compile_cache.lease import State, Terms
from tests.support.compiled_graphs import VERSION, graph, is_whole, write
from tests.support.lease_tables import MemoryTable
from workload.compile_cache.lookup import Lookup
from workload.compile_cache.tiers import files, promotion
from workload.compile_cache.tiers.local import LocalTier
from workload.compile_cache.tiers.shared import SharedTier
from workload.compile_cache.upkeep import cleaning, promoting, status, warming
from workload.errors import CacheError, LeaseTableError

OLD = "neuronxcc-2.9.0.0+0"
OLDER = "neuronxcc-2.8.0.0+0"


class Node:
    """A node of a fleet whose shared tier has ``promoted`` graphs, each of which took a minute to compile."""

    def __init__(self, folder: Path, promoted: int = 0) -> None:
        self.folder = folder
        self.table = MemoryTable()
        (folder / "shared").mkdir()
        (folder / "proc/sys/kernel/random").mkdir(parents=True)
        self.boot("first")
        self.shared = SharedTier(folder / "shared")
        for number in range(promoted):
            self.promote(number)
        self.settle()

    @property
    def look(self) -> Lookup:
        return Lookup(LocalTier(self.folder / "local", self.folder / "proc"), self.shared)

    def boot(self, name: str) -> None:
        (self.folder / "proc/sys/kernel/random/boot_id").write_text(name)

    def promote(self, number: int, version: str = VERSION) -> None:
        wanted, source = graph(number, version), self.folder / "compiled"
        write(wanted, source)
        staged = promotion.stage(self.shared, wanted, str(source), token=1, seconds=60.0, holder="other")
        promotion.publish(self.shared, staged)

    def settle(self) -> None:
        """As if the last promotion were an hour old."""
        for version in (path for path in self.shared.root.iterdir() if path.name.startswith("neuron")):
            os.utime(version, (time.time() - 3600, time.time() - 3600))

    def here(self, number: int) -> Path:
        return self.look.local.folder(graph(number))

    def there(self, number: int) -> Path:
        return self.shared.root / VERSION / graph(number).module

    def warm(self) -> tuple[int, int, int]:
        report = warming.warm(self.look)
        return report.fetched, report.unchanged, report.failed


def test_a_warm_up_brings_everything_and_says_what_it_saved(tmp_path: Path) -> None:
    node = Node(tmp_path, promoted=40)

    report = warming.warm(node.look)

    assert (report.fetched, report.unchanged, report.failed, report.problems) == (40, 0, 0, ())
    # 40 times a minute, and 40 times 64,640 bytes.
    assert (report.seconds_saved, report.bytes) == (2400.0, 40 * 64_640)
    assert all(is_whole(graph(number), node.here(number)) for number in range(40))


def test_a_second_warm_up_looks_into_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    node = Node(tmp_path, promoted=3)
    node.warm()
    looked: list[str] = []
    stamps = files.stamps

    def watched(folder: str) -> dict[str, tuple[int, int]]:
        looked.append(folder)
        return stamps(folder)

    monkeypatch.setattr(files, "stamps", watched)

    assert node.warm() == (0, 3, 0)
    assert looked == [str(node.shared.root)]


def test_a_new_graph_is_the_only_one_fetched(tmp_path: Path) -> None:
    node = Node(tmp_path, promoted=3)
    node.warm()
    node.promote(3)

    assert node.warm() == (1, 3, 0)


def test_a_graph_that_was_deleted_here_comes_back(tmp_path: Path) -> None:
    node = Node(tmp_path, promoted=3)
    node.warm()
    node.look.local.discard(graph(1))

    assert node.warm() == (1, 2, 0)
    assert is_whole(graph(1), node.here(1))


def test_after_a_reboot_what_was_emptied_comes_back_and_the_rest_stays(tmp_path: Path) -> None:
    node = Node(tmp_path, promoted=3)
    node.warm()
    (node.here(1) / "model.neff").write_bytes(b"")
    assert node.warm() == (0, 3, 0)

    node.boot("second")

    assert node.warm() == (1, 2, 0)
    assert is_whole(graph(1), node.here(1))
    assert node.warm() == (0, 3, 0)


def test_a_record_that_cannot_be_read_costs_a_look_and_nothing_else(tmp_path: Path) -> None:
    node = Node(tmp_path, promoted=2)
    node.warm()
    (tmp_path / "local/.neuron-fleet/warm.json").write_text('{"boot": "first", "versions": {"x": 5}}')

    assert node.warm() == (0, 2, 0)


def test_a_damaged_graph_is_reported_and_does_not_keep_the_others(tmp_path: Path) -> None:
    node = Node(tmp_path, promoted=3)
    (node.there(1) / "model.neff").write_bytes(b"damaged")

    report = warming.warm(node.look)

    assert (report.fetched, report.failed) == (2, 1)
    assert "MODULE_1" in report.problems[0]
    assert not node.here(1).exists()
    # It is looked at again, and not taken for something that is here.
    assert node.warm() == (0, 2, 1)


def test_a_warm_up_may_be_of_one_compiler_only(tmp_path: Path) -> None:
    node = Node(tmp_path, promoted=2)
    node.promote(5, OLD)

    assert warming.warm(node.look, [OLD]).fetched == 1
    assert not node.here(0).exists()
    # What is known of the other is not forgotten.
    assert warming.warm(node.look, [VERSION]).fetched == 2
    assert warming.warm(node.look).unchanged == 3


def test_a_graph_that_was_compiled_here_is_left_as_it_is(tmp_path: Path) -> None:
    node = Node(tmp_path, promoted=1)
    write(graph(0), node.here(0))
    before = node.here(0).stat().st_ino

    assert node.warm() == (0, 1, 0)
    assert node.here(0).stat().st_ino == before


def test_many_threads_fetch_what_a_slow_server_has(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    node = Node(tmp_path, promoted=60)
    monkeypatch.setattr(warming, "_WAITING", -1e9)

    assert node.warm() == (60, 0, 0)
    assert all(is_whole(graph(number), node.here(number)) for number in range(60))


def test_what_a_compiler_left_here_is_promoted_with_the_time_it_took(tmp_path: Path) -> None:
    node = Node(tmp_path, promoted=1)
    for number in (0, 1):
        write(graph(number), node.here(number))
    os.utime(node.here(1) / "model.hlo_module.pb", (time.time() - 90, time.time() - 90))
    node.here(2).mkdir(parents=True)
    (node.here(2) / "model.log").write_text("failed")

    report = promoting.promote_all(node.look, node.table)

    assert (report.promoted, report.present, report.unfinished) == (1, 1, {"failed": 1})
    found = node.shared.find(graph(1))
    assert found is not None
    assert found.seconds == pytest.approx(90, abs=10)
    assert node.table.rows[graph(1)].state is State.DONE


def test_a_graph_that_somebody_compiles_now_is_not_promoted_past_them(tmp_path: Path) -> None:
    node = Node(tmp_path)
    write(graph(0), node.here(0))
    node.table.rows[graph(0)] = lease.take(None, "other", time.time(), Terms())

    report = promoting.promote_all(node.look, node.table)

    assert (report.promoted, report.problems) == (0, (f"{graph(0)}: somebody else compiles or promotes it now",))
    assert node.shared.find(graph(0)) is None


def test_purging_removes_failures_damage_and_the_rows_that_would_refuse_them(tmp_path: Path) -> None:
    node = Node(tmp_path, promoted=3)
    node.here(7).mkdir(parents=True)
    (node.here(7) / "model.log").write_text("failed")
    (node.there(1) / "model.neff").unlink()
    failed = lease.fail(lease.take(None, "x", time.time(), Terms()), "no", time.time(), Terms())
    node.table.rows[graph(1)] = replace(failed, failures=2)

    report = cleaning.purge(node.look, node.table)

    assert report.local == (str(graph(7)),)
    assert report.shared == (str(graph(1)),)
    assert sorted(node.shared.listing()) == [graph(0), graph(2)]
    assert node.table.rows[graph(1)].state is State.FREE


def test_a_named_graph_is_removed_from_both_tiers(tmp_path: Path) -> None:
    node = Node(tmp_path, promoted=2)
    node.warm()

    report = cleaning.purge(node.look, node.table, [graph(1)])

    assert (report.local, report.shared) == ((str(graph(1)),), (str(graph(1)),))
    assert list(node.shared.listing()) == node.look.local.graphs() == [graph(0)]


def test_a_graph_that_somebody_promotes_now_is_not_removed_under_them(tmp_path: Path) -> None:
    node = Node(tmp_path, promoted=1)
    node.table.rows[graph(0)] = lease.take(None, "other", time.time(), Terms())

    report = cleaning.purge(node.look, node.table, [graph(0)])

    assert report.problems == (f"{graph(0)}: somebody compiles or promotes it now",)
    assert list(node.shared.listing()) == [graph(0)]


def test_without_a_table_the_shared_tier_is_left_alone(tmp_path: Path) -> None:
    node = Node(tmp_path, promoted=1)
    node.warm()

    assert cleaning.purge(node.look, None, [graph(0)]).shared == ()
    assert list(node.shared.listing()) == [graph(0)]


def test_a_table_that_does_not_answer_stops_a_removal(tmp_path: Path) -> None:
    node = Node(tmp_path, promoted=1)
    node.table.is_down = True

    assert "did not answer" in cleaning.remove(node.shared, node.table, graph(0))
    assert list(node.shared.listing()) == [graph(0)]
    with pytest.raises(LeaseTableError):
        cleaning.free(node.table, graph(0))


def test_eviction_removes_graphs_of_old_compilers_and_says_how_much(tmp_path: Path) -> None:
    node = Node(tmp_path, promoted=2)
    node.promote(3, OLD)
    node.promote(4, OLDER)
    policy = EvictionPolicy(versions=2, age=timedelta(days=1), grace=timedelta(0))

    planned = cleaning.evict(node.shared, node.table, policy, really=False)
    assert len(node.shared.listing()) == 4
    report = cleaning.evict(node.shared, node.table, policy)

    assert planned == report
    assert (report.shared, report.bytes) == ((str(graph(4, OLDER)),), 64_640)
    assert graph(4, OLDER) not in node.shared.listing()


def test_status_counts_both_tiers_and_what_they_lack_of_each_other(tmp_path: Path) -> None:
    node = Node(tmp_path, promoted=3)
    node.look.fetch(graph(0))
    write(graph(9), node.here(9))
    (node.there(2) / "neuron-fleet.json").unlink()

    seen = status.status(node.look)

    assert seen.local == {"succeeded": 2}
    assert (seen.shared, seen.bytes, seen.seconds) == ({VERSION: 3}, 2 * 64_640, 120.0)
    assert (seen.missing_here, seen.not_promoted, seen.leftovers) == (2, 1, 0)
    assert len(seen.damaged) == 1
    assert "MODULE_2" in seen.damaged[0]


@pytest.mark.parametrize("work", ["warm", "status", "purge", "promote", "evict"])
def test_a_shared_tier_that_fails_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, work: str) -> None:
    node = Node(tmp_path, promoted=1)
    look = node.look

    def fails(*_arguments: object) -> None:
        raise OSError(5, "Input/output error", "shared")

    monkeypatch.setattr("workload.compile_cache.tiers.files.stamps", fails)
    does: dict[str, Callable[[], object]] = {
        "warm": lambda: warming.warm(look),
        "status": lambda: status.status(look),
        "purge": lambda: cleaning.purge(look, node.table),
        "promote": lambda: promoting.promote_all(look, node.table),
        "evict": lambda: cleaning.evict(node.shared, node.table, EvictionPolicy()),
    }
    with pytest.raises(CacheError, match="Input/output error"):
        does[work]()
