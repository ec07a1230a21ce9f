"""Tells the work on this node what AWS announced: marker files that the checkpoint library looks for every second.

``drain`` stays for as long as its notice holds, because the instance goes. ``checkpoint`` asks for one save and is
taken away after some minutes: it is also evidence that a checkpoint is written, which must not excuse a node for ever.
A marker that somebody else left is neither replaced nor removed.
"""

from enum import StrEnum
from pathlib import Path
from typing import Final

from workload.durable_file import remove, replace_file

# Long enough for a rank that looks after each of its steps, and well below the state CHECKPOINT's own limit.
SAVING_SECONDS: Final = 300.0
_OURS: Final = b"instance metadata: "


class Marker(StrEnum):
    """The files' names, as ``workload.checkpoint.drain`` reads them: save and end; save and go on."""

    DRAIN = "drain"
    CHECKPOINT = "checkpoint"


class Marks:
    """Marker files in ``run_directory``, which job containers mount. Everything raises ``OSError``."""

    def __init__(self, run_directory: Path) -> None:
        self._directory = run_directory
        # The checkpoint that was asked for last, and when: one notice asks once, however long it holds.
        self._asked = ""
        self._asked_at = 0.0

    def put(self, marker: Marker, reason: str, now: float) -> None:
        """Leave ``marker`` with its ``reason``; ``now`` in unix seconds."""
        if marker is Marker.CHECKPOINT:
            if reason == self._asked:
                if now - self._asked_at >= SAVING_SECONDS:
                    self._remove(marker)
                return
            self._asked, self._asked_at = reason, now
        path = self._directory / marker
        if not path.exists():
            replace_file(path, _OURS + reason.encode() + b"\n", through=False)

    def withdraw(self, marker: Marker) -> None:
        """The notice is gone: take back what was left for it, also by an agent that ran before this one."""
        if marker is Marker.CHECKPOINT:
            self._asked = ""
        self._remove(marker)

    def _remove(self, marker: Marker) -> None:
        path = self._directory / marker
        if path.is_file() and path.read_bytes()[: len(_OURS)] == _OURS:
            remove(path)
