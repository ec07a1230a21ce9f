"""A writer that is killed at any system call of a promotion, for real: no reader ever sees half of a graph."""

import os
import signal
from collections.abc import Callable
from pathlib import Path

from tests.support.compiled_graphs import VERSION, graph, is_whole, write
from tests.support.nfs import NfsClient, die
from workload.compile_cache.tiers import promotion
from workload.compile_cache.tiers.shared import SharedTier

GRAPH = graph(1)


def promote(tier: SharedTier, source: Path, token: int = 1) -> bool:
    return promotion.publish(
        tier, promotion.stage(tier, GRAPH, str(source), token=token, seconds=60.0, holder="writer")
    )


def child(work: Callable[[], object]) -> int:
    """The signal that ended a process which did ``work``; 0 when none did."""
    pid = os.fork()
    if pid == 0:
        try:
            work()
        finally:
            os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def calls(folder: Path) -> list[str]:
    """What a promotion asks of the operating system, before and after each call."""
    seen: list[str] = []
    (folder / "shared").mkdir(parents=True)
    write(GRAPH, folder / "local")
    with NfsClient(folder / "shared", each_call=seen.append).installed():
        assert promote(SharedTier(folder / "shared"), folder / "local")
    return seen


def test_a_promotion_that_is_killed_at_any_system_call_leaves_all_of_a_graph_or_nothing(tmp_path: Path) -> None:
    boundaries = calls(tmp_path / "counted")
    shown = 0

    for number in range(len(boundaries)):
        folder = tmp_path / str(number)
        (folder / "shared").mkdir(parents=True)
        write(GRAPH, folder / "local")
        left = [number]

        def kill(_call: str, left: list[int] = left) -> None:
            left[0] -= 1
            if left[0] < 0:
                die()

        def work(folder: Path = folder, kill: Callable[[str], None] = kill) -> None:
            with NfsClient(folder / "shared", each_call=kill).installed():
                promote(SharedTier(folder / "shared"), folder / "local")

        assert child(work) == -signal.SIGKILL

        reader = SharedTier(folder / "shared")
        found = reader.fetch(GRAPH, str(folder / "fetched"))
        if found is not None:
            assert is_whole(GRAPH, folder / "fetched")
            shown += 1
        else:
            assert not (folder / "shared" / VERSION / GRAPH.module).exists()
        # The next holder of the lease promotes it over whatever was left.
        assert promote(reader, folder / "local", token=2) is (found is None)
        assert reader.fetch(GRAPH, str(folder / "again")) is not None
        assert is_whole(GRAPH, folder / "again")

    # From the last rename on it shows, and before that it does not.
    renamed = len(boundaries) - 1 - boundaries[::-1].index("after rename")
    assert shown == len(boundaries) - renamed
    assert {"before fsync", "within pwrite", "before rename"} <= set(boundaries[:renamed])
