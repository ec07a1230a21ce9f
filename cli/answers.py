"""How the `fleet` command answers: on standard output what was asked for, on standard error one line for a mistake."""

from typing import Final, NoReturn

import msgspec
import typer
from rich.console import Console

# Words of AWS, of compilers and of people's files are told as they stand: brackets in them are no markup, and :key: in
# an ARN is no emoji.
CONSOLE: Final = Console(highlight=False, emoji=False, markup=False)
# For the platform's own words, which have colors.
COLORED: Final = Console(highlight=False, emoji=False)
_ERRORS: Final = Console(stderr=True, highlight=False, emoji=False, soft_wrap=True, markup=False)


def say(line: str) -> None:
    """One line on standard output, however long."""
    CONSOLE.print(line, soft_wrap=True)


def print_json(content: object) -> None:
    """Print ``content``, indented."""
    typer.echo(msgspec.json.format(msgspec.json.encode(content)).decode())


def complain(message: object) -> None:
    """One line on standard error."""
    _ERRORS.print(str(message), style="red")


def refuse(message: object) -> NoReturn:
    """End the command with exit code 1 and ``message``."""
    complain(message)
    raise typer.Exit(1)
