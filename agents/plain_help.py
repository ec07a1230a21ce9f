"""Help that shows a flag as it is typed. The `fleet` command shows its own in the same way."""

from typing import Any

import typer
from typer.core import TyperGroup, TyperOption


class PlainGroup(TyperGroup):
    """A group whose help, and that of its commands, shows ``--json`` and not ``--json <bool>``.

    Typer writes a type behind every option since it brings its own parser; an option's metavar takes that place, and
    may be empty. Behind a flag, a type reads as if a value had to follow.
    """

    def __init__(self, **options: Any) -> None:  # noqa: ANN401 - as Typer hands them on
        """As Typer makes it, with the commands that it has by then."""
        super().__init__(**options)
        for command in self.commands.values():
            without_flag_types(command)

    def get_params(self, ctx: Any) -> Any:  # noqa: ANN401 - Typer's own classes are private
        """Its options, to which Typer adds those about completion once it is made."""
        return _plain(super().get_params(ctx))


def without_flag_types(command: Any) -> None:  # noqa: ANN401 - Typer's own classes are private
    """Take the types of flags from the help of ``command``, and of those below it."""
    _plain(command.get_params(typer.Context(command)))
    for inner in getattr(command, "commands", {}).values():
        without_flag_types(inner)


def _plain(parameters: list[Any]) -> list[Any]:
    for parameter in parameters:
        if isinstance(parameter, TyperOption) and parameter.is_flag:
            parameter.metavar = ""
    return parameters
