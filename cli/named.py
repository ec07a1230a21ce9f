"""The environment that a command is about, and its end where that or AWS's answers are not as they must be."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Annotated, Final, TypeVar

import typer

from cli.account import AwsError
from cli.answers import refuse
from cli.progress import waiting
from environments import loader
from environments.meant import unknown_region
from environments.model import Environment
from fleet.diagnostics import with_known
from fleet.regions import REGIONS

F = TypeVar("F")
NAME_HELP: Final = "An environment, such as prod, or its file."


def known_names() -> list[str]:
    """What a shell offers where an environment is to be typed."""
    return list(loader.available())


Name = Annotated[str, typer.Argument(help=NAME_HELP, autocompletion=known_names)]


def file_of(name: str) -> Path:
    """The file of an environment, whether its name was typed or its path; none ends the command with one line."""
    try:
        return loader.locate(name)
    except loader.EnvironmentFileError as error:
        refuse(error)


def fleet_among(name: str, fleets: Mapping[str, F], what: str) -> F:
    """The fleet called ``name``; another ends the command with one line that says ``what`` it is not one of."""
    if name not in fleets:
        refuse(f"{name} is no {what}; {with_known(name, fleets)}")
    return fleets[name]


def known_region(region: str | None) -> str | None:
    """``region``, as the callback of an option; one that EC2 does not have ends the command with one line."""
    if region is not None and region not in REGIONS:
        refuse(unknown_region("--region", region))
    return region


@contextmanager
def answering(environment: str, doing: str = "") -> Iterator[Environment]:
    """The environment; what is wrong with it or with AWS's answers ends the command with its line.

    ``doing`` is what people read when it takes long; then nothing is printed or asked within.
    """
    try:
        named = loader.load(environment)
        with waiting(doing) if doing else nullcontext():
            yield named
    except (AwsError, loader.EnvironmentFileError) as error:
        refuse(error)
