"""Checkpoints in a directory: of FSx for Lustre, of EFS, or of one machine.

A file is written beside its place, synced, and given its name by a hard link, which fails where the name is taken:
the one operation that decides between two writers on a network file system too. Names of unfinished files end in
``.writing`` and are shown to nobody.
"""

import contextlib
import errno
import os
import secrets
import shutil
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import BinaryIO, Final

from workload.checkpoint.stores.store import Entry
from workload.errors import MissingError, StoreError

UNFINISHED: Final = ".writing"
_BLOCK: Final = 8 * 1024 * 1024
# The collector removes empty directories: one may vanish between being made and being used.
_ATTEMPTS: Final = 5
# A network file system answers ESTALE for what another node has replaced; looking again helps.
_AGAIN: Final = frozenset({errno.ESTALE, errno.ENOENT})


class FileStore:
    """``root`` is made when something is stored."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def __str__(self) -> str:
        """The directory."""
        return str(self._root)

    def put_file(self, key: str, path: Path) -> None:
        """Copy it block by block."""
        with self._explained(key), path.open("rb") as source:
            if not self._place(key, lambda target: shutil.copyfileobj(source, target, _BLOCK)):
                raise StoreError(f"{self}/{key} is there already")

    def create(self, key: str, content: bytes) -> bytes:
        """The link decides. Its answer may be lost on the way and the repetition refused: so look who is there."""
        with self._explained(key):
            for _ in range(_ATTEMPTS):
                if self._place(key, lambda target: target.write(content)):
                    return content
                there = self.read(key)
                if there is not None:
                    return there
        raise StoreError(f"{self}/{key} comes and goes")

    def read(self, key: str) -> bytes | None:
        """Whole, because names are given to whole files only."""
        with self._explained(key):
            for attempt in range(_ATTEMPTS):
                try:
                    return (self._root / key).read_bytes()
                except FileNotFoundError:
                    return None
                except OSError as error:
                    if error.errno != errno.ESTALE or attempt == _ATTEMPTS - 1:
                        raise
        raise AssertionError("the last attempt returns or raises")

    def fetch(self, key: str, path: Path) -> None:
        """Copy it block by block."""
        with self._explained(key), path.open("xb") as target:
            try:
                source = (self._root / key).open("rb")
            except FileNotFoundError as error:
                raise MissingError(f"{self}/{key} is not there") from error
            with source:
                shutil.copyfileobj(source, target, _BLOCK)

    def list(self, prefix: str) -> list[Entry]:
        """A file that vanishes meanwhile is left out."""
        found = []
        with self._explained(prefix):
            for path in _files(self._root / prefix):
                with contextlib.suppress(FileNotFoundError):
                    if path.suffix != UNFINISHED:
                        about = path.stat()
                        found.append(Entry(path.relative_to(self._root).as_posix(), about.st_size, about.st_mtime))
        return sorted(found, key=lambda entry: entry.key)

    def delete(self, keys: Iterable[str]) -> None:
        """And the directories that become empty."""
        for key in keys:
            path = self._root / key
            with self._explained(key):
                path.unlink(missing_ok=True)
            for directory in path.parents:
                if directory == self._root:
                    break
                with contextlib.suppress(OSError):
                    directory.rmdir()

    def sweep(self, older_than_seconds: float) -> int:
        """By the file system's clock: that of a file that is made now."""
        removed = 0
        with self._explained(""):
            unfinished = [path for path in _files(self._root) if path.suffix == UNFINISHED]
            limit = self._now() - older_than_seconds if unfinished else 0.0
            for path in unfinished:
                with contextlib.suppress(FileNotFoundError):
                    if path.stat().st_mtime <= limit:
                        path.unlink()
                        removed += 1
        return removed

    def _now(self) -> float:
        clock = self._root / f"clock.{secrets.token_hex(8)}{UNFINISHED}"
        try:
            clock.touch(exist_ok=False)
            return clock.stat().st_mtime
        finally:
            clock.unlink(missing_ok=True)

    def _place(self, key: str, write: Callable[[BinaryIO], object]) -> bool:
        """Whether the name was free."""
        path = self._root / key
        temporary = path.with_name(f"{path.name}.{secrets.token_hex(8)}{UNFINISHED}")
        try:
            with _opened(temporary) as target:
                write(target)
                target.flush()
                os.fsync(target.fileno())
            try:
                path.hardlink_to(temporary)
            except FileExistsError:
                return False
            self._sync_names(path)
            return True
        finally:
            with contextlib.suppress(OSError):
                temporary.unlink()

    def _sync_names(self, path: Path) -> None:
        # The name of the file, and those of the directories that were made for it.
        for directory in path.parents:
            descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
            if directory == self._root:
                break

    @contextlib.contextmanager
    def _explained(self, key: str) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise StoreError(f"{self}/{key}: {error.strerror or error}") from error


def _opened(temporary: Path) -> BinaryIO:
    for attempt in range(_ATTEMPTS):
        try:
            temporary.parent.mkdir(parents=True, exist_ok=True)
            return temporary.open("xb")
        except OSError as error:
            if error.errno not in _AGAIN or attempt == _ATTEMPTS - 1:
                raise
    raise AssertionError("the last attempt returns or raises")


def _files(directory: Path) -> Iterator[Path]:
    try:
        found = list(os.scandir(directory))
    except FileNotFoundError:
        return
    for entry in found:
        if entry.is_dir(follow_symlinks=False):
            yield from _files(Path(entry.path))
        else:
            yield Path(entry.path)
