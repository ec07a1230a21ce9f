"""The environment that a command is about, and its end where that or AWS's answers are not as they must be."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Final

import typer

from cli.account import AwsError
from cli.answers import refuse
from environments import loader
from environments.model import Environment

NAME_HELP: Final = "An environment, such as prod, or its file."
Name = Annotated[str, typer.Argument(help=NAME_HELP)]


def file_of(name: str) -> Path:
    """The file of an environment, whether its name was typed or its path; none ends the command with one line."""
    try:
        return loader.locate(name)
    except loader.EnvironmentFileError as error:
        refuse(error)


@contextmanager
def answering(environment: str) -> Iterator[Environment]:
    """The environment; what is wrong with it or with AWS's answers ends the command with its line."""
    try:
        yield loader.load(environment)
    except (AwsError, loader.EnvironmentFileError) as error:
        refuse(error)
