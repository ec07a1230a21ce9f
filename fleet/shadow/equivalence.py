"""Whether two answers to one request are the same, and how much alike they are where they are not."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Final

from fleet.shadow.requests import Answer

DEFAULT_COSINE: Final = 0.999


@dataclass(frozen=True, slots=True)
class Likeness:
    """``degree``, of the worst pair: of texts the share of words that they begin with alike, of vectors the cosine."""

    is_equal: bool
    degree: float


def alike(recorded: Answer, again: Answer, cosine_limit: float) -> Likeness:
    """Texts are equal letter by letter, vectors from ``cosine_limit`` on; another number of them is another answer."""
    if (len(recorded.texts), len(recorded.vectors)) != (len(again.texts), len(again.vectors)):
        return Likeness(False, 0.0)
    shares = [common_words(one, other) for one, other in zip(recorded.texts, again.texts, strict=True)]
    cosines = [cosine(one, other) for one, other in zip(recorded.vectors, again.vectors, strict=True)]
    is_equal = recorded.texts == again.texts and all(each >= cosine_limit for each in cosines)
    return Likeness(is_equal, min((*shares, *cosines), default=0.0))


def common_words(one: str, other: str) -> float:
    """Words from the beginning on that both have, as a share of the longer text.

    Words and not tokens: an answer does not say which tokens its text was made of.
    """
    ours, theirs = one.split(), other.split()
    same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(ours, theirs, strict=False)))
    longer = max(len(ours), len(theirs))
    return same / longer if longer else 1.0


def cosine(one: Sequence[float], other: Sequence[float]) -> float:
    """Of the angle between them; 0 where they have not the same number of dimensions, or hold what is no number.

    Two vectors of nothing but zeros are alike; one of them is like no other.
    """
    if len(one) != len(other) or not all(map(math.isfinite, (*one, *other))):
        return 0.0
    lengths = math.hypot(*one), math.hypot(*other)
    if not all(lengths):
        return 1.0 if lengths == (0.0, 0.0) else 0.0
    # Each divided first: of large numbers the products would be infinite.
    return max(-1.0, min(1.0, math.fsum((a / lengths[0]) * (b / lengths[1]) for a, b in zip(one, other, strict=True))))
