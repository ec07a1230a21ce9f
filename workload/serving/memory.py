"""What the host remembers of a sick runtime over the restart of its process: one small file that the agent reads.

It counts for one boot: whoever looks after nodes reboots or replaces the host, and then it starts anew.
"""

import contextlib
import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from workload.durable_file import replace_file

NAME: Final = "runtime.json"
MOST_BYTES: Final = 16 * 1024
_REASON_LIMIT: Final = 500


@dataclass(frozen=True, slots=True)
class Remembered:
    """``restarts`` of this boot that still count, ``last`` why; ``handed_over`` why the host was given up, or empty."""

    boot_id: str
    restarts: int = 0
    last: str = ""
    handed_over: str = ""


@dataclass(frozen=True, slots=True)
class HostMemory:
    """The file in ``folder``. Without a ``boot_id`` nothing of before is believed."""

    folder: Path
    boot_id: str

    def load(self) -> Remembered:
        """What was kept in this boot; nothing where the file is not there, damaged, or of another boot."""
        found = read(self.folder)
        return found if found is not None and self.boot_id and found.boot_id == self.boot_id else self.nothing()

    def nothing(self) -> Remembered:
        """What is known of a host on which nothing happened."""
        return Remembered(self.boot_id)

    def save(self, remembered: Remembered) -> None:
        """Replace the file. Raises OSError."""
        self.folder.mkdir(parents=True, exist_ok=True)
        replace_file(self.folder / NAME, json.dumps(asdict(remembered)).encode())

    def forget(self) -> None:
        """Remove the file, if it is there. Raises OSError."""
        (self.folder / NAME).unlink(missing_ok=True)


def read(folder: Path) -> Remembered | None:
    """The file in ``folder``, of whichever boot; None where there is none that can be understood.

    Whoever serves writes it, so it is read with limits: the agent runs as root.
    """
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        path = folder / NAME
        if not path.is_symlink() and path.is_file() and path.stat().st_size <= MOST_BYTES:
            fields = json.loads(path.read_bytes())
            return Remembered(
                _line(fields["boot_id"]),
                min(int(fields["restarts"]), 1000),
                _line(fields["last"]),
                _line(fields["handed_over"]),
            )
    return None


def _line(text: object) -> str:
    return "".join(each if each.isprintable() else " " for each in str(text))[:_REASON_LIMIT].strip()
