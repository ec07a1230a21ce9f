"""A model without a model, for machines without Neuron: the shapes, the time and the failures of one, and no sense."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import count

from examples.serving.model import Generated
from fleet.serving.buckets import Padded


class StandInError(Exception):
    """The failure that was asked for."""


@dataclass
class StandIn:
    """``seconds`` for each batch, ``error_every`` (0: never) batch fails, ``cores`` it says that it holds.

    Words are its tokens. ``sick`` makes the runtime fail its probes, as one does whose device hangs.
    """

    seconds: float = 0.0
    error_every: int = 0
    cores: int = 2
    load_seconds: float = 0.0
    sick: str = ""
    says: str = "word"
    """Every word of its completions."""
    batches: list[tuple[int, int]] = field(default_factory=list)
    """(length, batch size) of each execution, as a graph would have been chosen by."""
    _numbers: "count[int]" = field(default_factory=lambda: count(1))

    def load(self) -> None:
        """Take the time that a model's weights do."""
        time.sleep(self.load_seconds)

    def tokens(self, text: str) -> Sequence[int]:
        """A token for each word."""
        return [len(word) for word in text.split()]

    def generate(self, batch: Sequence[Padded], most: int) -> list[Generated]:
        """As many words as were asked for."""
        self._execute(batch)
        return [Generated(" ".join([self.says] * most), most) for _ in batch]

    def embed(self, batch: Sequence[Padded]) -> list[list[float]]:
        """The number of own tokens, twice."""
        self._execute(batch)
        return [[float(sum(each.mask)), 1.0] for each in batch]

    def answer(self) -> None:
        """Nothing, or what ``sick`` says."""
        if self.sick:
            raise StandInError(self.sick)

    def held_cores(self) -> int:
        """As it was told."""
        return self.cores

    def _execute(self, batch: Sequence[Padded]) -> None:
        self.batches.append((len(batch[0].tokens), len(batch)))
        if self.seconds:
            time.sleep(self.seconds)
        if self.error_every and next(self._numbers) % self.error_every == 0:
            raise StandInError("this execution was to fail")
