"""What a checkpoint consists of: every file of every rank with its size and digest, as JSON that is read strictly.

A manifest that is there is whole, because stores put objects whole or not at all; what was damaged later is refused
with one line. Equal parts make equal bytes, so it does not matter which rank writes it.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import PurePosixPath
from typing import Any, Final

from fleet import FleetError
from fleet.checkpoints.layout import Attempt

SCHEMA: Final = 1
# Stands in a manifest's place where a save was given up: one key, so that either it is complete or it never will be.
ABANDONED: Final = b'{"abandoned":true,"schema":1}'
_SHA256: Final = re.compile(r"[0-9a-f]{64}")


class ManifestError(FleetError, ValueError):
    """A manifest or a part that is not as it was written; the message says what is wrong with it."""


@dataclass(frozen=True, slots=True)
class StoredFile:
    """One file of a rank: its path in the rank's directory, where it lies, its bytes and their SHA-256."""

    path: str
    key: str
    size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Part:
    """What one rank saved; ``saved_at`` in seconds since 1970, by that rank's clock."""

    step: int
    run: str
    rank: int
    world_size: int
    saved_at: float
    files: tuple[StoredFile, ...]

    @property
    def size(self) -> int:
        """Bytes of all its files."""
        return sum(file.size for file in self.files)


@dataclass(frozen=True, slots=True)
class Manifest:
    """A complete checkpoint; ``parts`` by rank."""

    step: int
    run: str
    world_size: int
    saved_at: float
    parts: tuple[Part, ...]

    @property
    def attempt(self) -> Attempt:
        """Its place in the store."""
        return Attempt(self.step, self.run)

    @property
    def size(self) -> int:
        """Bytes of all files of all ranks."""
        return sum(part.size for part in self.parts)


def whole(attempt: Attempt, parts: Sequence[Part]) -> Manifest:
    """The manifest over every rank's part.

    Raises:
        ManifestError: the parts are not those of ranks 0 to world size - 1 of this attempt.
    """
    by_rank = sorted(parts, key=lambda part: part.rank)
    if not by_rank:
        raise ManifestError(f"step {attempt.step}: no part")
    world_size = by_rank[0].world_size
    if [part.rank for part in by_rank] != list(range(world_size)):
        raise ManifestError(f"step {attempt.step}: {len(by_rank)} parts are not those of {world_size} ranks")
    for part in by_rank:
        if (part.step, part.run, part.world_size) != (attempt.step, attempt.run, world_size):
            raise ManifestError(f"step {attempt.step}: the part of rank {part.rank} is of another save")
    return Manifest(attempt.step, attempt.run, world_size, max(part.saved_at for part in by_rank), tuple(by_rank))


def encoded(value: Part | Manifest) -> bytes:
    """As it is stored."""
    return json.dumps({"schema": SCHEMA, **asdict(value)}, sort_keys=True, separators=(",", ":")).encode()


def decoded_part(content: bytes) -> Part:
    """The part that ``content`` says.

    Raises:
        ManifestError: it is none.
    """
    return _part(_object(content))


def decoded(content: bytes) -> Manifest | None:
    """The manifest that ``content`` says; None where the save was given up.

    Raises:
        ManifestError: it is neither.
    """
    data = _object(content)
    if data.get("abandoned") is True:
        return None
    attempt = Attempt(_whole_number(data, "step"), _text(data, "run"))
    return whole(attempt, [_part(entry) for entry in _list(data, "parts")])


def _object(content: bytes) -> dict[str, Any]:
    try:
        data = json.loads(content)
    except ValueError as error:
        raise ManifestError(f"not JSON: {error}") from error
    if not isinstance(data, dict) or data.get("schema") != SCHEMA:
        raise ManifestError(f"not of schema {SCHEMA}")
    return data


def _part(data: object) -> Part:
    if not isinstance(data, dict):
        raise ManifestError("a part is not an object")
    return Part(
        _whole_number(data, "step"),
        _text(data, "run"),
        _whole_number(data, "rank"),
        _whole_number(data, "world_size"),
        float(_number(data, "saved_at")),
        tuple(_file(entry) for entry in _list(data, "files")),
    )


def _file(data: object) -> StoredFile:
    if not isinstance(data, dict):
        raise ManifestError("a file is not an object")
    file = StoredFile(_text(data, "path"), _text(data, "key"), _whole_number(data, "size"), _text(data, "sha256"))
    if not _SHA256.fullmatch(file.sha256):
        raise ManifestError(f"{file.path}: {file.sha256[:70]!r} is not a SHA-256")
    # It becomes a path on the disk of whoever resumes.
    path = PurePosixPath(file.path)
    if path.is_absolute() or ".." in path.parts or str(path) != file.path or file.path == ".":
        raise ManifestError(f"{file.path[:200]!r} is not a path below the rank's directory")
    return file


def _number(data: dict[str, Any], name: str) -> float:
    value = data.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ManifestError(f"{name} is {value!r:.50}, not a number")
    return value


def _whole_number(data: dict[str, Any], name: str) -> int:
    value = _number(data, name)
    if not isinstance(value, int) or value < 0:
        raise ManifestError(f"{name} is {value!r:.50}, not a whole number from 0")
    return value


def _text(data: dict[str, Any], name: str) -> str:
    value = data.get(name)
    if not isinstance(value, str):
        raise ManifestError(f"{name} is {value!r:.50}, not text")
    return value


def _list(data: dict[str, Any], name: str) -> list[object]:
    value = data.get(name)
    if not isinstance(value, list):
        raise ManifestError(f"{name} is {value!r:.50}, not a list")
    return value
