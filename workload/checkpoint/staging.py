"""A rank's files on its own disk: written by the training, then synced, counted and hashed before anything is sent."""

import hashlib
import os
import shutil
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from fleet.checkpoints.layout import Attempt
from workload.errors import CheckpointError

_WRITING: Final = ".writing"
_BLOCK: Final = 8 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class StagedFile:
    """One file, as it was when it was hashed."""

    path: str
    size: int
    sha256: str
    modified_ns: int


@dataclass(frozen=True, slots=True)
class Staged:
    """A rank's directory, whole and on the disk."""

    attempt: Attempt
    rank: int
    directory: Path
    files: tuple[StagedFile, ...]

    def check_unchanged(self, file: StagedFile) -> None:
        """Refuse a file that was written to after it was hashed: what was sent may be half of each.

        Raises:
            CheckpointError: it was.
        """
        about = (self.directory / file.path).stat()
        if (about.st_size, about.st_mtime_ns) != (file.size, file.modified_ns):
            raise CheckpointError(f"{self.directory / file.path} was written to while it was being sent")


def begin(scratch: Path, attempt: Attempt, rank: int) -> Path:
    """An empty directory for the rank to write into; what the rank left behind before is removed."""
    scratch.mkdir(parents=True, exist_ok=True)
    for left in scratch.glob(f"*.rank-{rank:05d}*"):
        shutil.rmtree(left)
    directory = _final(scratch, attempt, rank).with_suffix(_WRITING)
    directory.mkdir()
    return directory


def finish(scratch: Path, attempt: Attempt, rank: int) -> Staged:
    """Sync and hash everything that was written, and give the directory its final name.

    Raises:
        CheckpointError: there is something in it that is not a file or a directory.
    """
    final = _final(scratch, attempt, rank)
    writing = final.with_suffix(_WRITING)
    files = tuple(_staged(path, writing) for path in _files(writing))
    _sync_directories(writing)
    writing.rename(final)
    _sync(scratch)
    return Staged(attempt, rank, final, files)


def discard(scratch: Path, attempt: Attempt, rank: int) -> None:
    """Remove it, whole or not."""
    final = _final(scratch, attempt, rank)
    for directory in (final, final.with_suffix(_WRITING)):
        shutil.rmtree(directory, ignore_errors=True)


def sha256(path: Path) -> str:
    """Of a file's content, as hexadecimal digits."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            digest.update(block)
    return digest.hexdigest()


def _final(scratch: Path, attempt: Attempt, rank: int) -> Path:
    # The suffix stands apart from whatever dots the run's name has.
    return scratch / f"{attempt.name}.rank-{rank:05d}.staged"


def _files(directory: Path) -> Iterator[Path]:
    for path in sorted(directory.iterdir()):
        mode = path.lstat().st_mode
        if stat.S_ISDIR(mode):
            yield from _files(path)
        elif stat.S_ISREG(mode):
            yield path
        else:
            raise CheckpointError(f"{path} is neither a file nor a directory: a checkpoint holds files only")


def _staged(path: Path, directory: Path) -> StagedFile:
    _sync(path)
    about = path.stat()
    return StagedFile(path.relative_to(directory).as_posix(), about.st_size, sha256(path), about.st_mtime_ns)


def _sync_directories(directory: Path) -> None:
    for path in directory.iterdir():
        if path.is_dir():
            _sync_directories(path)
    _sync(directory)


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
