"""How the `fleet jobs` commands are asked and answer."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from cli.answers import complain, refuse, say
from cli.jobs.account import AwsError
from environments import loader
from environments.model import Environment
from fleet.diagnostics import Diagnostic

Name = Annotated[str, typer.Argument(help="An environment, such as prod, or its file.")]
Wanted = Annotated[str, typer.Argument(help="A job's id, its name as submitted, or its name in the job file.")]


def environment_of(name: str) -> Environment:
    """One of the project's environments, or the one in a file, as ``fleet doctor`` takes it.

    Raises:
        EnvironmentFileError: there is none, or it has a mistake.
    """
    return loader.load_file(Path(name)) if name.endswith(".yaml") else loader.load(name)


@contextmanager
def answering(environment: str) -> Iterator[Environment]:
    """The environment; what is wrong with it or with AWS's answers ends the command with its line."""
    try:
        yield environment_of(environment)
    except (AwsError, loader.EnvironmentFileError) as error:
        refuse(error)


def say_findings(file: Path, findings: Sequence[Diagnostic]) -> None:
    """One line for each: errors on standard error, the others on standard output."""
    for finding in findings:
        line = f"{file}: {finding.severity}: {finding} [{finding.code}]"
        if finding.is_error:
            complain(line)
        else:
            say(line)
