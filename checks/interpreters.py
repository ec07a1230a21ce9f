"""``python -m checks.interpreters``: quick tests on the oldest and the newest Pythons of this machine.

Each has its own environment in ``build/pythons``, made by the pip that nodes are installed with, run out of its wheel:
the one that came with an interpreter may be missing, and an old one does not run on a new interpreter.
"""

import hashlib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from checks.pythons import ROOT, Version, written

PLACE = ROOT / "build/pythons"
SECONDS = 600
# What synthesis, the linters and the browser need: their tests run on the Python of `make test`.
HEAVY = ("aws-cdk", "constructs", "cdk-nag", "nodejs", "ministack", "cfn-lint", "playwright", "mypy", "ruff", "types-",
         "boto3-stubs", "duckdb")  # fmt: skip
WORKLOAD = "tests/unit/workload"
OF_CONTAINERS = (
    f"{WORKLOAD}/compile_cache/test_packing.py",
    f"{WORKLOAD}/compile_cache/test_cold_tier.py",
    f"{WORKLOAD}/serving/test_health.py",
    f"{WORKLOAD}/serving/test_watch.py",
    f"{WORKLOAD}/serving/shadow/test_application.py",
    f"{WORKLOAD}/serving/shadow/test_replay.py",
    "tests/unit/fleet/checkpoints",
    "tests/unit/fleet/compile_cache",
    "tests/unit/fleet/prices",
    "tests/unit/fleet/shadow",
    "tests/unit/fleet/test_every_module.py",
    "tests/unit/fleet/test_node_state.py",
)
OF_ALL = (
    *OF_CONTAINERS,
    "tests/unit/agents/minute",
    "tests/unit/agents/monitor",
    "tests/unit/lambdas/pager",
    "tests/unit/lambdas/capacity_watch",
    "tests/unit/fleet/ledger",
)


class Run(NamedTuple):
    """Tests on one minor version: whoever has none is told how to come to one."""

    minor: str
    requirements: tuple[str, ...]
    tests: tuple[str, ...]
    install: str


RUNS = (
    Run("3.10", ("pytest", "pytest-xdist", "hypothesis", "boto3", "typer"), OF_CONTAINERS, "pyenv install 3.10"),
    Run("3.11", (), OF_ALL, "apt-get install python3.11 python3.11-venv"),
    Run("3.14", (), OF_ALL, ".ci/newest-python"),
)


def find(minor: str) -> tuple[Version, Path] | None:
    """The oldest patch release of a Python on this machine."""
    places = [Path(folder) / f"python{minor}" for folder in os.environ["PATH"].split(":")]
    places += [Path(f"/usr/bin/python{minor}"), *Path.home().glob(f".pyenv/versions/{minor}.*/bin/python{minor}")]
    found = [answer for place in places if place.exists() and (answer := _asked(place)) is not None]
    return min(found) if found else None


def _asked(python: Path) -> tuple[Version, Path] | None:
    # An environment takes the folder of the program for its home, so a link or a shim to it will not do.
    told: list[str | Path] = [
        python,
        "-c",
        "import os, sys; print(*sys.version_info[:3], os.path.realpath(sys.executable))",
    ]
    done = subprocess.run(told, capture_output=True, text=True, timeout=30, check=False)
    # A shim of a Python that is not chosen here fails.
    if done.returncode != 0:
        return None
    *numbers, path = done.stdout.split(maxsplit=3)
    return tuple(map(int, numbers)), Path(path.strip())


def requirements() -> list[str]:
    """All that is not heavy, as pinned."""
    files = ("requirements.txt", "requirements-synth.txt", "requirements-local.txt", "requirements-dev.txt")
    lines = [line for file in files for line in (ROOT / file).read_text().splitlines()]
    return [line for line in lines if re.match(r"[A-Za-z]", line) and not line.startswith(HEAVY)]


def environment(python: Path, version: Version, packages: list[str], *, pinned: bool) -> Path:
    """The interpreter of an environment with these packages, made if it is not there."""
    constraints = ["-c", str(ROOT / "constraints.txt")] if pinned else []
    lock = (ROOT / "constraints.txt").read_text() if pinned else ""
    mark = hashlib.sha256("\n".join([*packages, str(python), lock]).encode()).hexdigest()[:12]
    folder = PLACE / f"{written(version)}-{mark}"
    inside = folder / "bin/python"
    if not (folder / "complete").exists():
        shutil.rmtree(folder, ignore_errors=True)
        subprocess.run([python, "-m", "venv", "--without-pip", folder], check=True, timeout=SECONDS)
        pip: list[str | Path] = [inside, _installer() / "pip", "--quiet", "--disable-pip-version-check", "install"]
        subprocess.run([*pip, "--no-compile", *constraints, *packages], check=True, timeout=SECONDS)
        (folder / "complete").touch()
    return inside


def _installer() -> Path:
    """The wheel of the pinned pip."""
    folder = PLACE / "pip"
    lock = ROOT / "agents/packaging/installer.lock"
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    # An older one of an earlier lock would be a second.
    shutil.rmtree(folder, ignore_errors=True)
    download: list[str | Path] = [*pip, "download", "--no-deps", "--require-hashes", "--dest", folder, "-r", lock]
    subprocess.run(download, check=True, timeout=SECONDS)
    (wheel,) = folder.glob("pip-*.whl")
    return wheel


def attempt(run: Run) -> str | None:
    """What is wrong; None when its tests pass."""
    there = find(run.minor)
    if there is None:
        return f"no Python {run.minor} on this machine: {run.install}"
    version, python = there
    inside = environment(python, version, list(run.requirements) or requirements(), pinned=not run.requirements)
    print(f"Python {written(version)}", flush=True)
    done = subprocess.run([inside, "-m", "pytest", "-n", "2", *run.tests], cwd=ROOT, timeout=SECONDS, check=False)
    return None if done.returncode == 0 else f"Python {written(version)}: the tests fail"


def main() -> int:
    """The exit status: 1 when tests fail, or in continuous integration when a Python is missing."""
    found = [problem for run in RUNS if (problem := attempt(run)) is not None]
    for problem in found:
        print(problem)
    is_lenient = os.environ.get("CI") != "true" and all(problem.startswith("no ") for problem in found)
    return 0 if is_lenient or not found else 1


if __name__ == "__main__":
    sys.exit(main())
