"""What is kept of a request, a minute of them as one object, and when each is asked again.

The object is JSON, with the prompts in it. A request is asked again as it came, but that nobody waits through the
silence between.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from itertools import accumulate, pairwise
from typing import Any, Final

from fleet import FleetError
from fleet.shadow.requests import Answer

SCHEMA: Final = 1


class SampleError(FleetError, ValueError):
    """An object is no batch of samples; one line."""


@dataclass(frozen=True, slots=True)
class Sample:
    """One request and its answer. ``at`` is when it came (seconds since 1970), ``seconds`` how long it took."""

    request_id: str
    at: float
    path: str
    body: str
    answer: Answer
    seconds: float


@dataclass(frozen=True, slots=True)
class Left:
    """Of the requests that were to be kept, those that were not.

    ``chance``: the same version may answer differently. ``failed``: it had no answer. ``dropped``: there was no room.
    """

    chance: int = 0
    failed: int = 0
    dropped: int = 0

    def plus(self, other: "Left") -> "Left":
        """Both."""
        return Left(self.chance + other.chance, self.failed + other.failed, self.dropped + other.dropped)


@dataclass(frozen=True, slots=True)
class Batch:
    """What one task of ``version`` kept in a minute."""

    version: str
    task: str
    samples: tuple[Sample, ...]
    left: Left = field(default_factory=Left)


def encode(batch: Batch) -> bytes:
    """As it is stored."""
    return json.dumps({"schema": SCHEMA, **asdict(batch)}, separators=(",", ":")).encode()


def decode(content: bytes) -> Batch:
    """As it was.

    Raises:
        SampleError: it is not what ``encode`` makes.
    """
    try:
        fields = json.loads(content)
        if fields["schema"] != SCHEMA:
            raise SampleError(f"samples of schema {fields['schema']!r}; this version reads {SCHEMA}")
        return Batch(
            str(fields["version"]),
            str(fields["task"]),
            tuple(_sample(each) for each in fields["samples"]),
            Left(**{name: int(fields["left"][name]) for name in ("chance", "failed", "dropped")}),
        )
    except (ValueError, KeyError, TypeError) as error:
        if isinstance(error, SampleError):
            raise
        raise SampleError(f"no batch of samples: {type(error).__name__}") from error


def _sample(fields: dict[str, Any]) -> Sample:
    answer = fields["answer"]
    return Sample(
        str(fields["request_id"]),
        float(fields["at"]),
        str(fields["path"]),
        str(fields["body"]),
        Answer(tuple(map(str, answer["texts"])), tuple(tuple(map(float, row)) for row in answer["vectors"])),
        float(fields["seconds"]),
    )


_SHORTEST_SILENCE: Final = 1.0
_LONGEST_SILENCE: Final = 5.0


def newest(samples: Sequence[Sample], most: int) -> list[Sample]:
    """The last ``most`` of them, in the order in which they came; each request once."""
    once = {sample.request_id: sample for sample in samples}
    return sorted(once.values(), key=lambda sample: (sample.at, sample.request_id))[-most:]


def offsets(samples: Sequence[Sample]) -> list[float]:
    """Seconds from the first to each of them, which are in the order in which they came.

    What comes close together waits for each other again. A silence that is longer than the longest answer leaves nobody
    to wait for, however long it is: it is cut to that length, between one second and five.
    """
    if not samples:
        return []
    longest = max(sample.seconds for sample in samples)
    most = min(max(longest, _SHORTEST_SILENCE), _LONGEST_SILENCE)
    gaps = (min(later.at - earlier.at, most) for earlier, later in pairwise(samples))
    return list(accumulate(gaps, initial=0.0))
