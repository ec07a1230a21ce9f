"""What a page or a runbook tells somebody to type is a command of ``fleet``, with arguments and options that it has."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.core import TyperArgument, TyperGroup

from tests.golden.page_cases import waking_alarms
from tests.support.command_tree import whole_fleet

ROOT = Path(__file__).parents[2]
RUNBOOKS = sorted((ROOT / "docs/runbooks").glob("*.md"))
FLEET = whole_fleet()
# A line of a block, or a command between backticks; of both what comes after a pipe or a comment is somebody else's.
_LINE = re.compile(r"^ *(?:\$ )?(fleet [^|#>\n]+)", flags=re.MULTILINE)
_QUOTED = re.compile(r"`(fleet [^`|\n]+)`")
_MAKE = re.compile(r"(?:^ *(?:\$ )?|`)make ((?:[a-z][a-z-]*\b ?)+)", flags=re.MULTILINE)
_BLOCK = re.compile(r"^ *```.*?^ *```$", flags=re.MULTILINE | re.DOTALL)
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])
MAKE_TARGETS = set(re.findall(r"^([a-z][\w-]*):", (ROOT / "Makefile").read_text(encoding="utf-8"), flags=re.MULTILINE))


def commands(text: str) -> list[tuple[str, bool]]:
    """Each ``fleet`` command of a text, and whether it is a whole one: prose may name a command without arguments."""
    text = text.replace("\\\n", " ")
    lines = [(line, True) for block in _BLOCK.findall(text) for line in _LINE.findall(block)]
    quoted = [(command, False) for command in _QUOTED.findall(_BLOCK.sub("", text))]
    # Brackets are around what may be left out. A figure in backticks that quotes a message of a fleet has a colon
    # after the fleet's name.
    found = ((re.sub(r"[\[\]]", "", command).strip(), whole) for command, whole in (*lines, *quoted))
    return [(command, whole) for command, whole in found if ":" not in command.split()[1]]


def _typed(text: str) -> Iterator[str]:
    """The lines of ``text``'s blocks, without comments, and what stands between its backticks."""
    for block in _BLOCK.findall(text):
        yield from (line.partition("#")[0] for line in block.splitlines())
    yield from (f"`{quoted}`" for quoted in re.findall(r"`([^`\n]+)`", _BLOCK.sub("", text)))


def mistake(typed: str, *, whole: bool) -> str | None:
    """What ``fleet`` would refuse about ``typed``; None for nothing."""
    words, command = shlex.split(typed)[1:], FLEET
    while isinstance(command, TyperGroup) and words and not words[0].startswith("-"):
        known = command.commands.get(words.pop(0))
        if known is None:
            return f"{typed}: no such command"
        command = known
    if isinstance(command, TyperGroup):
        asks = any(word in {"--help", "--version"} for word in words)
        return f"{typed}: names a group and no command of it" if whole and not asks else None
    options = {name: each for each in command.params for name in (*each.opts, *each.secondary_opts)}
    given = list(_positional(words, options))
    if None in given:
        return f"{typed}: no such option"
    arguments = [each for each in command.params if isinstance(each, TyperArgument)]
    needed = sum(each.required for each in arguments)
    if len(given) < needed and (whole or given):
        return f"{typed}: {needed} arguments are needed"
    if len(given) > len(arguments) and all(each.nargs != -1 for each in arguments):
        return f"{typed}: {len(arguments)} arguments are taken"
    return None


def _positional(words: list[str], options: dict[str, Any]) -> Iterator[str | None]:
    """The words that are arguments; None for an option that the command does not have."""
    left = iter(words)
    for word in left:
        if word == "--":
            yield from left
        elif not word.startswith("--"):
            yield from () if word == "..." else (word,)
        elif (option := options.get(word.partition("=")[0])) is None:
            yield None
        elif "=" not in word and not getattr(option, "is_flag", False):
            next(left, None)


@pytest.mark.parametrize("runbook", RUNBOOKS, ids=lambda path: path.stem)
def test_every_command_of_a_runbook_exists(runbook: Path) -> None:
    found = [mistake(typed, whole=whole) for typed, whole in commands(runbook.read_text(encoding="utf-8"))]

    assert [each for each in found if each] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.stem)
def test_every_command_of_the_documentation_exists(page: Path) -> None:
    found = [mistake(typed, whole=whole) for typed, whole in commands(page.read_text(encoding="utf-8"))]

    assert [each for each in found if each] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.stem)
def test_every_target_of_make_in_the_documentation_exists(page: Path) -> None:
    lines = page.read_text(encoding="utf-8")
    named = {word for words in _MAKE.findall("\n".join(_typed(lines))) for word in words.split()}

    assert named - MAKE_TARGETS == set()


def test_every_first_command_of_a_page_exists() -> None:
    typed = [spec.first_command for spec in waking_alarms().values() if spec.first_command]
    own = [each for each in typed if each.startswith("fleet ")]

    assert own
    assert [mistake(each, whole=True) for each in own if mistake(each, whole=True)] == []


def test_every_command_that_an_alarm_names_exists() -> None:
    named = [typed for spec in waking_alarms().values() for typed, _ in commands(spec.action)]
    found = [mistake(typed, whole=False) for typed in named]

    assert [each for each in found if each] == []


def test_the_runbooks_name_commands_at_all() -> None:
    assert sum(len(commands(path.read_text(encoding="utf-8"))) for path in RUNBOOKS) > 40


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("fleet rolout status prod chat", "no such command"),
        ("fleet rollout restart prod chat", "no such command"),
        ("fleet rollout status prod chat --verbose", "no such option"),
        ("fleet rollout status prod", "2 arguments are needed"),
        ("fleet rollout status prod chat 5", "2 arguments are taken"),
        ("fleet rollout", "names a group"),
    ],
)
def test_a_command_that_does_not_exist_is_found(typed: str, said: str) -> None:
    assert said in (mistake(typed, whole=True) or "")
