"""``make agent`` and ``make agent-lock``: from downloaded wheels to the archive, or to the lock file."""

import argparse
import hashlib
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from stacks.agent_archive import archive, wheels
from stacks.agent_archive.archive import AgentArchiveError
from stacks.import_closure import ImportClosureError

_MB: Final = 1_000_000
_LOCK_NOTE: Final = (
    "# The wheels of requirements.txt and all that they need, for x86-64 Linux. Made by `make agent-lock`.\n"
)
_SHOWN: Final = 6


def build(downloaded: Path, target: Path) -> str:
    """Write the archive and its checksum beside it; the report says how large it is and why."""
    original = wheels.read(downloaded)
    packed = wheels.slim(original)
    installer = {name: content for name, content in packed.items() if name.startswith("pip-")}
    packages = {name: content for name, content in packed.items() if name not in installer}
    if len(installer) != 1:
        raise AgentArchiveError(f"{downloaded}: holds {len(installer)} wheels of pip, and one is needed")
    content = archive.pack(archive.code(), {**packed, wheels.LOCK: wheels.lock(packages).encode()})
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(content)
    checksum = hashlib.sha256(content).hexdigest()
    target.with_name(target.name + ".sha256").write_text(f"{checksum}  {target.name}\n", encoding="ascii")
    return f"{target}: {len(content) / _MB:.1f} MB, sha256 {checksum}\n{_sizes(original, packed)}"


def _sizes(original: Mapping[str, bytes], packed: Mapping[str, bytes]) -> str:
    before, after = (sum(map(len, group.values())) for group in (original, packed))
    largest = sorted(packed.items(), key=lambda wheel: -len(wheel[1]))[:_SHOWN]
    lines = [f"  {len(content) / _MB:5.1f} MB  {name}" for name, content in largest]
    return "\n".join([f"{len(packed)} wheels, {after / _MB:.1f} MB of {before / _MB:.1f} MB; the largest:", *lines])


def write_lock(downloaded: Path, target: Path) -> str:
    """Write the lock file."""
    target.write_text(_LOCK_NOTE + wheels.lock(wheels.read(downloaded)), encoding="ascii")
    return f"{target}: written"


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(prog="agent_archive", description=__doc__)
    parser.add_argument("what", choices=["build", "lock"])
    parser.add_argument("wheels", type=Path, help="the folder of downloaded wheels")
    parser.add_argument("target", type=Path)
    arguments = parser.parse_args()
    try:
        report = (build if arguments.what == "build" else write_lock)(arguments.wheels, arguments.target)
    except (AgentArchiveError, ImportClosureError, OSError) as error:
        raise SystemExit(str(error)) from error
    sys.stdout.write(report + "\n")


if __name__ == "__main__":
    main()
