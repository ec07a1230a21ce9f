"""The agent's dependencies: the lock file, and wheels without what the agent never reads.

botocore describes every service of AWS, 22 of 23 MB of it never used by the agent, so its wheel is repacked with the
few services that are. A repacked wheel has a build number in its name and another hash; the archive carries a lock
file of its own with the hashes of what it holds.
"""

import base64
import csv
import hashlib
import io
import re
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from stacks.agent_archive.archive import AgentArchiveError, zipped

LOCK: Final = "requirements.lock"
# What the sinks and the compile cache call, and what credentials by web identity or an assumed role need.
SERVICES: Final = frozenset({"cloudwatch", "dynamodb", "logs", "s3", "sts"})
_DATA: Final = "botocore/data/"
_BUILD: Final = "1agent"
_WHEEL: Final = re.compile(r"(?P<name>[^-]+)-(?P<version>[^-]+)(-\d[^-]*)?-[^-]+-[^-]+-[^-]+\.whl")


def read(folder: Path) -> dict[str, bytes]:
    """The wheels of ``folder``, by name.

    Raises:
        AgentArchiveError: there is none, or a file is not a wheel.
    """
    wheels = {path.name: path.read_bytes() for path in sorted(folder.iterdir())} if folder.is_dir() else {}
    if not wheels:
        raise AgentArchiveError(f"{folder}: holds no wheels")
    for name in wheels:
        _identity(name)
    return wheels


def lock(wheels: Mapping[str, bytes]) -> str:
    """A requirements file that allows exactly these wheels."""
    hashes: dict[str, list[str]] = {}
    for name, content in wheels.items():
        hashes.setdefault(_identity(name), []).append(hashlib.sha256(content).hexdigest())
    return "".join(
        " \\\n".join([package, *(f"    --hash=sha256:{value}" for value in sorted(values))]) + "\n"
        for package, values in sorted(hashes.items())
    )


def slim(wheels: Mapping[str, bytes]) -> dict[str, bytes]:
    """The same wheels, botocore's with ``SERVICES`` only."""
    slimmed = {}
    for name, content in wheels.items():
        if name.startswith("botocore-"):
            package, version, rest = name.split("-", 2)
            slimmed[f"{package}-{version}-{_BUILD}-{rest}"] = _without_services(content)
        else:
            slimmed[name] = content
    return slimmed


def _without_services(wheel: bytes) -> bytes:
    with zipfile.ZipFile(io.BytesIO(wheel)) as archive:
        names = [name for name in archive.namelist() if not name.endswith("/") and _is_kept(name)]
        files = {name: archive.read(name) for name in names}
    (record,) = (name for name in files if name.endswith(".dist-info/RECORD"))
    files[record] = _record(files, record)
    return zipped(files)


def _is_kept(name: str) -> bool:
    service, slash, _ = name.removeprefix(_DATA).partition("/")
    return not name.startswith(_DATA) or not slash or service in SERVICES


def _record(files: Mapping[str, bytes], record: str) -> bytes:
    # PEP 376: path, hash and size of each file but the record itself.
    target = io.StringIO()
    rows = csv.writer(target, lineterminator="\n")
    for name, content in sorted(files.items()):
        if name != record:
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
            rows.writerow([name, f"sha256={digest}", len(content)])
    rows.writerow([record, "", ""])
    return target.getvalue().encode()


def _identity(name: str) -> str:
    match = _WHEEL.fullmatch(name)
    if match is None:
        raise AgentArchiveError(f"{name}: not a wheel")
    return f"{match['name'].lower().replace('_', '-').replace('.', '-')}=={match['version']}"


def pinned(lines: Iterable[str]) -> dict[str, str]:
    """Versions by package, of the lines of a requirements or a lock file."""
    pins = (line.split(";")[0].rstrip(" \\\n").partition("==") for line in lines if "==" in line)
    return {name.strip().lower().replace("_", "-"): version.strip() for name, _, version in pins}
