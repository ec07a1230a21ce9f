"""A process that is killed at any step of fetching a graph from S3, for real: the node never has half of it."""

import os
import signal
import sys
from pathlib import Path
from typing import Any, Final

from fleet.compile_cache.figures import Source
from tests.support.compiled_graphs import VERSION, graph, is_whole
from tests.support.ready_graphs import Node

GRAPH: Final = graph(1)


def never(_folder: Path) -> None:
    raise AssertionError("compiled, and should not have been")


def test_a_process_that_is_killed_while_it_fetches_leaves_all_of_a_graph_or_nothing(tmp_path: Path) -> None:
    node = Node(tmp_path)
    shown = number = 0
    while _is_killed(node, number):
        number += 1
        folder = node.local.folder(GRAPH)
        if folder.exists():
            assert is_whole(GRAPH, folder)
            assert node.local.is_intact(GRAPH)
            shown += 1
        else:
            assert not node.local.has(GRAPH)
        # Whoever asks next has it, whatever was left.
        assert node.cache().obtain(GRAPH, never).source in {Source.RESTORED, Source.LOCAL}
        assert is_whole(GRAPH, folder)
        node.local.discard(GRAPH)

    assert {path.name for path in (node.local.root / VERSION).iterdir()} <= {GRAPH.module}
    # Files and folders that are made, written, renamed and removed; before the last rename nothing shows.
    assert number > 15
    assert 0 < shown < number


def _is_killed(node: Node, at: int) -> bool:
    """Whether a process that fetches the graph was killed before the ``at``-th thing that it did to its folders."""
    pid = os.fork()
    if pid == 0:
        left = [at]

        def step(*_: object) -> None:
            left[0] -= 1
            if left[0] < 0:
                os.kill(os.getpid(), signal.SIGKILL)

        def watch(event: str, arguments: tuple[Any, ...]) -> None:
            place = str(arguments[0]) if arguments else ""
            if event.startswith(("open", "os.")) and place.startswith(str(node.local.root)):
                step()

        try:
            node.bucket.on_block = step
            sys.addaudithook(watch)
            node.store.restore(GRAPH)
        finally:
            os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == -signal.SIGKILL
