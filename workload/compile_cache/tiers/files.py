"""Names and small files of the cache's folders, on local disk and on a network file system."""

import contextlib
import errno
import os
from typing import Final

# Readers of the shared tier are other users, whatever umask a container came with.
_FOLDER: Final = 0o755
FILE: Final = 0o644


def read_small(path: str, limit: int) -> bytes:
    """A whole file of at most ``limit`` bytes. Raises OSError; EFBIG when it is larger."""
    reading = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    try:
        content = os.read(reading, limit + 1)
    finally:
        os.close(reading)
    if len(content) > limit:
        raise OSError(errno.EFBIG, os.strerror(errno.EFBIG), path)
    return content


def read_end(path: str, limit: int) -> bytes:
    """The last ``limit`` bytes of a file. Raises OSError."""
    reading = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    try:
        return os.pread(reading, limit, max(0, os.fstat(reading).st_size - limit))
    finally:
        os.close(reading)


def write_new(path: str, content: bytes, *, through: bool) -> None:
    """A small new file; ``through`` waits until the disk has it. Raises OSError."""
    writing = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, FILE)
    try:
        if content:
            write(writing, content, 0)
        if through:
            os.fchmod(writing, FILE)
            os.fsync(writing)
    finally:
        os.close(writing)


def open_to_readers(folder: str) -> None:
    """Let everybody look into a folder. Raises OSError."""
    os.chmod(folder, _FOLDER)


def touch(path: str) -> None:
    """Give a file the present as its time. Raises OSError."""
    os.utime(path)


def remove_file(path: str) -> None:
    """Delete a file if it is there. Raises OSError."""
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)


def make_folder(path: str) -> None:
    """A new folder. Raises OSError, FileExistsError among them."""
    os.mkdir(path, _FOLDER)


def have_folder(path: str) -> None:
    """The folder, made if need be; its parent must be there. Raises OSError."""
    with contextlib.suppress(FileExistsError):
        os.mkdir(path, _FOLDER)
        open_to_readers(path)


def sync_folder(path: str) -> None:
    """Wait until the disk has the folder's names. Raises OSError."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def move_new(source: str, target: str) -> bool:
    """Rename a folder to where none may be yet; False when one is. Raises OSError."""
    try:
        os.rename(source, target)
    except OSError as error:
        # POSIX leaves the choice between the two to the file system.
        if error.errno in {errno.EEXIST, errno.ENOTEMPTY}:
            return False
        raise
    return True


def names(folder: str) -> list[str]:
    """What is in a folder; nothing when there is none. Raises OSError."""
    try:
        return sorted(os.listdir(folder))
    except FileNotFoundError:
        return []


def regular_files(folder: str) -> list[tuple[str, int]]:
    """Names and sizes of a graph's files. Raises OSError; EISDIR when there is a folder among them, or a link."""
    found = []
    with os.scandir(folder) as items:
        for item in items:
            if not item.is_file(follow_symlinks=False):
                raise OSError(errno.EISDIR, "not a file", item.path)
            found.append((item.name, item.stat(follow_symlinks=False).st_size))
    return sorted(found)


def stamp(folder: str) -> tuple[int, int] | None:
    """Inode and modification time of one folder; None when it is not there. Raises OSError."""
    try:
        status = os.stat(folder)
    except FileNotFoundError:
        return None
    return status.st_ino, status.st_mtime_ns


def stamps(folder: str) -> dict[str, tuple[int, int]]:
    """Inode and modification time in nanoseconds of the folders in ``folder``: both change when one is replaced.

    Raises OSError; a ``folder`` that is not there is empty.
    """
    found: dict[str, tuple[int, int]] = {}
    try:
        with os.scandir(folder) as items:
            for item in items:
                if item.is_dir(follow_symlinks=False):
                    with contextlib.suppress(FileNotFoundError):
                        status = item.stat(follow_symlinks=False)
                        found[item.name] = (status.st_ino, status.st_mtime_ns)
    except FileNotFoundError:
        return {}
    return found


def remove_tree(folder: str) -> None:
    """Delete a folder and what is in it, one floor deep; whatever resists stays for the next sweep."""
    with contextlib.suppress(OSError):
        for name in os.listdir(folder):
            path = f"{folder}/{name}"
            try:
                os.unlink(path)
            except (IsADirectoryError, PermissionError):
                remove_tree(path)
        os.rmdir(folder)


def write(writing: int, block: bytes, position: int) -> None:
    """All of ``block``, at ``position``. Raises OSError."""
    written = os.pwrite(writing, block, position)
    if written == len(block):
        return
    rest, position = memoryview(block)[written:], position + written
    while rest:
        written = os.pwrite(writing, rest, position)
        rest, position = rest[written:], position + written
