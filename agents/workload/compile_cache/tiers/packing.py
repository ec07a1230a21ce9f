"""A graph as one tar file, as it lies in S3, and back: nothing comes out of it that its manifest does not vouch for."""

import tarfile
from pathlib import Path

from agents.workload.compile_cache.errors import DamagedError
from agents.workload.compile_cache.tiers import content, files
from fleet.compile_cache import manifest as manifests
from fleet.compile_cache.graph import Graph
from fleet.compile_cache.manifest import Manifest


def pack(folder: Path, target: Path) -> None:
    """The files of ``folder`` in the new tar file ``target``. Raises OSError."""
    with tarfile.open(target, "w") as archive:
        for path in sorted(folder.iterdir()):
            archive.add(path, path.name)


def unpack(source: Path, folder: Path, graph: Graph) -> Manifest:
    """The graph's files in the empty ``folder``, all of them as their manifest says.

    Raises:
        DamagedError: the archive is cut short, or holds something else.
        OSError: the disk fails.
    """
    try:
        with tarfile.open(source, "r:") as archive:
            for member in archive:
                if not member.isfile() or not (manifests.is_file_name(member.name) or member.name == manifests.NAME):
                    raise DamagedError(f"{graph}: {member.name!r} in its archive is not a file of a graph")
                archive.extract(member, folder, filter="data")
        manifest = manifests.decode(files.read_small(f"{folder}/{manifests.NAME}", manifests.MOST_BYTES))
        found = {record.name: content.measure(f"{folder}/{record.name}") for record in manifest.files}
    # A header whose numbers make no sense is the latter two.
    except (tarfile.TarError, FileNotFoundError, ValueError, OverflowError) as error:
        raise DamagedError(f"{graph}: its archive is damaged: {error}") from error
    if manifest.graph != graph or found != {record.name: (record.size, record.digest) for record in manifest.files}:
        raise DamagedError(f"{graph}: its archive holds something else than was promoted")
    return manifest
