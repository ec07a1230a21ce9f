"""What the server asks of whatever runs the model: a Neuron runtime, vLLM, or the stand-in."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from fleet.serving.buckets import Padded


@dataclass(frozen=True, slots=True)
class Generated:
    """One sequence's answer: ``tokens`` that were generated, and the text that they are."""

    text: str
    tokens: int


class Model(Protocol):
    """All methods but ``load`` are called after ``load``; ``generate`` and ``embed`` by one thread at a time."""

    def load(self) -> None:
        """Bring it onto the cores; takes minutes."""
        ...

    def tokens(self, text: str) -> Sequence[int]:
        """``text`` as the model's tokens."""
        ...

    def generate(self, batch: Sequence[Padded], most: int) -> list[Generated]:
        """One answer of at most ``most`` tokens for each sequence; all have the same length, and fill a graph."""
        ...

    def embed(self, batch: Sequence[Padded]) -> list[list[float]]:
        """One vector for each sequence."""
        ...

    def answer(self) -> None:
        """One small execution, or whatever fails when the runtime does."""
        ...

    def held_cores(self) -> int:
        """NeuronCores that it holds, physical ones."""
        ...
