"""The environment that a command is about, and its end where that or AWS's answers are not as they must be."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from cli.account import AwsError
from cli.answers import refuse
from environments import loader
from environments.model import Environment


def known_names() -> list[str]:
    """What a shell offers where an environment is to be typed."""
    return list(loader.available())


Name = Annotated[str, typer.Argument(help="An environment, such as prod, or its file.", autocompletion=known_names)]


def environment_of(name: str) -> Environment:
    """One of the project's environments, or the one in a file.

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
