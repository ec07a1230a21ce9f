"""Which boot of the node this is, and numbers that a collector remembers until the next one, whatever agent runs."""

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import msgspec

from workload import durable_file

logger = logging.getLogger(__name__)
_REPORTED = "reported"


@dataclass(frozen=True, slots=True)
class _Content:
    boot_id: str
    numbers: dict[str, int]


@dataclass(frozen=True, slots=True)
class BootMemory:
    """One file. Without a ``boot_id`` nothing is kept: a boot could not be told from a restart."""

    path: Path
    boot_id: str

    def load(self) -> dict[str, int] | None:
        """What was kept in this boot; None when there is no file, or a damaged one, or one of another boot."""
        try:
            content = msgspec.json.decode(self.path.read_bytes(), type=_Content)
        except FileNotFoundError:
            return None
        except (OSError, msgspec.DecodeError) as error:
            logger.warning("%s: %s; forgotten", self.path, error)
            return None
        return content.numbers if self.boot_id and content.boot_id == self.boot_id else None

    def save(self, numbers: Mapping[str, int]) -> None:
        """Replace the file; a disk that refuses is logged, and costs a repeated count after a restart at worst."""
        if not self.boot_id:
            return
        content = msgspec.json.encode(_Content(self.boot_id, dict(numbers)))
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            durable_file.replace_file(self.path, content, through=False)
        except OSError as error:
            logger.warning("%s: %s", self.path, error)


class OncePerBoot:
    """Whether a fault was counted in this boot already, by this agent or one before it."""

    def __init__(self, memory: BootMemory) -> None:
        self._memory = memory
        self._is_kept = self._is_counted = bool((memory.load() or {}).get(_REPORTED))

    def keep(self) -> None:
        """Write down what the last minute counted. To be called a minute later: only then is the count in the spool."""
        if self._is_counted and not self._is_kept:
            self._memory.save({_REPORTED: 1})
            self._is_kept = True

    def is_first(self) -> bool:
        """Whether the fault is to be counted now."""
        was_counted, self._is_counted = self._is_counted, True
        return not was_counted


def boot_id(proc: Path) -> str:
    """The kernel's name for this boot; empty where there is none."""
    try:
        return (proc / "sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError):
        return ""
