"""A candidate's answers beside the recorded ones: which are the same, how much alike others are, and how long all took.

Counts, latencies, and the worst by their ids. No prompts.
"""

import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from itertools import takewhile
from typing import Final

from fleet.serving.measurement import percentile
from fleet.shadow.requests import Answer
from fleet.shadow.sample import Left, Sample

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


WORST: Final = 5


@dataclass(frozen=True, slots=True)
class Replayed:
    """A sample and what the candidate answered; None: it failed. ``seconds`` as the server has measured both."""

    sample: Sample
    answer: Answer | None
    seconds: float


@dataclass(frozen=True, slots=True)
class Different:
    """A request whose answers differ; its id stands in the load balancer's access log. ``degree``: see ``Likeness``."""

    request_id: str
    path: str
    degree: float


@dataclass(frozen=True, slots=True)
class Latency:
    """Seconds, of the same requests; the recorded ones and the candidate's."""

    recorded_p50: float
    recorded_p99: float
    candidate_p50: float
    candidate_p99: float


@dataclass(frozen=True, slots=True)
class Comparison:
    """The report of one task. ``version`` is its own, ``recorded_version`` that of the recorded answers.

    ``latency`` is None where the candidate answered nothing. ``left`` are requests that there was no sample of.
    """

    version: str
    task: str
    recorded_version: str = ""
    equal: int = 0
    different: int = 0
    failed: int = 0
    latency: Latency | None = None
    worst: tuple[Different, ...] = ()
    left: Left = field(default_factory=Left)

    @property
    def compared(self) -> int:
        """Requests with two answers."""
        return self.equal + self.different


def compare(of: Comparison, replayed: Sequence[Replayed], cosine_limit: float) -> Comparison:
    """``of`` (whose it is, and what was left) with what came of the replay."""
    answered = [each for each in replayed if each.answer is not None]
    likeness = [alike(each.sample.answer, each.answer, cosine_limit) for each in answered if each.answer is not None]
    different = [
        Different(each.sample.request_id, each.sample.path, round(found.degree, 6))
        for each, found in zip(answered, likeness, strict=True)
        if not found.is_equal
    ]
    return Comparison(
        version=of.version,
        task=of.task,
        recorded_version=of.recorded_version,
        equal=len(answered) - len(different),
        different=len(different),
        failed=len(replayed) - len(answered),
        latency=_latency(answered),
        worst=tuple(sorted(different, key=lambda each: (each.degree, each.request_id))[:WORST]),
        left=of.left,
    )


def encode(comparison: Comparison) -> bytes:
    """As it is stored."""
    return json.dumps(asdict(comparison)).encode()


def _latency(answered: Sequence[Replayed]) -> Latency | None:
    if not answered:
        return None
    recorded = sorted(each.sample.seconds for each in answered)
    again = sorted(each.seconds for each in answered)
    return Latency(percentile(recorded, 50), percentile(recorded, 99), percentile(again, 50), percentile(again, 99))
