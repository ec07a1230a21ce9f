"""What a promoted graph consists of. It is written last, so a graph with a manifest is a whole one.

A digest is over the blocks of a file that are not all zeros, each with its place, and then over the file's size: the
same content has the same digest whether or not the file system stores holes, and holes cost nothing to check.
"""

import json
import re
from dataclasses import dataclass
from typing import Any, Final

from fleet import FleetError
from fleet.compile_cache.graph import Graph, GraphNameError, parse

NAME: Final = "neuron-fleet.json"
SCHEMA: Final = 1
MOST_BYTES: Final = 1024 * 1024
# The compiler's marks: the first says that it succeeded, the other that it is at work or was killed.
DONE_MARKER: Final = "model.done"
LOCK_SUFFIX: Final = ".lock"
_FILE: Final = re.compile(r"[0-9A-Za-z_][0-9A-Za-z._+-]{0,200}")
_DIGEST: Final = re.compile(r"[0-9a-f]{64}")


class ManifestError(FleetError, ValueError):
    """Not a manifest; the message says why."""


@dataclass(frozen=True, slots=True)
class FileRecord:
    """One file: ``size`` in bytes, ``digest`` in hexadecimal digits."""

    name: str
    size: int
    digest: str


@dataclass(frozen=True, slots=True)
class Manifest:
    """``token`` is the lease under which it was promoted; ``seconds`` its compilation; ``promoted`` unix seconds."""

    graph: Graph
    files: tuple[FileRecord, ...]
    token: int
    seconds: float
    promoted: float
    holder: str

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(file.size for file in self.files)

    def encode(self) -> bytes:
        """One JSON object."""
        content = {
            "schema": SCHEMA,
            "graph": str(self.graph),
            "files": [{"name": file.name, "size": file.size, "digest": file.digest} for file in self.files],
            "token": self.token,
            "seconds": self.seconds,
            "promoted": self.promoted,
            "holder": self.holder,
        }
        return json.dumps(content).encode()


def is_file_name(name: str) -> bool:
    """Whether a graph's file may have this name: it becomes a path, and may not leave its folder."""
    return _FILE.fullmatch(name) is not None and name != NAME


def decode(content: bytes) -> Manifest:
    """The manifest that ``encode`` wrote.

    Raises:
        ManifestError: it is cut short, of another schema, or names what may not be named.
    """
    try:
        fields = json.loads(content)
        _check_schema(fields["schema"])
        return Manifest(
            graph=parse(str(fields["graph"])),
            files=tuple(_file(record) for record in fields["files"]),
            token=int(fields["token"]),
            seconds=float(fields["seconds"]),
            promoted=float(fields["promoted"]),
            holder=str(fields["holder"]),
        )
    except ManifestError:
        raise
    except (GraphNameError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ManifestError(f"{type(error).__name__}: {error}") from error


def _check_schema(schema: object) -> None:
    if schema != SCHEMA:
        raise ManifestError(f"schema {schema!r}, {SCHEMA} is known")


def _file(record: dict[str, Any]) -> FileRecord:
    name, size, digest = record["name"], record["size"], record["digest"]
    if not isinstance(name, str) or not is_file_name(name):
        raise ManifestError(f"not a file of a graph: {name!r}")
    if not isinstance(size, int) or size < 0 or not isinstance(digest, str) or not _DIGEST.fullmatch(digest):
        raise ManifestError(f"{name}: size {size!r}, digest {digest!r}")
    return FileRecord(name, size, digest)
