"""Kills a save with SIGKILL before each of its system calls that change a disk, and reads what is left every time.

A program of its own, because it forks: ``python -m tests.support.killed_saves DIRECTORY``. Prints one JSON object; any
half checkpoint ends it with a traceback. Python tells of every call that it makes into C, and of what: those of the
``posix`` module and of file objects are the system calls.
"""

import json
import os
import shutil
import signal
import sys
from pathlib import Path
from types import FrameType
from typing import Any

from fleet.checkpoints.layout import Attempt
from tests.support.checkpoints import read_back, save, save_rank, weights
from workload.checkpoint import staging
from workload.checkpoint.stores import file_store

CHANGES = frozenset({"open", "mkdir", "link", "unlink", "rename", "rmdir", "fsync", "write", "flush"})
# Larger than the buffer of a file object: a block is one write.
BLOCK = 16 * 1024


class Tripwire:
    """Ends the process without warning before call number ``after``."""

    def __init__(self, after: int) -> None:
        self._left = after

    def __call__(self, _frame: FrameType, event: str, called: Any) -> None:
        if event == "c_call" and called.__name__ in CHANGES and _is_system(called):
            self._left -= 1
            if self._left < 0:
                os.kill(os.getpid(), signal.SIGKILL)


def _is_system(called: Any) -> bool:
    owner = called.__self__
    return getattr(owner, "__name__", None) in ("posix", "io", "_io") or type(owner).__module__ == "_io"


def save_both(root: Path, scratch: Path) -> None:
    """Step 20 by both ranks, one after the other; the second completes it."""
    store = file_store.FileStore(root)
    attempt = Attempt(20, "killed")
    for rank in range(2):
        save_rank(store, scratch, attempt, rank, 2, weights(20, rank))


def dies(root: Path, scratch: Path, after: int) -> bool:
    """Whether the save was killed, rather than done before that."""
    child = os.fork()
    if child == 0:
        sys.setprofile(Tripwire(after))
        save_both(root, scratch)
        sys.setprofile(None)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        assert os.WTERMSIG(status) == signal.SIGKILL
        return True
    assert os.WEXITSTATUS(status) == 0, "the save failed by itself"
    return False


def main(directory: Path) -> dict[str, int]:
    """Kill at call 0, 1, 2 … until the save outlives it."""
    for module in (staging, file_store):
        vars(module)["_BLOCK"] = BLOCK
    pristine = directory / "pristine"
    save(file_store.FileStore(pristine), directory / "scratch", 10)
    kills, complete = 0, 0
    while True:
        root, scratch = directory / "root", directory / "scratch"
        shutil.copytree(pristine, root)
        died = dies(root, scratch, kills)
        store = file_store.FileStore(root)
        step = read_back(store, directory / "read")
        assert step == 20 if complete or not died else step in (10, 20), f"step {step} after call {kills}"
        complete += step == 20
        # Whatever was left behind, the same step is saved by the next run and found.
        save(store, scratch, 20, run="next")
        for gone in (root, scratch, directory / "read"):
            shutil.rmtree(gone)
        if not died:
            return {"kills": kills, "complete": complete - 1}
        kills += 1


if __name__ == "__main__":
    sys.stdout.write(json.dumps(main(Path(sys.argv[1]))))
