"""Reads small files of the kernel, never more than a bound and never in a way that could change them.

Writing to a Neuron counter clears it (Neuron sysfs user guide), so these files are opened read-only here and nowhere
else.
"""

import os
from pathlib import Path
from typing import Final

# The kernel hands out one page of a sysfs file at most.
PAGE_BYTES: Final = 4096
# The largest unsigned 64-bit number has 20 digits.
_LONGEST_NUMBER: Final = 20


def contents(path: Path | str, limit: int = PAGE_BYTES) -> bytes:
    """The first ``limit`` bytes of the file, in one read, as sysfs answers.

    Raises:
        OSError: it is missing, may not be read, or its driver does not answer.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    try:
        return os.read(descriptor, limit)
    finally:
        os.close(descriptor)


def all_contents(path: Path | str, limit: int) -> bytes:
    """At most ``limit`` bytes of a file of ``/proc``, which may come in several pieces.

    Raises:
        OSError: it is missing, may not be read, or belongs to a process that has ended.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    try:
        pieces: list[bytes] = []
        left = limit
        while left > 0 and (piece := os.read(descriptor, left)):
            pieces.append(piece)
            left -= len(piece)
        return b"".join(pieces)
    finally:
        os.close(descriptor)


def whole_number(text: bytes) -> int | None:
    """A count as the kernel prints it, or None for anything else, such as ``N/A``."""
    digits = text.strip(b" \t\n\0")
    return int(digits) if 0 < len(digits) <= _LONGEST_NUMBER and digits.isdigit() else None
