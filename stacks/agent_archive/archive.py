"""The archive's format: the code that a node runs and no more, wheels of its dependencies, and a manifest.

A zip, because Python can unpack one and a node that runs its user data has Python: cloud-init is written in it. The
same inputs give the same bytes: sorted names, one date, one mode.
"""

import hashlib
import io
import json
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from stacks.import_closure import files_of

ROOT: Final = Path(__file__).resolve().parents[2]
# Relative to the project's folder; other tools of the project name it too.
ARCHIVE: Final = "dist/neuron-fleet-agent.zip"
MANIFEST: Final = "manifest.json"
WHEELS: Final = "wheels"
_PACKAGES: Final = ("agents", "fleet", "workload")
# What units and scripts start, and the command with which people look after a node's compiled graphs. What jobs and
# endpoints import comes with their images.
ENTRIES: Final = ("agents.main", "workload.compile_cache.__main__")
# What the scripts that put the agent onto a node read; they lie in the folder beside the lock file.
_PACKAGING: Final = "agents/packaging"
_LOCK: Final = "agents/requirements.lock"
_LEFT_OUT: Final = frozenset({".pyc", ".swp", ".orig"})
# The earliest date that a zip can hold.
_DATE: Final = (1980, 1, 1, 0, 0, 0)
_MODE: Final = 0o644


class AgentArchiveError(ValueError):
    """The archive cannot be used; the message names it, what is wrong and what to do."""


@dataclass(frozen=True, slots=True)
class Code:
    """Files by their path in the archive. ``digest`` identifies them: what is installed, however it was packed."""

    files: Mapping[str, bytes]

    @property
    def digest(self) -> str:
        """SHA-256 over names, lengths and contents."""
        total = hashlib.sha256()
        for name, content in sorted(self.files.items()):
            total.update(f"{name}\0{len(content)}\0".encode())
            total.update(content)
        return total.hexdigest()


def code(root: Path = ROOT) -> Code:
    """What a node runs and reads, as it is in the project's folder now.

    Raises:
        ImportClosureError: a module that the agent imports is not there.
    """
    beside = {path.relative_to(root).as_posix(): path.read_bytes() for path in _packaging(root)}
    return Code(files_of(ENTRIES, _PACKAGES, root) | beside)


def _packaging(root: Path) -> Iterator[Path]:
    yield root / _LOCK
    for path in (root / _PACKAGING).iterdir():
        if path.is_file() and not path.name.startswith(".") and path.suffix not in _LEFT_OUT:
            yield path


def pack(code: Code, wheels: Mapping[str, bytes] | None = None) -> bytes:
    """The archive. Without ``wheels`` a node takes its packages from the index."""
    manifest = {"content": code.digest, "wheels": sorted(wheels or {})}
    entries = {
        **code.files,
        MANIFEST: (json.dumps(manifest, indent=1) + "\n").encode(),
        **{f"{WHEELS}/{name}": content for name, content in (wheels or {}).items()},
    }
    return zipped(entries)


def zipped(entries: Mapping[str, bytes]) -> bytes:
    """A zip of ``entries`` that depends on nothing else."""
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        for name, content in sorted(entries.items()):
            entry = zipfile.ZipInfo(name, _DATE)
            entry.external_attr = _MODE << 16
            # A wheel is a zip already.
            entry.compress_type = zipfile.ZIP_STORED if name.endswith(".whl") else zipfile.ZIP_DEFLATED
            archive.writestr(entry, content, compresslevel=9)
    return target.getvalue()


def checked(path: Path, root: Path = ROOT) -> bytes:
    """The archive in ``path``, if it is of the code that is here now.

    Raises:
        AgentArchiveError: it was made of other code, or is no archive of the agent.
    """
    content = path.read_bytes()
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            made_of = json.loads(archive.read(MANIFEST))["content"]
    except (zipfile.BadZipFile, KeyError, TypeError, ValueError) as error:
        raise AgentArchiveError(f"{path}: not an archive of the agent ({error}); run `make agent`") from error
    if made_of != code(root).digest:
        raise AgentArchiveError(f"{path}: made of other code than is here now; run `make agent`")
    return content
