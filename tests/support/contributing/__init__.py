"""Real, small changes of the kinds that CONTRIBUTING.md lists the files of, as data: one YAML file each.

A change either makes a file (``new``), puts lines ``below`` or ``above`` a line, or puts a text ``with`` in the place
of another (``replace``). ``checks`` are commands that are green with all of it; ``forgotten`` is the file without which
they are red. ``reaches`` are the tests, besides those of the contracts, that another file would be red in which had to
change with it.
"""

import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import yaml

from tests.support.templates import PROJECT_FOLDER

FOLDER: Final = Path(__file__).parent
# Compiled modules are copied too: their sources keep their times, and compiling takes as long as the tests.
_NOT_COPIED: Final = (".*", "node_modules", "dist", "build", "cdk.out*", "*.egg-info")


@dataclass(frozen=True, slots=True)
class Example:
    """One change; ``heading`` is that of its list."""

    heading: str
    changes: tuple[Mapping[str, Any], ...]
    checks: tuple[str, ...]
    forgotten: str
    reaches: tuple[str, ...]

    @property
    def files(self) -> list[str]:
        """Every file that it touches, once, in its order."""
        return list(dict.fromkeys(str(change["file"]) for change in self.changes))

    @property
    def lines(self) -> set[str]:
        """Every line that it puts somewhere."""
        texts = (change.get("new") or change.get("add") or change["with"] for change in self.changes)
        return {line.strip() for text in texts for line in str(text).splitlines()}

    def apply(self, project: Path, without: str = "") -> None:
        """Make the change in ``project``, all but that in one file.

        Raises:
            ValueError: a line or text that the change begins at is not there, or is there twice.
        """
        for change in self.changes:
            if change["file"] != without:
                _apply(project / change["file"], change)


def example(name: str) -> Example:
    """The change in ``name``.yaml."""
    content = yaml.safe_load((FOLDER / f"{name}.yaml").read_text(encoding="utf-8"))
    changes, checks, reaches = (tuple(content[key]) for key in ("changes", "checks", "reaches"))
    return Example(content["heading"], changes, checks, content["forgotten"], reaches)


def copied(folder: Path) -> Path:
    """A copy of the project, to be changed."""
    shutil.copytree(PROJECT_FOLDER, folder, ignore=shutil.ignore_patterns(*_NOT_COPIED))
    return folder


def _apply(file: Path, change: Mapping[str, Any]) -> None:
    if "new" in change:
        if file.exists():
            raise ValueError(f"{file} is there already")
        file.write_text(change["new"], encoding="utf-8")
        return
    text = file.read_text(encoding="utf-8")
    (place,) = {"below", "above", "replace"} & change.keys()
    old = change[place] if place == "replace" else f"{change[place]}\n"
    if text.count(old) != 1:
        raise ValueError(f"{change['file']}: {text.count(old)} times, not once: {change[place]}")
    new = {"below": f"{old}{change.get('add')}", "above": f"{change.get('add')}{old}", "replace": change.get("with")}
    file.write_text(text.replace(old, str(new[place])), encoding="utf-8")
