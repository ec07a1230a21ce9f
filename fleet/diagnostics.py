"""What is wrong with something that a person wrote, and what would be right: one value for every reader of it.

And what somebody may have meant by a word that nothing is called.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Final

from fleet.string_enum import StringEnum

LONGEST: Final = 600


class Severity(StringEnum):
    """An error refuses, a warning does not, a note informs."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One finding. ``path`` is its place: ``fleets[0].market.kind``; ``code`` is stable, for machines."""

    severity: Severity
    code: str
    path: str
    value: str
    message: str
    fix: str = ""

    @property
    def is_error(self) -> bool:
        """Whether it refuses."""
        return self.severity is Severity.ERROR

    def __str__(self) -> str:
        """One line: path, what is wrong, what would be right."""
        return ": ".join(part for part in (self.path, "; ".join(filter(None, (self.message, self.fix)))) if part)

    def under(self, prefix: str) -> "Diagnostic":
        """The same finding, seen from the file that ``prefix`` lies in."""
        return replace(self, path=f"{prefix}.{self.path}" if self.path else prefix)


def refuse(code: str, path: str, value: object, message: str, fix: str = "") -> Diagnostic:
    """An error: it cannot be built, or would never work."""
    return _made(Severity.ERROR, code, path, value, message, fix)


def warn(code: str, path: str, value: object, message: str, fix: str) -> Diagnostic:
    """A warning: it can be built, and is seldom what somebody wants. What depends on today's date is never more."""
    return _made(Severity.WARNING, code, path, value, message, fix)


def note(code: str, path: str, value: object, message: str, fix: str = "") -> Diagnostic:
    """A note."""
    return _made(Severity.NOTE, code, path, value, message, fix)


def _made(severity: Severity, code: str, path: str, value: object, message: str, fix: str) -> Diagnostic:
    # They quote what somebody wrote, which may hold anything, and are printed on one line and as JSON.
    return Diagnostic(severity, code, _line(path), _line(str(value)), _line(message), _line(fix))


def _line(text: str) -> str:
    if not text.isprintable():
        text = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


DID_YOU_MEAN: Final = "did you mean "
_SHORT: Final = 3


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The known word that is most like ``word``, whatever its capitals; None when none is like it."""
    by_small = {each.lower(): each for each in known}
    # Of a word with two or three letters one that is right must do.
    close = get_close_matches(word.lower(), list(by_small), n=1, cutoff=0.5 if len(word) <= _SHORT else 0.6)
    return by_small[close[0]] if close else None


def did_you_mean(word: str, known: Iterable[str], otherwise: str = "") -> str:
    """A question about the nearest of ``known``; without one ``otherwise``, or all that are known."""
    names = list(known)
    close = nearest(word, names)
    if close is not None:
        return f"{DID_YOU_MEAN}{close}?"
    return otherwise or f"known: {', '.join(names) or 'none'}"


def with_known(word: str, known: Iterable[str]) -> str:
    """The nearest of ``known``, if one is near, and all of them."""
    names = list(known)
    close = nearest(word, names)
    every = f"known: {', '.join(names) or 'none'}"
    return f"{DID_YOU_MEAN}{close}? {every}" if close is not None else every
