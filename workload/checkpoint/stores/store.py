"""What a place for checkpoints must be able to do. Everything else is built from these promises and no others.

- What ``list`` or ``read`` show is whole: an upload that was cut off shows nowhere.
- ``create`` decides between several writers: all of them are told the same content.
- What was written shows to everybody at once. A network file system may take its attribute cache's time (a minute)
  until another node sees it; nothing becomes wrong by that, it only takes longer.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Entry:
    """Something stored: bytes, and seconds since 1970 by the store's own clock."""

    key: str
    size: int
    modified: float


class Store(Protocol):
    """Keys are relative to the store's place. Each method raises ``StoreError``."""

    def put_file(self, key: str, path: Path) -> None:
        """Store the file at ``path``, whole or not at all. ``key`` is one that was never used."""

    def create(self, key: str, content: bytes) -> bytes:
        """Store ``content`` if nothing is there; what is there now, which may be somebody else's."""

    def read(self, key: str) -> bytes | None:
        """The content of a small object; None: there is none."""

    def fetch(self, key: str, path: Path) -> None:
        """Write what is stored into a new file at ``path``; MissingError: there is nothing."""

    def list(self, prefix: str) -> list[Entry]:
        """Everything whose key begins with ``prefix``, which ends with a slash, in the order of keys."""

    def delete(self, keys: Iterable[str]) -> None:
        """Delete what is there of ``keys``, in their order as far as it matters to a reader: none is relied on."""

    def sweep(self, older_than_seconds: float) -> int:
        """Remove what cut-off uploads left behind and was not added to for so long; how many."""

    def __str__(self) -> str:
        """Where it is, for people."""
