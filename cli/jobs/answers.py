"""How the `fleet jobs` commands are asked and answer."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from cli.answers import complain, say
from fleet.diagnostics import Diagnostic

Wanted = Annotated[str, typer.Argument(help="A job's id, its name as submitted, or its name in the job file.")]


def say_findings(file: Path, findings: Sequence[Diagnostic]) -> None:
    """One line for each: errors on standard error, the others on standard output."""
    for finding in findings:
        line = f"{file}: {finding.severity}: {finding} [{finding.code}]"
        if finding.is_error:
            complain(line)
        else:
            say(line)
