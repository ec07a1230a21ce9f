"""`fleet validate`: everything that is to be said about an environment file, before anything is deployed."""

from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from cli.answers import print_json, say
from environments import loader
from fleet.diagnostics import Diagnostic, Severity


def validate(
    file: Annotated[Path, typer.Argument(help="An environment file, such as environments/prod.yaml.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print the findings as a JSON list.")] = False,
    on: Annotated[
        datetime | None, typer.Option(formats=["%Y-%m-%d"], help="Judge dates as of this day, in UTC. Default: now.")
    ] = None,
) -> None:
    """Check an environment file: errors, warnings, notes. Exit code 1 when it holds an error."""
    diagnostics = loader.diagnose(file, now=_moment(on))
    if as_json:
        print_json(diagnostics)
    else:
        _print(file, diagnostics)
    if any(diagnostic.is_error for diagnostic in diagnostics):
        raise typer.Exit(1)


def _moment(day: datetime | None) -> datetime:
    return day.replace(tzinfo=UTC) if day else datetime.now(UTC)


def _print(file: Path, diagnostics: list[Diagnostic]) -> None:
    for diagnostic in diagnostics:
        say(f"{file}: {diagnostic.severity}: {diagnostic} [{diagnostic.code}]")
    found = Counter(diagnostic.severity for diagnostic in diagnostics)
    if errors := found[Severity.ERROR]:
        say(f"{file}: {errors} error{'s' if errors > 1 else ''}")
    else:
        say(f"{file}: valid")
