"""Marker files of the run directory: ``drain`` (a reason in it) and ``checkpoint``, left by people and workloads."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from agents.collectors.collector import Contribution, Request

_REASON_LIMIT: Final = 200


@dataclass(frozen=True, slots=True)
class MarkerCollector:
    """Looks whether the files are there."""

    run_directory: Path
    name: str = "markers"

    def collect(self, request: Request) -> Contribution:
        """What the files say now."""
        return Contribution(draining=self._drain_reason(), checkpoint=(self.run_directory / "checkpoint").exists())

    def _drain_reason(self) -> str | None:
        try:
            text = (self.run_directory / "drain").read_text(encoding="utf-8", errors="replace").strip()
        except FileNotFoundError:
            return None
        return text[:_REASON_LIMIT] or "told to drain"
