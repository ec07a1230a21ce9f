"""``python -m bench.compile_cache_fleet``: 64 processes that all want 200 graphs, over a file system that is like NFS.

Names and contents show late, handles are stale, answers to renames are lost, and processes are killed while they
compile and promote. The bars: each graph is compiled once by the whole fleet, nothing corrupt is read, and nobody waits
past a lease. A compilation that dies with its process is done again, and is counted by itself.
"""

import argparse
import tempfile
from pathlib import Path
from typing import Final

from fleet.compile_cache.lease import Terms
from tests.support import cache_fleet
from tests.support.cache_fleet import Outcome, Plan

PROCESSES: Final = 64
NODES: Final = 16
GRAPHS: Final = 200
KILLS: Final = 40
# A lease in proportion to a machine that 64 processes share; names show up to a second late.
TERMS: Final = Terms(lease=6.0, skew=0.2, visible=3.0)
LATE: Final = 1.0
LIMIT: Final = 900.0


def run(processes: int = PROCESSES, graphs: int = GRAPHS, kills: int = KILLS, folder: str | None = None) -> bool:
    """Print the figures; whether the bars hold."""
    plan = Plan(processes, NODES, graphs, TERMS, LATE, kills, LIMIT)
    with tempfile.TemporaryDirectory(dir=folder) as place:
        return show(plan, cache_fleet.run(Path(place), plan))


def show(plan: Plan, outcome: Outcome) -> bool:
    """Print the figures; whether the bars hold."""
    lost = outcome.compiled - plan.graphs - len(outcome.extra) - outcome.overtaken
    print(f"{plan.processes} processes on {plan.nodes} nodes, {plan.graphs} graphs: {outcome.seconds:.1f} s")
    print(f"  obtained {outcome.obtained.total()}: {dict(outcome.obtained)}, hit rate {100 * outcome.hit_rate:.2f} %")
    print(f"  injected: {dict(outcome.injected)}")
    print(f"  killed {outcome.killed} processes, {outcome.killed_while_promoting} of them while promoting;", end=" ")
    print(f"{outcome.takeovers} takeovers of their leases")
    print(f"  compilations: {outcome.compiled}, of which {lost} died with their process before they were shared,")
    print(f"  {outcome.overtaken} were overtaken on this busy machine, and {len(outcome.extra)} were extra (bar 0)")
    print(f"  corrupt graphs read: {outcome.corrupt} (bar 0), graphs missing in the end: {outcome.missing} (bar 0)")
    print(f"  processes that never ended or failed: {outcome.unfinished + outcome.failed} (bar 0);", end=" ")
    print(f"latest notice of a dead holder {outcome.longest_past_lease:.2f} s after its lease of {plan.terms.lease} s")
    for text in (*outcome.extra, *outcome.problems)[:20]:
        print(f"  {text}")
    is_stuck = outcome.unfinished or outcome.failed or outcome.longest_past_lease > plan.terms.lease
    return not (outcome.extra or outcome.corrupt or outcome.missing or is_stuck)


def main() -> None:
    """Run it; exit code 1 when a bar does not hold."""
    parser = argparse.ArgumentParser(prog="python -m bench.compile_cache_fleet", description=__doc__.partition("\n")[0])
    parser.add_argument("--processes", type=int, default=PROCESSES)
    parser.add_argument("--graphs", type=int, default=GRAPHS)
    parser.add_argument("--kills", type=int, default=KILLS)
    parser.add_argument("--folder", default=None)
    arguments = parser.parse_args()
    raise SystemExit(not run(arguments.processes, arguments.graphs, arguments.kills, arguments.folder))


if __name__ == "__main__":
    main()
