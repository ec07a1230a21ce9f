"""When each sample is asked again: as it came, but that nobody waits through the silence between."""

from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import Final

from fleet.shadow.sample import Sample

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
