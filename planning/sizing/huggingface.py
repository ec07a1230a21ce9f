"""A Hugging Face ``config.json`` read as a model's shape, with its parameters counted matrix by matrix.

The counts are those of the reference implementations (the modeling file of each architecture in transformers); the
tests hold them against the totals that the checkpoints publish.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from planning.sizing.shape import ModelShape, SizingError


@dataclass(frozen=True, slots=True)
class _Family:
    """What an architecture's config does not say."""

    is_gated: bool = True
    """Three feed-forward matrices (gate, up, down) rather than two."""
    norm_vectors: int = 1
    """Vectors of a norm: RMSNorm has a weight, LayerNorm a weight and a bias."""
    has_biases: bool = False
    qkv_bias: bool = False
    has_head_norms: bool = False
    is_decoder: bool = True
    extra_positions: int | None = None
    """Learned position embeddings: so many more than the config says. None: positions are rotary."""
    unused_positions: int = 0
    """Of those that the config says, so many that no token ever has."""


_FAMILIES: Final[Mapping[str, _Family]] = {
    "llama": _Family(),
    "mistral": _Family(),
    "mixtral": _Family(),
    "qwen2": _Family(qkv_bias=True),
    "qwen2_moe": _Family(qkv_bias=True),
    "qwen3": _Family(has_head_norms=True),
    "qwen3_moe": _Family(has_head_norms=True),
    "bert": _Family(is_gated=False, norm_vectors=2, has_biases=True, is_decoder=False, extra_positions=0),
    # It counts positions from the padding's on, which is 1: the first token has the third.
    "roberta": _Family(
        is_gated=False, norm_vectors=2, has_biases=True, is_decoder=False, extra_positions=0, unused_positions=2
    ),
    "gpt_neox": _Family(is_gated=False, norm_vectors=2, has_biases=True),
    "opt": _Family(is_gated=False, norm_vectors=2, has_biases=True, extra_positions=2),
}
_TIED_BY_DEFAULT: Final = frozenset({"bert", "roberta", "opt"})
_FFN_KEYS: Final = ("intermediate_size", "ffn_dim")
_EXPERT_KEYS: Final = ("num_local_experts", "num_experts")
# What the configuration classes of transformers take where a file is silent.
_DEFAULT_EXPERTS_PER_TOKEN: Final = {"mixtral": 2, "qwen2_moe": 4, "qwen3_moe": 8}


def read_config(config: Mapping[str, object], name: str) -> ModelShape:
    """The shape that ``config`` describes; ``name`` is what messages call the model.

    Raises:
        SizingError: The architecture is not known here, a key is missing or no whole number, or layers differ.
    """
    kind = config.get("model_type")
    family = _FAMILIES.get(str(kind))
    if family is None:
        raise SizingError(f"{name}: model_type {kind!r} is not one of {', '.join(_FAMILIES)}; give --params and shape")
    reader = _Reader(config, name)
    reader.refuse_uneven_layers()
    hidden, heads = reader.number("hidden_size"), reader.number("num_attention_heads")
    if heads > hidden or (hidden % heads and not config.get("head_dim")):
        raise SizingError(f"{name}: hidden_size {hidden} does not divide into {heads} attention heads")
    feed_forward = _feed_forward(reader, str(kind), family, hidden)
    shape = _Attention(
        hidden, heads, reader.number("num_key_value_heads", default=heads), reader.head_dim(hidden, heads)
    )
    per_layer = shape.parameters(family) + 2 * family.norm_vectors * hidden
    layers, vocabulary = reader.number("num_hidden_layers"), reader.number("vocab_size")
    is_tied = bool(config.get("tie_word_embeddings", str(kind) in _TIED_BY_DEFAULT))
    ends = vocabulary * hidden * (1 if is_tied else 2) + _around(reader, family, hidden)
    return ModelShape(
        name=name,
        parameters=ends + layers * (per_layer + feed_forward.total),
        active_parameters=ends + layers * (per_layer + feed_forward.active),
        layers=layers,
        hidden=hidden,
        heads=heads,
        kv_heads=shape.kv_heads,
        head_dim=shape.head_dim,
        active_intermediate=feed_forward.active_width,
        vocabulary=vocabulary,
        experts=feed_forward.experts,
        is_decoder=family.is_decoder,
        has_tied_embeddings=is_tied,
        max_context=max(reader.number("max_position_embeddings", default=0) - family.unused_positions, 0) or None,
        has_learned_positions=family.extra_positions is not None,
    )


@dataclass(frozen=True, slots=True)
class _Reader:
    config: Mapping[str, object]
    name: str

    def number(self, *keys: str, default: int | None = None, least: int = 1) -> int:
        """The first of ``keys`` that is there; the default may be below ``least``."""
        found = next((self.config[key] for key in keys if self.config.get(key) is not None), default)
        if found is None:
            raise SizingError(f"{self.name}: {' or '.join(keys)} is missing")
        if isinstance(found, bool) or not isinstance(found, int) or (found < least and found != default):
            raise SizingError(f"{self.name}: {keys[0]} is {found!r}; it must be a whole number, {least} or more")
        return found

    def head_dim(self, hidden: int, heads: int) -> int:
        """Given, as Qwen3 does, or the hidden size divided among the heads."""
        return self.number("head_dim", default=hidden // heads)

    def refuse_uneven_layers(self) -> None:
        """Layers that differ from each other (some sparse, some dense) are not counted right, so they are refused."""
        if self.config.get("mlp_only_layers") or (self.config.get("decoder_sparse_step") or 1) != 1:
            raise SizingError(f"{self.name}: layers that are partly dense are not understood; give --params and shape")
        projected = self.config.get("word_embed_proj_dim")
        if projected is not None and projected != self.config.get("hidden_size"):
            raise SizingError(f"{self.name}: projected embeddings are not understood; give --params and shape")


@dataclass(frozen=True, slots=True)
class _Attention:
    hidden: int
    heads: int
    kv_heads: int
    head_dim: int

    def parameters(self, family: _Family) -> int:
        """Of one layer: four projections, their biases, and norms of queries and keys."""
        query, kv = self.heads * self.head_dim, self.kv_heads * self.head_dim
        matrices = 2 * self.hidden * query + 2 * self.hidden * kv
        biases = (query + 2 * kv) * (family.has_biases or family.qkv_bias) + self.hidden * family.has_biases
        return matrices + biases + 2 * self.head_dim * family.has_head_norms


@dataclass(frozen=True, slots=True)
class _FeedForward:
    """Of one layer."""

    total: int
    active: int
    active_width: int
    experts: int


def _feed_forward(reader: _Reader, kind: str, family: _Family, hidden: int) -> _FeedForward:
    experts = reader.number(*_EXPERT_KEYS, default=1)
    if experts <= 1:
        width = reader.number(*_FFN_KEYS)
        dense = (3 if family.is_gated else 2) * hidden * width + (width + hidden) * family.has_biases
        return _FeedForward(dense, dense, width, 1)
    per_token = reader.number("num_experts_per_tok", default=_DEFAULT_EXPERTS_PER_TOKEN.get(kind, 1))
    width = reader.number("moe_intermediate_size", "intermediate_size")
    shared = reader.number("shared_expert_intermediate_size", default=0, least=0)
    expert = 3 * hidden * width
    # Every expert has a row of the router; a shared expert has a gate of its own.
    always = hidden * experts + 3 * hidden * shared + hidden * bool(shared)
    return _FeedForward(always + experts * expert, always + per_token * expert, per_token * width + shared, experts)


def _around(reader: _Reader, family: _Family, hidden: int) -> int:
    """Parameters outside the layers, without the word embeddings: norms, positions, an encoder's pooler."""
    around = family.norm_vectors * hidden
    if family.extra_positions is not None:
        around += (reader.number("max_position_embeddings") + family.extra_positions) * hidden
    if not family.is_decoder:
        around += reader.number("type_vocab_size", default=2) * hidden + hidden * hidden + hidden
    return around
