"""Graphs as the compiler leaves them, whose content a test can tell from a damaged one."""

import hashlib
from collections.abc import Callable
from pathlib import Path

from fleet.compile_cache import manifest
from fleet.compile_cache.graph import Graph

VERSION = "neuronxcc-2.21.18209.0+043b1bf7"
FILES = ("model.hlo_module.pb", "compile_flags.json", "model.neff", "model.done")


def graph(number: int, version: str = VERSION) -> Graph:
    return Graph(version, f"MODULE_{number}+abcd1234")


def content(wanted: Graph, name: str) -> bytes:
    """What a file of a graph has in it: different for each, and longer for the NEFF."""
    if name == manifest.DONE_MARKER:
        return b""
    seed = hashlib.sha256(f"{wanted}/{name}".encode()).digest()
    return seed * (2000 if name == "model.neff" else 10)


def write(wanted: Graph, folder: Path) -> None:
    """A finished compilation."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in FILES:
        (folder / name).write_bytes(content(wanted, name))


def compiler(wanted: Graph) -> Callable[[Path], None]:
    """What compiles it into a folder."""
    return lambda folder: write(wanted, folder)


def is_whole(wanted: Graph, folder: Path) -> bool:
    """Whether exactly this graph is in a folder."""
    found = {path.name for path in folder.iterdir() if path.name != manifest.NAME}
    return found == set(FILES) and all((folder / name).read_bytes() == content(wanted, name) for name in FILES)
