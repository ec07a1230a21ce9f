"""Which file system the compile cache is on: on a shared one, other nodes compile into it too."""

import os
from pathlib import Path
from typing import Final

SHARED: Final = frozenset({"nfs", "nfs4", "lustre"})


def file_system(proc: Path, path: Path) -> str:
    """The type of the file system that ``path`` is on; empty where the host does not say."""
    try:
        lines = (proc / "self/mounts").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return ""
    wanted = os.path.realpath(path)
    best, kind = "", ""
    for fields in (line.split() for line in lines):
        if len(fields) > 2:
            mount = fields[1].replace("\\040", " ")
            is_above = wanted == mount or wanted.startswith(mount.rstrip("/") + "/")
            # The last of several mounts on one place is the one that is seen.
            if is_above and len(mount) >= len(best):
                best, kind = mount, fields[2]
    return kind
