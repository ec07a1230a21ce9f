"""The shape of a transformer: what its weights, key-value cache and parallel degrees are computed from."""

from dataclasses import dataclass
from typing import Final

# A thousand times the largest model there is; what is beyond it is a slip of the keyboard.
MOST: Final = 10**15


class SizingError(ValueError):
    """A model, workload or degree that cannot be sized; the message is one line that says what to change."""


@dataclass(frozen=True, slots=True)
class ModelShape:
    """One model. Parameters are counted over the whole model, before anything is split or padded."""

    name: str
    parameters: int
    """All of them: every expert is held in memory, whether a token passes through it or not."""
    active_parameters: int
    """Those that one token passes through; fewer than ``parameters`` in a mixture of experts only."""
    layers: int
    hidden: int
    heads: int
    kv_heads: int
    head_dim: int
    active_intermediate: int
    """Width of the feed-forward part that one token passes through: of all its active experts together."""
    vocabulary: int
    """0: not known, and left out of logits and of the split into pipeline stages."""
    experts: int = 1
    is_decoder: bool = True
    """Whether it generates, and so keeps keys and values of earlier tokens."""
    has_tied_embeddings: bool = False
    max_context: int | None = None
    """Positions that it was made for; None: not known."""
    has_learned_positions: bool = False
    """Whether there is no position beyond ``max_context`` at all. Rotary ones go on, at a loss of quality."""

    def __post_init__(self) -> None:
        """Refuse numbers that no transformer has.

        Raises:
            SizingError: A number is not positive, or heads and key-value heads do not go together.
        """
        for name in ("parameters", "layers", "hidden", "heads", "kv_heads", "head_dim"):
            if getattr(self, name) < 1:
                raise SizingError(f"{self.name}: {name} is {getattr(self, name)}; it must be at least 1")
            if getattr(self, name) > MOST:
                raise SizingError(f"{self.name}: {name} is more than any model has")
        if self.heads % self.kv_heads:
            raise SizingError(
                f"{self.name}: {self.heads} attention heads are not a multiple of {self.kv_heads} key-value heads"
            )
        if not 0 < self.active_parameters <= self.parameters:
            raise SizingError(f"{self.name}: {self.active_parameters} active of {self.parameters} parameters")

    @property
    def query_parameters(self) -> int:
        """Weights that grow with the attention heads: the query and the output projection of every layer."""
        return self.layers * 2 * self.hidden * self.heads * self.head_dim

    @property
    def kv_parameters(self) -> int:
        """Weights that grow with the key-value heads: the key and the value projection of every layer."""
        return self.layers * 2 * self.hidden * self.kv_heads * self.head_dim

    @property
    def embedding_parameters(self) -> int:
        """One matrix of vocabulary x hidden; an untied model has two of them, at either end."""
        return self.vocabulary * self.hidden

    @property
    def layer_parameters(self) -> int:
        """All weights that lie in layers, which pipeline stages share out."""
        ends = self.embedding_parameters * (1 if self.has_tied_embeddings else 2)
        return max(self.parameters - ends, 0)
