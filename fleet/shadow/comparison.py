"""A candidate's answers beside the recorded ones: counts, latencies, and the worst by their ids. No prompts."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Final

from fleet.serving.measurement import percentile
from fleet.shadow.equivalence import alike
from fleet.shadow.requests import Answer
from fleet.shadow.sample import Left, Sample

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
