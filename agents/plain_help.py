"""Help that shows a flag as it is typed. The `fleet` command shows its own in the same way."""

from typing import Any

import typer
from typer.core import TyperOption


def without_flag_types(command: Any) -> None:  # noqa: ANN401 - Typer's own classes are private
    """Have the help of ``command``, and of those below it, show ``--json`` and not ``--json <bool>``.

    Typer writes a type behind every option since it brings its own parser; an option's metavar takes that place, and
    may be empty. Behind a flag, a type reads as if a value had to follow.
    """
    plain(command.get_params(typer.Context(command)))
    for inner in getattr(command, "commands", {}).values():
        without_flag_types(inner)


def plain(parameters: list[Any]) -> list[Any]:
    """The same parameters, of which flags show no type."""
    for parameter in parameters:
        if isinstance(parameter, TyperOption) and parameter.is_flag:
            parameter.metavar = ""
    return parameters
