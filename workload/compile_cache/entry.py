"""One graph in the compile cache, as its files show it.

Layout and states are those of the Neuron cache as of compiler 2.x: ``model.hlo_module.pb`` (older ``model.hlo.pb``),
``model.neff``, an empty ``model.done`` on success, ``model.log`` on failure, ``*.lock`` while it is compiled. In the
layout of 2022 the NEFF lies some folders deeper, bears the graph's name, and nothing else says that it is done.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from fleet.string_enum import StringEnum

_DEEPEST: Final = 2
_MOST_FILES: Final = 256


class State(StringEnum):
    """What a graph's files amount to. INCOMPLETE: collected for a later compilation, or interrupted."""

    SUCCEEDED = "succeeded"
    FAILED = "failed"
    COMPILING = "compiling"
    INCOMPLETE = "incomplete"


@dataclass(frozen=True, slots=True)
class Entry:
    """A graph's files. Times are modification times in nanoseconds, None where there is no such file.

    ``is_fetched``: whoever asked the compiler for it was given what another node had compiled.
    """

    state: State
    size: int
    folder: int
    input: int | None = None
    done: int | None = None
    log: int | None = None
    lock: int | None = None
    is_fetched: bool = False


def read(path: Path) -> Entry | None:
    """The entry in the folder ``path``; None when it has vanished. Links are not followed.

    Raises:
        PermissionError: the folder may not be read.
    """
    times: dict[str, int] = {}
    size = 0
    try:
        folder = path.stat(follow_symlinks=False).st_mtime_ns
        for number, (name, status) in enumerate(_files(path, _DEEPEST)):
            if number >= _MOST_FILES:
                break
            size += status.st_size
            part = _part(name)
            if part is not None:
                times[part] = max(status.st_mtime_ns, times.get(part, 0))
    except (FileNotFoundError, NotADirectoryError):
        return None
    old = times.get("old neff")
    return Entry(
        state=_state(times),
        size=size,
        folder=folder,
        input=times.get("input"),
        done=times.get("done", old),
        log=times.get("log"),
        lock=times.get("lock"),
    )


def _files(path: Path, deeper: int) -> Iterator[tuple[str, os.stat_result]]:
    with os.scandir(path) as found:
        for item in found:
            try:
                if item.is_dir(follow_symlinks=False):
                    if deeper:
                        yield from _files(Path(item.path), deeper - 1)
                elif item.is_file(follow_symlinks=False):
                    yield item.name, item.stat(follow_symlinks=False)
            except FileNotFoundError:
                # Gone since it was listed: the compiler is at work.
                continue


def _part(name: str) -> str | None:
    if name.endswith(".lock"):
        return "lock"
    if name.endswith(".neff"):
        return "neff" if name == "model.neff" else "old neff"
    if name.startswith("model.hlo") and name.endswith(".pb"):
        return "input"
    return {"model.done": "done", "model.log": "log"}.get(name)


def _state(times: dict[str, int]) -> State:
    if "old neff" in times or ("neff" in times and "done" in times):
        return State.SUCCEEDED
    if "lock" in times:
        # A failed entry is locked again while its compilation is retried.
        return State.COMPILING
    return State.FAILED if "log" in times else State.INCOMPLETE
