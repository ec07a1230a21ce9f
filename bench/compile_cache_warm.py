"""``python -m bench.compile_cache_warm``: a warm-up of 5,000 graphs of 8 GB, beside ``cp -r`` of the same tree.

The graphs are sparse: a block of content and a hole, as ``cp`` copies them too. Both take turns, each into a new
folder and each first every other time, because how long a file system takes for 25,000 files depends on what it did
before. The bars: the first warm-up
takes at most 1.5 times as long as ``cp -r``, the second, with nothing changed, at most 5 % of the first.
"""

import argparse
import shutil
import statistics
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Final

from fleet.compile_cache import manifest as manifests
from fleet.compile_cache.manifest import FileRecord, Manifest
from tests.support import compiled_graphs
from workload.compile_cache.lookup import Lookup
from workload.compile_cache.tiers import content
from workload.compile_cache.tiers.local import LocalTier
from workload.compile_cache.tiers.shared import SharedTier
from workload.compile_cache.upkeep.warming import warm

GRAPHS: Final = 5_000
BYTES: Final = 8_000_000_000
TURNS: Final = 6
FIRST_BAR: Final = 1.5
SECOND_BAR: Final = 0.05


def run(graphs: int = GRAPHS, turns: int = TURNS, folder: str | None = None) -> None:
    """Print the seconds of all three and their ratios."""
    with tempfile.TemporaryDirectory(dir=folder) as name:
        place = Path(name)
        fill(place, graphs, BYTES // GRAPHS)
        copies, firsts, seconds = zip(*_turns(place, graphs, turns), strict=True)
    ratio = statistics.median(first / copy for first, copy in zip(firsts, copies, strict=True))
    again = statistics.median(second / first for second, first in zip(seconds, firsts, strict=True))
    copy, first, second = (statistics.median(each) for each in (copies, firsts, seconds))
    print(f"warm-up of {graphs} graphs of {graphs * (BYTES // GRAPHS) / 1e9:.1f} GB: cp -r {copy:.3f} s,", end=" ")
    print(f"first {first:.3f} s, second {second:.4f} s; first / cp = {ratio:.2f} (bar {FIRST_BAR}),", end=" ")
    print(f"second / first = {100 * again:.1f} % (bar {100 * SECOND_BAR:.0f} %)")


def fill(place: Path, graphs: int, size: int) -> None:
    """A shared tier with that many graphs, each with a NEFF of ``size`` bytes.

    Written without waiting for the disk, which promoting does five times for each graph: that is not measured here.
    """
    for number in range(graphs):
        graph = compiled_graphs.graph(number)
        folder = place / "shared" / graph.version / graph.module
        compiled_graphs.write(graph, folder)
        with (folder / "model.neff").open("r+b") as neff:
            neff.truncate(4096)
            neff.truncate(size)
        records = tuple(FileRecord(name, *content.measure(f"{folder}/{name}")) for name in compiled_graphs.FILES)
        manifest = Manifest(graph, records, token=1, seconds=60.0, promoted=time.time(), holder="bench")
        (folder / manifests.NAME).write_bytes(manifest.encode())


def _turns(place: Path, graphs: int, turns: int) -> list[tuple[float, float, float]]:
    return [_turn(place, graphs, is_copy_first=bool(turn % 2)) for turn in range(turns)]


def _turn(place: Path, graphs: int, *, is_copy_first: bool) -> tuple[float, float, float]:
    copied = _copy(place) if is_copy_first else 0.0
    first, second = _warm(place, graphs)
    return copied or _copy(place), first, second


def _copy(place: Path) -> float:
    (place / "copy").mkdir()
    source = str(place / "shared" / compiled_graphs.VERSION)
    started = time.perf_counter()
    subprocess.run(["/bin/cp", "-r", source, str(place / "copy")], check=True)
    copied = time.perf_counter() - started
    shutil.rmtree(place / "copy")
    return copied


def _warm(place: Path, graphs: int) -> tuple[float, float]:
    look = Lookup(LocalTier(place / "local"), SharedTier(place / "shared"))
    first, second = warm(look), warm(look)
    if (first.fetched, second.fetched, second.unchanged) != (graphs, 0, graphs):
        raise AssertionError(f"{first} then {second}")
    shutil.rmtree(place / "local")
    return first.seconds, second.seconds


def main() -> None:
    """Run it; ``--folder`` chooses the file system."""
    parser = argparse.ArgumentParser(prog="python -m bench.compile_cache_warm", description=__doc__.partition("\n")[0])
    parser.add_argument("--graphs", type=int, default=GRAPHS)
    parser.add_argument("--turns", type=int, default=TURNS)
    parser.add_argument("--folder", default=None)
    arguments = parser.parse_args()
    run(arguments.graphs, arguments.turns, arguments.folder)


if __name__ == "__main__":
    main()
