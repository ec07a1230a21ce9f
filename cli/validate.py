"""`fleet validate`: everything that is to be said about an environment file, before anything is deployed."""

from pathlib import Path
from typing import Annotated

import msgspec
import typer

from cli.answers import CONSOLE
from environments import loader
from fleet.diagnostics import Diagnostic


def validate(
    file: Annotated[Path, typer.Argument(help="An environment file, such as environments/prod.yaml.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print the findings as a JSON list.")] = False,
) -> None:
    """Check an environment file. Exit code 1 when it holds an error."""
    diagnostics = loader.diagnose(file)
    if as_json:
        typer.echo(msgspec.json.format(msgspec.json.encode(diagnostics)).decode())
    else:
        _print(file, diagnostics)
    if any(diagnostic.is_error for diagnostic in diagnostics):
        raise typer.Exit(1)


def _print(file: Path, diagnostics: list[Diagnostic]) -> None:
    for diagnostic in diagnostics:
        CONSOLE.print(f"{file}: {diagnostic.severity}: {diagnostic}", markup=False, soft_wrap=True)
    if not any(diagnostic.is_error for diagnostic in diagnostics):
        CONSOLE.print(f"{file}: valid", soft_wrap=True)
