"""What somebody may have meant by a word that nothing is called."""

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Final

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
