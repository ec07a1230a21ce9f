"""Marker files of the run directory, left by people and workloads: ``drain`` (a reason in it), and a file for a phase.

A phase's file has its name, and the minutes of patience in it; an empty one asks for the default.
"""

import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from agents.collectors.collector import Contribution, Request
from agents.collectors.workload.phases import PHASES, minutes_of
from fleet.patience import Announced

_REASON_LIMIT: Final = 200
# Letters have up to four bytes.
_READ: Final = 4 * _REASON_LIMIT


@dataclass(frozen=True, slots=True)
class MarkerCollector:
    """Looks whether the files are there. One that is never removed ends with the state's own limit."""

    run_directory: Path
    name: str = "markers"

    def collect(self, request: Request) -> Contribution:
        """What the files say now."""
        reason = self._text("drain")
        said = {name: text for name in PHASES if (text := self._text(name)) is not None}
        return Contribution(
            draining=None if reason is None else reason or "told to drain",
            phases=tuple(Announced(name, minutes_of(text)) for name, text in said.items()),
        )

    def _text(self, name: str) -> str | None:
        try:
            # Without waiting for a writer, in case somebody made a pipe of it.
            descriptor = os.open(self.run_directory / name, os.O_RDONLY | os.O_NONBLOCK)
        except FileNotFoundError:
            return None
        try:
            data = os.read(descriptor, _READ) if stat.S_ISREG(os.fstat(descriptor).st_mode) else b""
        finally:
            os.close(descriptor)
        return data.decode("utf-8", "replace").strip()[:_REASON_LIMIT]
