"""A document's ```console blocks: its commands in order, what it says that they print, and whether they do.

``$ `` begins a command; the lines below it are its output. ``…`` stands for any text within a line, and alone in a
line for any number of lines. Blocks of another kind are for reading.
"""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

ELIDED: Final = "…"
_LINES_SHOWN: Final = 40
_BLOCK: Final = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Command:
    """One command of the document, at ``line`` of it."""

    line: int
    text: str
    output: tuple[str, ...]


def commands(document: Path) -> list[Command]:
    """Every command of the document.

    Raises:
        ValueError: a block does not begin with a command.
    """
    text = document.read_text(encoding="utf-8")
    found: list[Command] = []
    for block in _BLOCK.finditer(text):
        first = text.count("\n", 0, block.start(1)) + 1
        lines = block[1].splitlines()
        if not lines[0].startswith("$ "):
            raise ValueError(f"{document.name}:{first}: a console block begins with `$ ` and a command")
        starts = [number for number, line in enumerate(lines) if line.startswith("$ ")]
        for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
            found.append(Command(first + start, lines[start][2:], tuple(lines[start + 1 : end])))
    return found


def difference(expected: tuple[str, ...], printed: str) -> str | None:
    """What is not as expected, or None."""
    text = "".join(f"{line.rstrip()}\n" for line in printed.splitlines())
    if re.fullmatch(_pattern(expected), text):
        return None
    # The longest beginning that is right shows where it goes wrong.
    for known in range(len(expected), -1, -1):
        if found := re.match(_pattern(expected[:known]), text):
            wanted = repr(expected[known]) if known < len(expected) else "the end"
            rest = "\n".join(text[found.end() :].splitlines()[:_LINES_SHOWN])
            return f"{wanted} was expected, and printed was:\n{rest}"
    raise AssertionError("no lines are the beginning of any text")


def _pattern(expected: tuple[str, ...]) -> str:
    return "".join(r"(?:.*\n)*?" if line.strip() == ELIDED else _line(line) for line in expected)


def _line(line: str) -> str:
    return ".*".join(re.escape(part) for part in line.rstrip().split(ELIDED)) + r"\n"
