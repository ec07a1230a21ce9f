"""Compiler processes of a host, from ``/proc``."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Final

# The kernel keeps 15 characters of a name; both fit.
COMPILERS: Final = frozenset({"neuronx-cc", "walrus_driver"})
_ENDED: Final = frozenset({"Z", "X"})
# Fields of /proc/<pid>/stat after the name in parentheses, which may hold spaces: proc(5), fields 3 and 22.
_STATE, _START = 0, 19


@dataclass(frozen=True, slots=True)
class CompilerProcess:
    """A compiler that runs now; ``seconds`` since it started, None where the host does not say."""

    pid: int
    seconds: float | None


def compilers(proc: Path) -> tuple[CompilerProcess, ...]:
    """The compilers that run now, by pid. One that has ended and waits for its parent does not run."""
    found = []
    uptime = _uptime(proc)
    for pid in _pids(proc):
        if _text(f"{proc}/{pid}/comm").strip() not in COMPILERS:
            continue
        fields = _text(f"{proc}/{pid}/stat").rpartition(")")[2].split()
        if fields and fields[_STATE] in _ENDED:
            continue
        found.append(CompilerProcess(int(pid), _age(fields, uptime)))
    return tuple(sorted(found, key=lambda process: process.pid))


def compiler_pids(proc: Path) -> tuple[int, ...]:
    """Host pids of the compilers that run now."""
    return tuple(process.pid for process in compilers(proc))


def _pids(proc: Path) -> list[str]:
    try:
        return [name for name in os.listdir(proc) if name.isdecimal()]  # noqa: PTH208 - names alone
    except OSError:
        return []


def _age(fields: list[str], uptime: float | None) -> float | None:
    if uptime is None or len(fields) <= _START or not fields[_START].isdecimal():
        return None
    return max(0.0, uptime - int(fields[_START]) / os.sysconf("SC_CLK_TCK"))


def _uptime(proc: Path) -> float | None:
    try:
        return float(_text(f"{proc}/uptime").split()[0])
    except (IndexError, ValueError):
        return None


def _text(path: str) -> str:
    try:
        # Not a Path, which would keep a name for each process that ever was: see workload.durable_file.
        with open(path, encoding="utf-8", errors="replace") as file:  # noqa: PTH123 - see above
            return file.read()
    except OSError:
        # The process has ended, or the host does not show this.
        return ""
