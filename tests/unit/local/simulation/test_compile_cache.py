"""The simulated compile cache, as the agent sees it: own graphs are compiled, the other nodes' are found."""

from pathlib import Path

import pytest

from agents.collectors.collector import Contribution, Request
from agents.collectors.compile_cache.collector import CompileCacheCollector
from fleet import metrics
from local.simulation.compile_cache import CompileCache
from local.simulation.script import FleetPart, PhaseKind, Script
from tests.unit.local.simulation.scripts import START, phase, script

COMPILES = script(phase(PhaseKind.STARTUP), phase(PhaseKind.COMPILING, 2), phase(PhaseKind.RUNNING, 22))


def minutes(folder: Path, node: Script, part: FleetPart, count: int) -> list[Contribution]:
    """What the agent sees in each of the first minutes."""
    cache = CompileCache(folder / "cache", node, part)
    collector = CompileCacheCollector(str(folder / "cache"), folder / "proc")
    seen = []
    for minute in range(count + 1):
        for now in (START + 60 * minute - 20, START + 60 * minute):
            cache.show(now)
        seen.append(collector.collect(Request(START + 60 * minute)))
    return seen[1:]


def total(seen: list[Contribution], spec: metrics.MetricSpec) -> float:
    return sum(each.metrics.get(spec, 0) for each in seen)


def test_a_node_compiles_its_share_and_finds_what_the_others_compiled(tmp_path: Path) -> None:
    seen = minutes(tmp_path, COMPILES, FleetPart(index=1, nodes=4), 26)

    assert total(seen, metrics.COMPILATION_EVENTS) == 4
    assert total(seen, metrics.COMPILE_CACHE_HITS) == 12
    assert total(seen, metrics.COMPILE_CACHE_MISSES) == 4
    assert total(seen, metrics.COMPILE_FAILURES) == 0
    # Four in twenty minutes, each a second late for the compiler's start.
    assert total(seen, metrics.COMPILATION_SECONDS) == pytest.approx(4 * 299)


def test_it_compiles_in_the_minutes_of_the_phase_and_in_no_other(tmp_path: Path) -> None:
    seen = minutes(tmp_path, COMPILES, FleetPart(index=0, nodes=2), 26)

    assert [minute for minute, each in enumerate(seen) if each.compiling] == list(range(2, 22))
    assert [minute for minute, each in enumerate(seen) if each.metrics[metrics.COMPILATION_EVENTS]] == [6, 11, 16, 21]
    assert all(each.problems == () for each in seen)


def test_nodes_of_a_fleet_compile_different_graphs_and_end_with_the_same(tmp_path: Path) -> None:
    found = []
    for index in range(2):
        CompileCache(tmp_path / str(index), COMPILES, FleetPart(index=index, nodes=2)).show(START + 3600)
        found.append({path.parent.name for path in (tmp_path / str(index)).rglob("model.done")})

    assert found[0] == found[1]
    assert len(found[0]) == 8
    assert not list(tmp_path.rglob("*.lock"))


def test_where_nothing_compiles_nothing_is_counted_and_nothing_is_found(tmp_path: Path) -> None:
    seen = minutes(tmp_path, script(), FleetPart(nodes=2, requests_per_minute=900), 3)

    assert {each.metrics[metrics.COMPILE_CACHE_MISSES] for each in seen} == {0}
    assert not any(metrics.COMPILE_CACHE_HITS in each.metrics for each in seen)


def test_a_phase_without_an_end_compiles_too(tmp_path: Path) -> None:
    seen = minutes(tmp_path, script(phase(PhaseKind.COMPILING)), FleetPart(), 12)

    assert [minute for minute, each in enumerate(seen) if each.metrics[metrics.COMPILATION_EVENTS]] == [9]
