"""What a warm-up has brought to local disk, so that the next one need not look into every folder.

The record counts for the boot in which it was written: a power failure can empty files that were written shortly
before it, and nobody waits for the disk when thousands of graphs are fetched.
"""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from workload.durable_file import replace_file

# Inode and modification time of a folder, nanoseconds.
Stamp = tuple[int, int]
NAME: Final = "warm.json"
_BOOT: Final = "sys/kernel/random/boot_id"


@dataclass(slots=True)
class VersionRecord:
    """A compiler version's graphs that are on local disk, with the stamps that they had in the shared tier.

    ``shared`` and ``local`` are the stamps of the version's two folders when everything in the one was in the other;
    None when something was missing.
    """

    shared: Stamp | None = None
    local: Stamp | None = None
    graphs: dict[str, Stamp] = field(default_factory=dict)


def boot_id(proc: Path) -> str:
    """Tells one boot of the machine from another; empty where the host does not say."""
    try:
        return (proc / _BOOT).read_text(encoding="ascii").strip()
    except (OSError, ValueError):
        return ""


def load(folder: Path, boot: str) -> dict[str, VersionRecord] | None:
    """The record in ``folder``, by compiler version; None when it is of another boot, damaged, or not there."""
    try:
        content = json.loads((folder / NAME).read_bytes())
        if not boot or content["boot"] != boot:
            return None
        return {version: _version(fields) for version, fields in content["versions"].items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def save(folder: Path, boot: str, versions: dict[str, VersionRecord]) -> None:
    """Replace the record. Raises OSError."""
    content = {
        "boot": boot,
        "versions": {
            version: {"shared": record.shared, "local": record.local, "graphs": record.graphs}
            for version, record in versions.items()
        },
    }
    replace_file(folder / NAME, json.dumps(content).encode(), through=False)


def _version(fields: dict[str, Any]) -> VersionRecord:
    return VersionRecord(
        shared=_stamp(fields["shared"]),
        local=_stamp(fields["local"]),
        graphs={str(module): (int(stamp[0]), int(stamp[1])) for module, stamp in fields["graphs"].items()},
    )


def _stamp(value: list[int] | None) -> Stamp | None:
    return None if value is None else (int(value[0]), int(value[1]))
