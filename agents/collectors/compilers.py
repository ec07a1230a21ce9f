"""Compiler processes on the host: a job that compiles computes nothing yet, and that is no fault of it.

Processes are looked at when a minute ends, so a compilation of less than a minute may never be seen here; the compile
cache's files show it (``compile_cache``).
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agents.collectors.collector import Contribution, Request
from workload.compile_cache.compilers import compilers


@dataclass(frozen=True, slots=True)
class CompilerCollector:
    """Looks at the processes below ``proc``."""

    proc: Path
    name: str = "compilers"

    def collect(self, request: Request) -> Contribution:
        """Whether compilers run now, how many, and for how long the oldest has."""
        running = compilers(self.proc)
        if not running:
            return Contribution()
        event: dict[str, Any] = {"count": len(running)}
        ages = [process.seconds for process in running if process.seconds is not None]
        if ages:
            event["oldest_seconds"] = round(max(ages))
        return Contribution(event={"compilers": event}, compiling=True)
