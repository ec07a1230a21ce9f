"""Compiler processes on the host: a job that compiles computes nothing yet, and that is no fault of it."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from agents.collectors.collector import Contribution, Request

# The kernel keeps 15 characters of a name; both fit.
COMPILERS: Final = frozenset({"neuronx-cc", "walrus_driver"})


@dataclass(frozen=True, slots=True)
class CompilerCollector:
    """Looks at the names of the processes below ``proc``."""

    proc: Path
    name: str = "compilers"

    def collect(self, request: Request) -> Contribution:
        """Whether a compiler runs now."""
        return Contribution(compiling=bool(compiler_pids(self.proc)))


def compiler_pids(proc: Path) -> tuple[int, ...]:
    """Host pids of the compilers that run now."""
    pids = []
    for path in proc.glob("[0-9]*/comm"):
        try:
            name = path.read_text(encoding="utf-8", errors="replace").strip()
        except OSError:
            continue
        if name in COMPILERS and path.parent.name.isdecimal():
            pids.append(int(path.parent.name))
    return tuple(sorted(pids))
