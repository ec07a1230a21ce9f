"""CONTRIBUTING.md lists the files of each kind of change: a real change in those and no others is green."""

import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path
from typing import Final

import pytest

from tests.support.contributing import FOLDER, copied, example
from tests.support.templates import PROJECT_FOLDER

GUIDE: Final = (PROJECT_FOLDER / "CONTRIBUTING.md").read_text(encoding="utf-8")
# Left out are these tests themselves, those that need the history of versions, thousands of a pager's messages, and
# mistakes that are made on purpose.
CONTRACTS: Final = (
    "tests/contract",
    "--ignore=tests/contract/test_contributing.py",
    "--ignore=tests/contract/test_upgrade_events.py",
    "--ignore=tests/contract/test_pager_storm.py",
    "--ignore=tests/contract/test_mutations.py",
)
GENERATED: Final = ("tests/infra/__snapshots__/", "tests/golden/__snapshots__/", "tests/golden/pages/")
NAMES: Final = sorted(file.stem for file in FOLDER.glob("*.yaml"))


def section(heading: str) -> str:
    (found,) = [part for part in re.split(r"^##+ ", GUIDE, flags=re.MULTILINE) if part.startswith(f"{heading}\n")]
    return found


def test_every_list_of_the_guide_has_an_example() -> None:
    lists = re.split(r"^### ", GUIDE.partition("## How to add")[2], flags=re.MULTILINE)[1:]
    assert {part.splitlines()[0] for part in lists} == {example(name).heading for name in NAMES}
    assert len(NAMES) >= 4


@pytest.mark.parametrize("name", NAMES)
def test_the_list_names_the_files_that_the_example_touches_in_its_order(name: str) -> None:
    made = example(name)
    assert re.findall(r"^\d+\. `([^`]+)`", section(made.heading), re.MULTILINE) == made.files


@pytest.mark.parametrize("name", NAMES)
def test_what_the_guide_shows_of_the_example_is_in_it(name: str) -> None:
    made = example(name)
    (shown,) = re.findall(r"^```diff\n(.*?)^```$", section(made.heading), re.MULTILINE | re.DOTALL)
    added = {line[1:].strip() for line in shown.splitlines() if line.startswith("+")}
    assert added
    assert added <= made.lines


@pytest.mark.soak
@pytest.mark.parametrize("name", NAMES)
def test_the_checks_are_green_with_all_files_and_red_without_one_of_them(name: str, tmp_path: Path) -> None:
    made = example(name)
    assert made.forgotten in made.files
    projects = [copied(tmp_path / "whole"), copied(tmp_path / "forgotten")]
    made.apply(projects[0])
    made.apply(projects[1], without=made.forgotten)

    with ThreadPoolExecutor(2) as both:
        whole, forgotten = both.map(lambda project: first_red(project, made.checks), projects)

    assert whole is None, whole
    assert forgotten is not None, f"nothing notices that {made.forgotten} was forgotten"


@pytest.mark.soak
def test_no_file_beside_those_of_the_lists_has_to_change(tmp_path: Path) -> None:
    # All changes at once: the contracts are the same for each, and take most of the time.
    made, project = [example(name) for name in NAMES], copied(tmp_path / "project")
    for each in made:
        each.apply(project)
    before = digests(project)

    reached = sorted({path for each in made for path in each.reaches})
    tests = f"pytest -q -x --tb=short --snapshot-update {' '.join((*CONTRACTS, *reached))}"
    red = first_red(project, ("ruff check .", "ruff format --check .", tests))

    assert red is None, red
    written = {path for path, digest in digests(project).items() if before.get(path) != digest}
    assert not [path for path in written if not path.startswith(GENERATED)]


def digests(project: Path) -> dict[str, bytes]:
    """Of every file but those that tools keep for themselves."""
    files = {path.relative_to(project).as_posix(): path for path in project.rglob("*") if path.is_file()}
    return {
        name: sha256(path.read_bytes()).digest()
        for name, path in files.items()
        if not name.startswith(".") and "__pycache__" not in path.parts
    }


def first_red(project: Path, checks: tuple[str, ...]) -> str | None:
    """What the first check printed that failed; None when all are green."""
    for check in checks:
        done = subprocess.run(
            [sys.executable, "-m", *check.split()],
            cwd=project,
            env={**os.environ, "PYTHONPATH": str(project), "PYTHONDONTWRITEBYTECODE": ""},
            capture_output=True,
            text=True,
            timeout=420,
            check=False,
        )
        if done.returncode:
            return f"{check}\n{done.stdout[-3000:]}{done.stderr[-3000:]}"
    return None
