"""Scenarios side by side: none knows of another, so every core of the machine replays its own."""

import logging
import multiprocessing
import os
import signal
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Final

from local.replay.run import SETS, Replay, replay
from local.replay.scenario import Scenario

# Fewer are over before workers would have begun.
_FEW: Final = 4


@contextmanager
def replaying(read: Sequence[tuple[Scenario, Path]], sets: Sequence[str]) -> Iterator[Iterator[Replay]]:
    """What comes of each scenario, in their order; files that they name lie in the folder beside them."""
    workers = min(os.cpu_count() or 1, len(read))
    one = partial(_one, tuple(sets))
    if len(read) < _FEW or workers < 2 or "fork" not in multiprocessing.get_all_start_methods():
        yield map(one, read)
        return
    # Forked ones have all modules already. They begin here, before this process has a second thread of its own.
    pool = ProcessPoolExecutor(workers, multiprocessing.get_context("fork"), _end_at_once)
    try:
        yield pool.map(one, read)
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _one(sets: Sequence[str], read: tuple[Scenario, Path]) -> Replay:
    # Scenarios print garbage on purpose, and the agent says so in the log of a node that is not there.
    logging.getLogger("agents").setLevel(logging.ERROR)
    scenario, folder = read
    return replay(scenario, {name: SETS[name] for name in sets}, folder)


def _end_at_once() -> None:
    # Ctrl-C reaches the workers too, whose tracebacks tell nobody anything.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
