"""Every command of the two command lines, with what its help says."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import typer
from typer.testing import CliRunner

import agents.main
from cli.main import ENTRIES, app, load


@dataclass(frozen=True)
class Seen:
    """A command or a group: how it is typed, and the object that Typer made of it."""

    words: tuple[str, ...]
    command: Any

    @property
    def name(self) -> str:
        return " ".join(self.words)

    @property
    def is_group(self) -> bool:
        return hasattr(self.command, "commands")

    @property
    def summary(self) -> str:
        """The first paragraph of its help, in one line."""
        return " ".join(str(self.command.help or "").split("\n\n")[0].split())

    @property
    def parameters(self) -> list[Any]:
        return list(self.command.params)

    def takes(self, option: str) -> bool:
        return any(option in parameter.opts for parameter in self.parameters)


@cache
def whole_fleet() -> Any:
    """The `fleet` command with all that is below it, imported."""
    group: Any = typer.main.get_command(app)
    group.commands = {entry.name: load(entry) for entry in ENTRIES}
    return group


@cache
def every() -> tuple[Seen, ...]:
    """All of `fleet` and of `fleet-agent`, groups before what is in them."""
    agent: Any = typer.main.get_command(agents.main.app)
    return tuple(
        each
        for program, group in (("fleet", whole_fleet()), ("fleet-agent", agent))
        for name, command in group.commands.items()
        for each in _below((program, name), command)
    )


def _below(words: tuple[str, ...], command: Any) -> Iterator[Seen]:
    yield Seen(words, command)
    for name, inner in getattr(command, "commands", {}).items():
        yield from _below((*words, name), inner)


def shown(words: tuple[str, ...], width: int) -> str:
    """What ``--help`` of the command prints in a terminal of this width; exit code 0 is asserted."""
    application = agents.main.app if words[0] == "fleet-agent" else app
    answer = CliRunner().invoke(application, [*words[1:], "--help"], env={"COLUMNS": str(width)})
    assert answer.exit_code == 0, answer.output
    return answer.output
