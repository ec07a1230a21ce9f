"""A graph as one tar file, as it lies in S3, and back: nothing comes out of it that its manifest does not vouch for.

``tarfile``'s own extraction is safe from Python 3.11.4 on only, so files are written here: their content, under a name
that was looked at, and nothing else that an archive can ask for (owner, mode, time, link, device).
"""

import os
import shutil
import tarfile
from pathlib import Path
from tarfile import TarInfo
from typing import IO

from fleet.compile_cache import manifest as manifests
from fleet.compile_cache.graph import Graph
from fleet.compile_cache.manifest import Manifest
from workload.compile_cache.tiers import content, files
from workload.errors import DamagedGraphError


def pack(folder: Path, target: Path) -> None:
    """The files of ``folder`` in the new tar file ``target``. Raises OSError."""
    with tarfile.open(target, "w") as archive:
        for path in sorted(folder.iterdir()):
            archive.add(path, path.name)


def unpack(source: Path, folder: Path, graph: Graph) -> Manifest:
    """The graph's files in the empty ``folder``, all of them as their manifest says.

    Raises:
        DamagedGraphError: the archive is cut short, or holds something else.
        OSError: the disk fails.
    """
    try:
        with tarfile.open(source, "r:") as archive:
            for member in archive:
                file = archive.extractfile(member) if _is_plain(member) else None
                if file is None:
                    raise DamagedGraphError(f"{graph}: {member.name!r} in its archive is not a file of a graph")
                _write_out(file, f"{folder}/{member.name}")
        manifest = manifests.decode(files.read_small(f"{folder}/{manifests.NAME}", manifests.MOST_BYTES))
        found = {record.name: content.measure(f"{folder}/{record.name}") for record in manifest.files}
    # FileExistsError: the same name twice. ValueError, OverflowError: numbers that make no sense.
    except (tarfile.TarError, FileExistsError, FileNotFoundError, ValueError, OverflowError) as error:
        raise DamagedGraphError(f"{graph}: its archive is damaged: {error}") from error
    if manifest.graph != graph or found != {record.name: (record.size, record.digest) for record in manifest.files}:
        raise DamagedGraphError(f"{graph}: its archive holds something else than was promoted")
    return manifest


def _is_plain(member: TarInfo) -> bool:
    # A hole may claim any size and costs an archive nothing; a size below zero leads back to the same header.
    is_named = manifests.is_file_name(member.name) or member.name == manifests.NAME
    return is_named and member.isreg() and not member.issparse() and member.size >= 0


def _write_out(file: IO[bytes], path: str) -> None:
    """Raises OSError; FileExistsError when there is a file of that name, or a link."""
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, files.FILE), "wb") as target:
        os.fchmod(target.fileno(), files.FILE)
        shutil.copyfileobj(file, target, content.BLOCK)
