"""How the `fleet` command answers: on standard output what was asked for, on standard error one line for a mistake."""

from typing import Final, NoReturn

import typer
from rich.console import Console

CONSOLE: Final = Console(highlight=False)
_ERRORS: Final = Console(stderr=True, highlight=False, soft_wrap=True)


def complain(message: object) -> None:
    """One line on standard error."""
    _ERRORS.print(str(message), style="red", markup=False)


def refuse(message: object) -> NoReturn:
    """End the command with exit code 1 and ``message``."""
    complain(message)
    raise typer.Exit(1)
