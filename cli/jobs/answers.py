"""How the `fleet jobs` commands answer."""

from collections.abc import Sequence
from pathlib import Path

import msgspec
import typer

from cli.answers import CONSOLE, complain
from fleet.diagnostics import Diagnostic


def as_json(content: object) -> None:
    """Print ``content``, indented."""
    typer.echo(msgspec.json.format(msgspec.json.encode(content)).decode())


def say_findings(file: Path, findings: Sequence[Diagnostic]) -> None:
    """One line for each: errors on standard error, the others on standard output."""
    for finding in findings:
        line = f"{file}: {finding.severity}: {finding} [{finding.code}]"
        if finding.is_error:
            complain(line)
        else:
            CONSOLE.print(line, markup=False, soft_wrap=True)
