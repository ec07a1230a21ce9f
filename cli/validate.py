"""`fleet validate`: everything that is to be said about an environment file, before anything is deployed."""

from collections import Counter
from datetime import UTC, datetime
from typing import Annotated

import typer

from cli.answers import print_json, say
from cli.named import Name, file_of
from environments import loader
from fleet.diagnostics import Diagnostic, Severity


def validate(
    environment: Name,
    as_json: Annotated[bool, typer.Option("--json", help="Print the findings as a JSON list.")] = False,
    on: Annotated[
        datetime | None, typer.Option(formats=["%Y-%m-%d"], help="Judge dates as of this day, in UTC. Default: now.")
    ] = None,
) -> None:
    """Check an environment file: errors, warnings, notes. Exit code 1 when it holds an error."""
    file = file_of(environment)
    diagnostics = loader.diagnose(file, now=_moment(on))
    if as_json:
        print_json(diagnostics)
    else:
        _print(loader.shown(file), diagnostics)
    if any(diagnostic.is_error for diagnostic in diagnostics):
        raise typer.Exit(1)


def _moment(day: datetime | None) -> datetime:
    return day.replace(tzinfo=UTC) if day else datetime.now(UTC)


def _print(file: str, diagnostics: list[Diagnostic]) -> None:
    for diagnostic in diagnostics:
        say(f"{file}: {diagnostic.severity}: {diagnostic} [{diagnostic.code}]")
    found = Counter(diagnostic.severity for diagnostic in diagnostics)
    if errors := found[Severity.ERROR]:
        say(f"{file}: {errors} error{'s' if errors > 1 else ''}")
    else:
        say(f"{file}: valid")
