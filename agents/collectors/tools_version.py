"""The log event's ``neuron_tools_version``: of the package that neuron-monitor came in.

neuron-monitor cannot say its own version, and a package manager would be another child process. So the version is read
where the package managers keep it: dpkg's status file (deb-control(5) paragraphs), and rpm's SQLite database, which
Amazon Linux 2023 has (rpm's ``lib/backend/sqlite.c`` and ``lib/header.c``). It was not tried on a Neuron image.
"""

import struct
from contextlib import closing
from pathlib import Path
from typing import Final

from agents.collectors.collector import Contribution, Request

TOOLS: Final = "aws-neuronx-tools"
# A monitor from elsewhere is not the package's, whatever is installed beside it.
_HOME: Final = Path("/opt/aws/neuron")
_DPKG: Final = "var/lib/dpkg/status"
_RPM: Final = ("var/lib/rpm/rpmdb.sqlite", "usr/lib/sysimage/rpm/rpmdb.sqlite")
_LARGEST_STATUS: Final = 64 * 1024 * 1024
_RPM_VERSION: Final = 1001
_RPM_STRING: Final = 6


class ToolsVersion:
    """Reads a package database once, and again when it has changed. ``root`` is the host's."""

    name = "tools_version"

    def __init__(self, program: Path, root: Path = Path("/")) -> None:
        self._is_packaged = program.is_relative_to(_HOME)
        self._databases = [root / path for path in (_DPKG, *_RPM)]
        self._read_at: list[int] | None = None
        self._version: str | None = None

    def collect(self, request: Request) -> Contribution:
        """The version; nothing where no package database has one."""
        if not self._is_packaged:
            return Contribution()
        changed = [_changed(path) for path in self._databases]
        if changed != self._read_at:
            self._version = next((found for path in self._databases if (found := _version(path, TOOLS))), None)
            self._read_at = changed
        return Contribution(event={"neuron_tools_version": self._version} if self._version else {})


def package_version(root: Path, package: str) -> str | None:
    """The version of ``package`` on the system below ``root``; None where no database that can be read has it."""
    import sqlite3  # noqa: PLC0415 - as in of_rpm

    for path in (_DPKG, *_RPM):
        try:
            found = _version(root / path, package)
        except (OSError, sqlite3.Error):
            continue
        if found:
            return found
    return None


def _changed(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except FileNotFoundError:
        return 0


def _version(path: Path, package: str) -> str | None:
    if not path.exists():
        return None
    return of_rpm(path, package) if path.suffix == ".sqlite" else of_dpkg(path, package)


def of_dpkg(status: Path, package: str = TOOLS) -> str | None:
    """The version in dpkg's status file, if the package is installed."""
    with status.open("rb") as file:
        text = "\n" + file.read(_LARGEST_STATUS).decode("utf-8", "replace")
    _, found, rest = text.partition(f"\nPackage: {package}\n")
    fields = dict(line.split(": ", 1) for line in rest.partition("\n\n")[0].splitlines() if ": " in line)
    return fields.get("Version") if found and fields.get("Status", "").endswith(" installed") else None


def of_rpm(database: Path, package: str = TOOLS) -> str | None:
    """The version in rpm's database.

    Raises:
        sqlite3.Error: it is none, or not of this format.
    """
    import sqlite3  # noqa: PLC0415 - nobody needs it where dpkg is, and minimal Pythons come without it

    # Immutable: no lock files beside it, and no wait for a transaction that is under way.
    with closing(sqlite3.connect(f"{database.as_uri()}?immutable=1", uri=True)) as connection:
        query = "SELECT blob FROM Packages JOIN Name ON Packages.hnum = Name.hnum WHERE Name.key = ? ORDER BY Name.hnum"
        rows = connection.execute(query, (package,)).fetchall()
    return _header_text(rows[-1][0], _RPM_VERSION) if rows else None


def _header_text(header: bytes, wanted: int) -> str | None:
    # Two counts, then 16 bytes for each entry: tag, type, offset into the data behind them, and count.
    try:
        entries, _ = struct.unpack_from(">II", header)
        for tag, kind, offset, _ in struct.iter_unpack(">IIII", header[8 : 8 + 16 * entries]):
            if (tag, kind) == (wanted, _RPM_STRING):
                start = 8 + 16 * entries + offset
                return header[start : header.index(b"\0", start)].decode("utf-8", "replace")
    except (struct.error, ValueError):
        # Cut off: the package is there, and its version cannot be told.
        return None
    return None
