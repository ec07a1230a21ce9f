"""The few ways in which the agent writes to its own disk, each with what a crash in the middle of it leaves behind.

``replace_file`` leaves the old content or the new, also after a power failure. ``overwrite`` needs no free block, so
it works on a full disk; a reader must be able to tell a torn one. ``append`` leaves a whole record or a torn tail.
All of them raise ``OSError`` with nothing half done, as far as the disk lets them.

Names that are used once, as those of batches, come as text: ``Path`` interns every part of a path, and Python 3.12
keeps what is interned until the process ends.
"""

import contextlib
import os
from pathlib import Path
from typing import Final

TEMPORARY_SUFFIX: Final = ".writing"
_READABLE: Final = 0o644


def replace_file(path: Path | str, content: bytes, *, through: bool = True) -> None:
    """Put ``content`` at ``path`` by a rename.

    ``through`` waits until the disk itself has it and the name: without, it survives the process and not the machine.
    """
    temporary = f"{path}{TEMPORARY_SUFFIX}"
    try:
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, _READABLE)
        try:
            _write_all(descriptor, content)
            if through:
                os.fsync(descriptor)
        finally:
            os.close(descriptor)
        os.rename(temporary, path)  # noqa: PTH104 - see above
    except OSError:
        # On a full disk the half-written file would hold the very room that others wait for.
        with contextlib.suppress(OSError):
            os.unlink(temporary)  # noqa: PTH108 - see above
        raise
    if through:
        _sync_names(os.path.dirname(path))  # noqa: PTH120 - see above


def overwrite(path: Path, content: bytes) -> None:
    """Write ``content`` over the beginning of ``path``, in place."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT, _READABLE)
    try:
        _write_all(descriptor, content)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def append(path: Path, content: bytes, offset: int) -> int:
    """Write ``content`` at ``offset``, which becomes the file's end if it was longer; the new end.

    Not waited for: it survives the process, and a power failure may take the last seconds.
    """
    descriptor = os.open(path, os.O_WRONLY)
    try:
        if os.fstat(descriptor).st_size != offset:
            os.ftruncate(descriptor, offset)
        os.lseek(descriptor, offset, os.SEEK_SET)
        _write_all(descriptor, content)
    finally:
        os.close(descriptor)
    return offset + len(content)


def remove(path: Path | str) -> None:
    """Delete ``path`` if it is there."""
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)  # noqa: PTH108 - see above


def _write_all(descriptor: int, content: bytes) -> None:
    # A disk that fills up takes a part first, and refuses the rest.
    rest = memoryview(content)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def _sync_names(directory: str) -> None:
    # A rename is an entry of the directory; some file systems cannot sync one, and then need not.
    with contextlib.suppress(OSError):
        descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
