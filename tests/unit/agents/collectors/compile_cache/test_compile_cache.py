"""What the compile cache's minute says about compilations, hits and locks."""

import os
from pathlib import Path

import pytest

from agents.collectors.collector import Contribution
from fleet import metrics
from tests.support.compile_cache import CacheNode, T, figures


@pytest.fixture
def node(tmp_path: Path) -> CacheNode:
    return CacheNode(tmp_path)


def test_without_a_cache_there_is_nothing_to_say(node: CacheNode) -> None:
    assert node.minute() == Contribution()


def test_the_first_look_takes_stock(node: CacheNode) -> None:
    node.cache.compiled(1, T - 40, T - 20)
    node.cache.begin(2, T - 500)
    node.cache.fail(2, T - 400)
    node.cache.put(3, T - 300, "model.hlo_module.pb", size=5)

    seen = node.minute()

    # One was compiled in this very minute: a zero would be wrong.
    assert seen.metrics == {}
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


def test_a_graph_that_was_compiled_within_the_minute_counts_with_its_seconds(node: CacheNode) -> None:
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


def test_a_long_compilation_is_a_miss_when_it_begins_and_an_event_when_it_ends(node: CacheNode) -> None:
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


def test_what_the_compiler_was_given_by_the_fleet_is_a_hit_and_its_wait_is_told(node: CacheNode) -> None:
    node.cache.root.mkdir()
    node.minute()
    node.cache.compiled(1, T + 10, T + 14.5)
    node.cache.was_fetched(1)
    seen = node.minute()

    assert figures(seen) == (0, 0, 0, 0)
    assert seen.metrics[metrics.COMPILE_CACHE_HITS] == 1
    assert seen.event["compile_cache"]["seconds_waited"] == 4.5
    assert not seen.compiling


def test_a_graph_that_was_waited_for_is_the_miss_that_was_seen_and_no_compilation(node: CacheNode) -> None:
    node.cache.root.mkdir()
    node.minute()
    node.cache.begin(1, T + 30)
    waits = node.minute()
    node.cache.finish(1, T + 100)
    node.cache.was_fetched(1)
    has = node.minute()

    assert [figures(seen) for seen in (waits, has)] == [(0, 0, 1, 0), (0, 0, 0, 0)]
    assert metrics.COMPILE_CACHE_HITS not in has.metrics
    assert has.event["compile_cache"]["seconds_waited"] == 70
    # It computes nothing meanwhile, and that is no fault of it.
    assert waits.compiling


def test_a_graph_that_was_collected_long_before_is_timed_from_its_lock(node: CacheNode) -> None:
    node.cache.put(1, T - 7200, "model.hlo_module.pb")
    node.minute()
    node.cache.put(1, T + 50, "model.hlo_module.pb.lock")
    node.minute()
    node.cache.finish(1, T + 110)

    assert figures(node.minute()) == (1, 60, 0, 0)


def test_where_the_lock_was_never_seen_the_time_begins_with_the_last_look(node: CacheNode) -> None:
    node.cache.put(1, T - 7200, "model.hlo_module.pb")
    node.minute()
    node.cache.finish(1, T + 40)

    # It was idle at T, so it cannot have taken more than 40 s.
    assert figures(node.minute()) == (1, 40, 1, 0)


def test_a_failure_counts_once_and_its_retry_again(node: CacheNode) -> None:
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


def test_a_graph_that_was_copied_here_is_a_hit_and_no_compilation(node: CacheNode) -> None:
    node.cache.compiled(1, T - 900, T - 600)
    node.minute()
    node.cache.compiled(2, T + 30, T + 30.4)
    node.cache.compiled(3, T - 86400, T - 86000)

    seen = node.minute()

    assert figures(seen) == (0, 0, 0, 0)
    assert seen.metrics[metrics.COMPILE_CACHE_HITS] == 2
    assert seen.event["compile_cache"]["fetched"] == 2


def test_hits_come_from_the_logs_that_the_agent_may_read(node: CacheNode) -> None:
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

    hits = [seen.metrics.get(metrics.COMPILE_CACHE_HITS) for seen in (first, second, third, rotated)]
    # Before the agent: not counted. Then two whole lines; then the rest of the third and a new file; then a new start.
    assert hits == [None, 2, 2, 1]
    assert second.event["compile_cache"]["failures_found"] == 1


def test_a_lock_without_a_compiler_is_stale_after_ten_minutes(node: CacheNode) -> None:
    node.cache.begin(1, T - 540)
    node.cache.begin(2, T - 2460)
    seen = node.minute(), node.minute(), node.minute()

    # At T the first lock is 9 minutes old and the second 41; at T + 60 the first is 10, which is not more than 10.
    assert [each.event["compile_cache"].get("stale_locks") for each in seen] == [1, 1, 2]
    assert seen[0].problems == (
        "compile cache: 1 locks are held by nobody, the oldest for 41 min: no compiler runs on this host",
    )
    assert [each.compiling for each in seen] == [True, True, False]


def test_with_a_compiler_on_the_host_an_old_lock_is_a_long_compilation(node: CacheNode) -> None:
    node.compiler(runs=True)
    node.cache.begin(1, T - 7200)

    seen = node.minute()

    assert (seen.problems, seen.compiling) == ((), True)


def test_on_a_shared_file_system_only_this_hosts_compilations_count(node: CacheNode) -> None:
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
