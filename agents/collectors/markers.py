"""Marker files of the run directory: ``drain`` (a reason in it) and ``checkpoint``, left by people and workloads."""

import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from agents.collectors.collector import Contribution, Request

_REASON_LIMIT: Final = 200
# Letters have up to four bytes.
_READ: Final = 4 * _REASON_LIMIT


@dataclass(frozen=True, slots=True)
class MarkerCollector:
    """Looks whether the files are there. A checkpoint marker that is never removed ends with the state's own limit."""

    run_directory: Path
    name: str = "markers"

    def collect(self, request: Request) -> Contribution:
        """What the files say now."""
        return Contribution(draining=self._drain_reason(), checkpoint=(self.run_directory / "checkpoint").exists())

    def _drain_reason(self) -> str | None:
        try:
            # Without waiting for a writer, in case somebody made a pipe of it.
            descriptor = os.open(self.run_directory / "drain", os.O_RDONLY | os.O_NONBLOCK)
        except FileNotFoundError:
            return None
        try:
            data = os.read(descriptor, _READ) if stat.S_ISREG(os.fstat(descriptor).st_mode) else b""
        finally:
            os.close(descriptor)
        return data.decode("utf-8", "replace").strip()[:_REASON_LIMIT] or "told to drain"
