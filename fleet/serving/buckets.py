"""Which compiled graph takes a request: graphs have fixed shapes, so inputs are padded to the next one there is.

Neuron compiles one graph for each shape (Neuron documentation, "Bucketing"). A request that no graph takes is refused:
compiling one for it would hold up all others for minutes.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from fleet import FleetError

DEFAULT_LENGTHS: Final = (128, 256, 512, 1024, 2048)


class BucketError(FleetError, ValueError):
    """These cannot be the shapes of an endpoint; the message says why."""


class TooLongError(FleetError, ValueError):
    """No graph takes an input of ``length`` tokens; ``limit`` is the most that one does."""

    def __init__(self, length: int, limit: int) -> None:
        """Name both."""
        self.length, self.limit = length, limit
        super().__init__(f"{length} tokens; this endpoint takes at most {limit}")


@dataclass(frozen=True, slots=True)
class Buckets:
    """``lengths`` in tokens and ``batch_sizes`` in sequences, each rising.

    Raises:
        BucketError: there is none, one is below 1, or they do not rise.
    """

    lengths: tuple[int, ...]
    batch_sizes: tuple[int, ...] = (1,)

    def __post_init__(self) -> None:
        """Refuse what would make the choice depend on the order they were written in."""
        for name, sizes in (("sequence_lengths", self.lengths), ("batch_sizes", self.batch_sizes)):
            if not sizes or min(sizes) < 1:
                raise BucketError(f"{name}: at least one, each 1 or more")
            if any(later <= earlier for earlier, later in pairwise(sizes)):
                raise BucketError(f"{name}: each larger than the one before it")

    @property
    def shapes(self) -> frozenset[tuple[int, int]]:
        """Every (length, batch size) that has a graph."""
        return frozenset((length, batch) for length in self.lengths for batch in self.batch_sizes)

    def length_for(self, length: int) -> int:
        """The bucket of an input of ``length`` tokens.

        Raises:
            TooLongError: it is longer than the longest.
        """
        found = next((bucket for bucket in self.lengths if length <= bucket), None)
        if found is None:
            raise TooLongError(length, self.lengths[-1])
        return found

    def batch_for(self, count: int) -> int:
        """The batch size for ``count`` sequences that wait: the smallest that holds them all, else the largest."""
        return next((batch for batch in self.batch_sizes if count <= batch), self.batch_sizes[-1])


@dataclass(frozen=True, slots=True)
class Padded:
    """One sequence of a bucket's length; ``mask`` is 1 where a token is the request's own."""

    tokens: tuple[int, ...]
    mask: tuple[int, ...]


def pad(tokens: Sequence[int], bucket: int, filler: int = 0) -> Padded:
    """``tokens`` with ``filler`` behind them up to ``bucket``.

    Raises:
        TooLongError: there are more.
    """
    missing = bucket - len(tokens)
    if missing < 0:
        raise TooLongError(len(tokens), bucket)
    return Padded((*tokens, *[filler] * missing), (*[1] * len(tokens), *[0] * missing))
