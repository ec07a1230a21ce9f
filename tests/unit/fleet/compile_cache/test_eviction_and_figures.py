"""Which graphs go, and what the cache was good for."""

from datetime import timedelta

import pytest

from fleet.compile_cache.eviction import EvictionPolicy, Kept, choose
from fleet.compile_cache.figures import Obtained, Source, Tally
from fleet.compile_cache.graph import Graph

DAY = 86_400.0
NOW = 1_000 * DAY
POLICY = EvictionPolicy(versions=2, age=timedelta(days=90), grace=timedelta(days=2))


def kept(version: str, days_ago: float, number: int = 1) -> Kept:
    return Kept(Graph(f"neuronxcc-{version}", f"MODULE_{number}+f"), NOW - days_ago * DAY, 10)


def test_graphs_of_all_but_the_newest_two_compilers_go() -> None:
    entries = [kept("2.9.0", 5), kept("2.10.0", 5), kept("2.21.0", 5)]

    assert choose(entries, POLICY, NOW) == (entries[0],)


def test_a_graph_of_any_compiler_goes_when_it_is_old() -> None:
    entries = [kept("2.21.0", 91, 1), kept("2.21.0", 89, 2), kept("2.21.0", 120, 3)]

    assert choose(entries, POLICY, NOW) == (entries[2], entries[0])


def test_what_was_promoted_lately_stays_whatever_compiled_it() -> None:
    entries = [kept("2.9.0", 1), kept("2.10.0", 5), kept("2.21.0", 5)]

    assert choose(entries, POLICY, NOW) == ()


@pytest.mark.parametrize(
    ("fields", "message"),
    [({"versions": 0}, "at least 1"), ({"age": timedelta(days=1)}, "within the grace")],
)
def test_a_policy_that_would_empty_the_cache_is_refused(fields: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        EvictionPolicy(**fields)  # type: ignore[arg-type]  # from a table


def test_the_hit_rate_and_the_minutes_saved_are_those_of_what_was_asked_for() -> None:
    tally = Tally()
    tally.add(Obtained(Source.LOCAL, 0.0))
    # Ten minutes of compilation, had after two.
    tally.add(Obtained(Source.FETCHED, 120.0, 600.0))
    # Waited for its compilation from the beginning: nothing saved.
    tally.add(Obtained(Source.FETCHED, 300.0, 240.0))
    # From S3, after half a minute.
    tally.add(Obtained(Source.RESTORED, 30.0, 90.0))
    tally.add(Obtained(Source.COMPILED, 61.0, 60.0))
    tally.add(Obtained(Source.UNSHARED, 31.0, 30.0, "no table"))

    # Four of six were found; (600 - 120) / 60 is 8 minutes, and (90 - 30) / 60 one more.
    assert tally.hit_rate == 4 / 6
    assert tally.minutes_saved == 9.0
    assert (tally.local, tally.fetched, tally.restored) == (1, 2, 1)
    assert (tally.compiled, tally.unshared, tally.seconds_compiling) == (2, 1, 90.0)
    assert tally.seconds_waited == 120.0 + 300.0 + 30.0 + 61.0 + 31.0


def test_a_process_that_asked_for_nothing_has_no_hit_rate() -> None:
    assert Tally().hit_rate is None
