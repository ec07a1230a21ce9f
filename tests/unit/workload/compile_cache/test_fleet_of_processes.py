"""Real processes, a shared tier with the semantics of NFS, and kills: ``bench.compile_cache_fleet`` in small."""

from pathlib import Path

from fleet.compile_cache.lease import Terms
from tests.support.cache_fleet import Plan, run


def test_each_graph_is_compiled_once_by_the_whole_fleet_whatever_the_file_system_shows(tmp_path: Path) -> None:
    terms = Terms(lease=1.0, skew=0.1, visible=0.5)
    plan = Plan(processes=8, nodes=4, graphs=12, terms=terms, late=0.2, kills=3, limit=120)

    outcome = run(tmp_path, plan)

    assert (outcome.unfinished, outcome.failed) == (0, 0)
    assert outcome.corrupt == 0
    assert outcome.missing == 0
    assert outcome.extra == []
    # Every process that lived to the end has every graph: 8 times 12.
    assert outcome.obtained.total() == 96
