"""Unit files of systemd, as far as the node's units use them."""

import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_SECTION: Final = "[Service]"
_FOLDERS: Final = ("usr/lib/systemd/system", "etc/systemd/system")


class NoUnitError(ValueError):
    """There is no such unit; the message names it."""


@dataclass(frozen=True, slots=True)
class Unit:
    """What a unit's ``[Service]`` sections say, the unit's own before its drop-ins'; ``text`` is all of them."""

    name: str
    settings: Mapping[str, tuple[str, ...]]
    text: str

    def last(self, name: str, default: str = "") -> str:
        """The value that holds of a setting that can be given once."""
        return self.settings.get(name, (default,))[-1]

    def commands(self, name: str) -> list[list[str]]:
        """ExecStartPre or ExecStart, as arguments."""
        return [shlex.split(value) for value in self.settings.get(name, ())]

    def environment(self, root: Path) -> dict[str, str]:
        """From its files below ``root``, and its own lines."""
        pairs = [pair for line in self.settings.get("Environment", ()) for pair in shlex.split(line)]
        files = [root / name.lstrip("/") for name in self.settings.get("EnvironmentFile", ())]
        lines = [line for file in files for line in file.read_text(encoding="utf-8").splitlines() if "=" in line]
        return dict(pair.split("=", 1) for pair in (*pairs, *lines))


def load(root: Path, name: str) -> Unit:
    """The unit of this name, with its drop-ins, of the system below ``root``.

    Raises:
        NoUnitError: there is none.
    """
    own = [root / folder / name for folder in _FOLDERS]
    if not any(path.is_file() for path in own):
        raise NoUnitError(f"Unit {name} not found.")
    added = [path for folder in _FOLDERS for path in sorted((root / folder / f"{name}.d").glob("*.conf"))]
    found = [path for path in (*own, *added) if path.is_file()]
    text = "".join(f"# {path}\n{path.read_text(encoding='utf-8')}\n" for path in found)
    settings: dict[str, tuple[str, ...]] = {}
    for key, value in _service(text):
        settings[key] = (*settings.get(key, ()), value)
    return Unit(name, settings, text)


def _service(text: str) -> Iterator[tuple[str, str]]:
    section = ""
    for line in text.splitlines():
        if line.startswith("["):
            section = line.strip()
        elif section == _SECTION and "=" in line and not line.startswith("#"):
            key, _, value = line.partition("=")
            yield key.strip(), value.strip()
