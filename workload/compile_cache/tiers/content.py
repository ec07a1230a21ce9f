"""The content of files: copied, and digested on the way, with their holes.

The digest's definition is in ``fleet.compile_cache.manifest``. Blocks of zeros are neither read nor written where the
file system knows them as holes: compiled graphs have long ones.
"""

import errno
import hashlib
import os
from collections.abc import Iterator
from typing import Final

from workload.compile_cache.tiers import files

BLOCK: Final = 1024 * 1024


def copy(source: str, target: str, size: int, *, through: bool) -> str:
    """Copy ``size`` bytes into a new file and return their digest; ``through`` waits until the disk has them.

    Raises:
        OSError: one of the two cannot be had, and there is no ``target``. EBADMSG: the source has another size.
    """
    reading = os.open(source, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    try:
        writing = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, files.FILE)
        try:
            digest = _transfer(reading, writing, size)
            if through:
                os.fchmod(writing, files.FILE)
                os.fsync(writing)
        except OSError:
            files.remove_file(target)
            raise
        finally:
            os.close(writing)
    finally:
        os.close(reading)
    return digest


def measure(path: str) -> tuple[int, str]:
    """Size and digest of a file. Raises OSError."""
    reading = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    try:
        size = os.fstat(reading).st_size
        return size, _transfer(reading, None, size)
    finally:
        os.close(reading)


def _transfer(reading: int, writing: int | None, size: int) -> str:
    total = hashlib.sha256()
    end = 0
    for position, length in _used(reading, size) if size > BLOCK else ((0, size + 1),):
        # Trailing zeros are left out, so that it does not matter which of them are a hole.
        whole = os.pread(reading, length, position)
        block = whole.rstrip(b"\0")
        if block:
            total.update(b"%d %d\n" % (position, len(block)))
            total.update(block)
            if writing is not None:
                files.write(writing, block, position)
                end = position + len(block)
    if (os.fstat(reading).st_size if size > BLOCK else len(whole)) != size:
        raise OSError(errno.EBADMSG, f"not {size} bytes long")
    total.update(b"%d" % size)
    if writing is not None and end < size:
        os.ftruncate(writing, size)
    return total.hexdigest()


def _used(reading: int, size: int) -> Iterator[tuple[int, int]]:
    """Blocks of a large file that may hold something else than zeros, and how much of each."""
    start = _seek(reading, 0, os.SEEK_DATA, size)
    while start < size:
        hole = _seek(reading, start, os.SEEK_HOLE, size)
        following = _seek(reading, hole, os.SEEK_DATA, size)
        position = start - start % BLOCK
        while position < hole:
            end = min(position + BLOCK, size)
            yield position, (hole if hole < end <= following else end) - position
            position = end
        # A block that was read to its end may hold the beginning of the next data, and more than one hole.
        start = following if following >= position else _seek(reading, position, os.SEEK_DATA, size)


def _seek(reading: int, position: int, whence: int, size: int) -> int:
    """Where data begins or ends at or after ``position``; ``size`` where there is no more."""
    if position >= size:
        return size
    try:
        return os.lseek(reading, position, whence)
    except OSError as error:
        if error.errno == errno.ENXIO:
            return size
        raise
