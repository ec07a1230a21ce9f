"""The released versions, each as a folder of its own with the files of its commit."""

import atexit
import io
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
import zipfile
from functools import cache
from pathlib import Path
from typing import Final

import pytest

PROJECT: Final = Path(__file__).parents[3]
LIST: Final = Path(__file__).with_name("releases.toml")
RELEASES: Final[dict[str, str]] = tomllib.loads(LIST.read_text(encoding="utf-8"))
_LIMIT_SECONDS: Final = 120.0


class ReleaseError(RuntimeError):
    """A released version cannot be had or run; one line first."""


@cache
def tree(version: str) -> Path:
    """The files of ``version``, from the history of this clone.

    Raises:
        ReleaseError: the history does not reach back to it.
    """
    commit = RELEASES[version]
    found = subprocess.run(
        ["git", "archive", "--format=zip", commit],
        cwd=PROJECT,
        check=False,
        capture_output=True,
        timeout=_LIMIT_SECONDS,
    )
    if found.returncode:
        said = found.stderr.decode(errors="replace").strip().replace("\n", "; ")
        raise ReleaseError(
            f"{LIST.relative_to(PROJECT)}: commit {commit} of version {version} is not in this clone ({said}): "
            "clone the whole history, or run `git fetch --unshallow`"
        )
    folder = Path(tempfile.mkdtemp(prefix=f"release-{version}-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    with zipfile.ZipFile(io.BytesIO(found.stdout)) as archive:
        archive.extractall(folder)
    return folder


def required(version: str) -> Path:
    """The same for a test: without the history it fails where CI runs it, and is skipped elsewhere."""
    try:
        return tree(version)
    except ReleaseError as error:
        if "CI" in os.environ:
            raise
        pytest.skip(str(error))


def run(version: str, program: Path, *arguments: str) -> str:
    """What ``program``, a file of this tree, prints when it runs on the modules of ``version``.

    Raises:
        ReleaseError: it failed; the message ends with what it said.
    """
    folder = tree(version)
    own = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [sys.executable, "-c", program.read_text(encoding="utf-8"), *arguments],
        cwd=folder,
        check=False,
        env={**own, "PYTHONPATH": str(folder)},
        capture_output=True,
        text=True,
        timeout=_LIMIT_SECONDS,
    )
    if done.returncode:
        raise ReleaseError(f"{program.name} failed on version {version}:\n{done.stderr[-3000:]}")
    return done.stdout
