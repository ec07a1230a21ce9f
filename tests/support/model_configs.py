"""The ``config.json`` of published models, as far as their shape needs it."""

from collections.abc import Mapping
from typing import Final

Config = Mapping[str, object]


def decoder(  # noqa: PLR0917 (one for each key of the file)
    kind: str, hidden: int, layers: int, heads: int, kv_heads: int, intermediate: int, vocabulary: int, context: int
) -> Config:
    """A decoder with the keys that llama, mistral, mixtral and qwen share."""
    return {
        "model_type": kind,
        "hidden_size": hidden,
        "num_hidden_layers": layers,
        "num_attention_heads": heads,
        "num_key_value_heads": kv_heads,
        "intermediate_size": intermediate,
        "vocab_size": vocabulary,
        "max_position_embeddings": context,
        "tie_word_embeddings": False,
    }


LLAMA_2_7B: Final = decoder("llama", 4096, 32, 32, 32, 11008, 32000, 4096)
LLAMA_2_13B: Final = decoder("llama", 5120, 40, 40, 40, 13824, 32000, 4096)
LLAMA_2_70B: Final = decoder("llama", 8192, 80, 64, 8, 28672, 32000, 4096)
CODELLAMA_13B: Final = decoder("llama", 5120, 40, 40, 40, 13824, 32016, 16384)
LLAMA_3_8B: Final = decoder("llama", 4096, 32, 32, 8, 14336, 128256, 8192)
LLAMA_3_70B: Final = decoder("llama", 8192, 80, 64, 8, 28672, 128256, 8192)
LLAMA_31_8B: Final = decoder("llama", 4096, 32, 32, 8, 14336, 128256, 131072)
LLAMA_31_70B: Final = decoder("llama", 8192, 80, 64, 8, 28672, 128256, 131072)
LLAMA_31_405B: Final = decoder("llama", 16384, 126, 128, 8, 53248, 128256, 131072)
MISTRAL_7B: Final = decoder("mistral", 4096, 32, 32, 8, 14336, 32000, 32768)
MIXTRAL_8X7B: Final = {
    **decoder("mixtral", 4096, 32, 32, 8, 14336, 32000, 32768),
    "num_local_experts": 8,
    "num_experts_per_tok": 2,
}
QWEN2_7B: Final = decoder("qwen2", 3584, 28, 28, 4, 18944, 152064, 131072)
QWEN3_235B_A22B: Final = {
    **decoder("qwen3_moe", 4096, 94, 64, 4, 12288, 151936, 40960),
    "head_dim": 128,
    "num_experts": 128,
    "num_experts_per_tok": 8,
    "moe_intermediate_size": 1536,
    "decoder_sparse_step": 1,
    "mlp_only_layers": [],
}
GPT_NEOX_20B: Final = {
    "model_type": "gpt_neox",
    "hidden_size": 6144,
    "num_hidden_layers": 44,
    "num_attention_heads": 64,
    "intermediate_size": 24576,
    "vocab_size": 50432,
    "max_position_embeddings": 2048,
    "tie_word_embeddings": False,
}
BERT_LARGE: Final = {
    "model_type": "bert",
    "hidden_size": 1024,
    "num_hidden_layers": 24,
    "num_attention_heads": 16,
    "intermediate_size": 4096,
    "vocab_size": 30522,
    "max_position_embeddings": 512,
    "type_vocab_size": 2,
}
OPT_13B: Final = {
    "model_type": "opt",
    "hidden_size": 5120,
    "num_hidden_layers": 40,
    "num_attention_heads": 40,
    "ffn_dim": 20480,
    "vocab_size": 50272,
    "max_position_embeddings": 2048,
    "word_embed_proj_dim": 5120,
}
OPT_30B: Final = {
    **OPT_13B,
    "hidden_size": 7168,
    "num_hidden_layers": 48,
    "num_attention_heads": 56,
    "ffn_dim": 28672,
    "word_embed_proj_dim": 7168,
}
