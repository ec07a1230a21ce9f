"""Where everything lies in a store, by key: for savers, readers and the collector.

    files/<attempt>/<rank>-<token>/<path>   what a rank saved; a key is written once and never again
    parts/<attempt>/<rank>.json             a rank's files are all there
    commits/<attempt>.json                  every rank's part is there: only this makes a checkpoint exist
    condemned/<attempt>.json                will be deleted; nobody may choose it any more
    set-aside/<attempt>.json                a person took it out of use; nobody deletes it
    readers/<run>.json                      what a run resumes from
    orders/<run>/<number>.json              at which step all ranks save

An attempt is one step of one run: the parts of a run that was interrupted in the middle of a save and those of the
run that repeats the same step never mix.
"""

import re
from dataclasses import dataclass
from typing import Final

from fleet import FleetError

FILES: Final = "files/"
PARTS: Final = "parts/"
COMMITS: Final = "commits/"
CONDEMNED: Final = "condemned/"
SET_ASIDE: Final = "set-aside/"
READERS: Final = "readers/"
ORDERS: Final = "orders/"
_SUFFIX: Final = ".json"
_RUN: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,119}")
_ATTEMPT: Final = re.compile(rf"(\d{{12}})\.({_RUN.pattern})")
LARGEST_STEP: Final = 10**12 - 1


class RunNameError(FleetError, ValueError):
    """A run's name that cannot be part of a key."""


@dataclass(frozen=True, slots=True, order=True)
class Attempt:
    """One step of one run, saved or about to be."""

    step: int
    run: str

    def __post_init__(self) -> None:
        """Refuse what would make another key than it says."""
        if not 0 <= self.step <= LARGEST_STEP:
            raise ValueError(f"step {self.step} is not between 0 and {LARGEST_STEP}")
        check_run(self.run)

    @property
    def name(self) -> str:
        """As it stands in keys; names sort by step."""
        return f"{self.step:012d}.{self.run}"

    def files(self) -> str:
        """Prefix of all ranks' files."""
        return f"{FILES}{self.name}/"

    def file(self, rank: int, token: str, path: str) -> str:
        """Key of one file of a rank. ``token`` differs each time that the rank saves."""
        return f"{self.files()}{rank:05d}-{token}/{path}"

    def parts(self) -> str:
        """Prefix of the ranks' parts."""
        return f"{PARTS}{self.name}/"

    def part(self, rank: int) -> str:
        """Key of a rank's part."""
        return f"{self.parts()}{rank:05d}{_SUFFIX}"

    def commit(self) -> str:
        """Key of the manifest."""
        return f"{COMMITS}{self.name}{_SUFFIX}"

    def condemned(self) -> str:
        """Key that says that it will be deleted."""
        return f"{CONDEMNED}{self.name}{_SUFFIX}"

    def set_aside(self) -> str:
        """Key that says that a person took it out of use."""
        return f"{SET_ASIDE}{self.name}{_SUFFIX}"


def check_run(run: str) -> None:
    """Refuse a name that is not 1 to 120 letters, digits, dots, dashes and underscores.

    Raises:
        RunNameError: it is not.
    """
    if not _RUN.fullmatch(run):
        raise RunNameError(
            f"run {run[:130]!r}: use 1 to 120 letters, digits, dots, dashes and underscores, and begin with one of the "
            "first two"
        )


def attempt_of(key: str) -> Attempt | None:
    """The attempt that ``key`` belongs to; None for a key that is not of an attempt."""
    rest = key.partition("/")[2]
    found = _ATTEMPT.fullmatch(rest.partition("/")[0].removesuffix(_SUFFIX))
    return Attempt(int(found[1]), found[2]) if found else None


def reader(run: str) -> str:
    """Key of what ``run`` resumes from."""
    check_run(run)
    return f"{READERS}{run}{_SUFFIX}"


def order(run: str, number: int) -> str:
    """Key of a run's order number ``number``, from 0."""
    check_run(run)
    return f"{ORDERS}{run}/{number:06d}{_SUFFIX}"
