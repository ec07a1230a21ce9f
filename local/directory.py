"""The demo's folder below the project: emptied at the start, and used by one run at a time."""

import fcntl
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO


class DirectoryError(RuntimeError):
    """The folder cannot be used; the message says what to do."""


@contextmanager
def only_one(lock_file: Path) -> Iterator[None]:
    """Hold ``lock_file`` until the context ends. The lock ends with its process, however that ends.

    Raises:
        DirectoryError: Another run holds it, or it cannot be written.
    """
    with _locked(lock_file):
        yield


def prepare(directory: Path) -> None:
    """Make ``directory``, empty.

    Raises:
        DirectoryError: It cannot be emptied or written.
    """
    try:
        if directory.exists():
            shutil.rmtree(directory)
        directory.mkdir(parents=True)
    except OSError as error:
        raise _unusable(error, directory) from error


def _locked(lock_file: Path) -> TextIO:
    try:
        lock_file.parent.mkdir(parents=True, exist_ok=True)
        lock = lock_file.open("w", encoding="utf-8")
    except OSError as error:
        raise _unusable(error, lock_file) from error
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        lock.close()
        folder = lock_file.parent.resolve()
        raise DirectoryError(f"another demo runs in {folder}: end it, or wait until it has ended") from error
    return lock


def _unusable(error: OSError, path: Path) -> DirectoryError:
    return DirectoryError(f"{error.filename or path} cannot be written ({error.strerror}): correct it or remove it")
