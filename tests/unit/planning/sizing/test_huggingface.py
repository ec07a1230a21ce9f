"""A config.json is read as the model it describes: every published parameter count is met to the last one."""

import pytest

from planning.sizing.huggingface import read_config
from planning.sizing.shape import SizingError
from tests.support import model_configs as models


@pytest.mark.parametrize(
    ("config", "parameters"),
    [
        # What the checkpoints publish: numel over the state dict, as model cards and safetensors metadata have it.
        (models.LLAMA_2_7B, 6_738_415_616),
        (models.LLAMA_2_13B, 13_015_864_320),
        (models.LLAMA_2_70B, 68_976_648_192),
        (models.LLAMA_3_8B, 8_030_261_248),
        (models.LLAMA_3_70B, 70_553_706_496),
        (models.LLAMA_31_405B, 405_853_388_800),
        (models.MISTRAL_7B, 7_241_732_096),
        (models.MIXTRAL_8X7B, 46_702_792_704),
        (models.QWEN2_7B, 7_615_616_512),
        (models.QWEN3_235B_A22B, 235_093_634_560),
        (models.GPT_NEOX_20B, 20_554_567_680),
        (models.BERT_LARGE, 335_141_888),
    ],
    ids=[
        "l2-7b",
        "l2-13b",
        "l2-70b",
        "l3-8b",
        "l3-70b",
        "405b",
        "mistral",
        "mixtral",
        "qwen2",
        "qwen3",
        "neox",
        "bert",
    ],
)
def test_parameters_are_counted_as_published(config: models.Config, parameters: int) -> None:
    assert read_config(config, "m").parameters == parameters


def test_a_token_passes_through_the_active_experts_only() -> None:
    # Mixtral: 46,702,792,704 less 6 of 8 experts in 32 layers: 6 x 3 x 4096 x 14336 x 32 = 33,822,867,456.
    shape = read_config(models.MIXTRAL_8X7B, "mixtral")

    assert shape.active_parameters == 46_702_792_704 - 33_822_867_456 == 12_879_925_248
    assert (shape.experts, shape.active_intermediate) == (8, 2 * 14336)


def test_an_encoder_keeps_no_keys_and_values_and_ties_its_embeddings() -> None:
    shape = read_config(models.BERT_LARGE, "bert")

    assert not shape.is_decoder
    assert shape.has_tied_embeddings


def test_the_longest_context_is_what_tokens_can_have() -> None:
    # roberta-base: a table of 514 positions, the first two of which are no token's.
    roberta = {**models.BERT_LARGE, "model_type": "roberta", "max_position_embeddings": 514}

    assert read_config(roberta, "roberta").max_context == 512
    assert read_config(models.BERT_LARGE, "bert").max_context == 512
    # OPT's table has two more than its config says.
    assert read_config(models.OPT_13B, "opt").max_context == 2048


def test_a_head_size_of_its_own_is_taken() -> None:
    # Qwen3: 64 heads of 128 on a hidden size of 4096, which would otherwise give heads of 64.
    assert read_config(models.QWEN3_235B_A22B, "qwen3").head_dim == 128


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"model_type": "mamba"}, "m: model_type 'mamba' is not one of llama, mistral,"),
        ({"model_type": None}, "m: model_type None is not one of llama,"),
        ({"hidden_size": None}, "m: hidden_size is missing"),
        ({"hidden_size": "4096"}, "m: hidden_size is '4096'; it must be a whole number, 1 or more"),
        ({"num_hidden_layers": True}, "m: num_hidden_layers is True; it must be a whole number, 1 or more"),
        ({"num_hidden_layers": 0}, "m: num_hidden_layers is 0; it must be a whole number, 1 or more"),
        ({"num_attention_heads": 0}, "m: num_attention_heads is 0; it must be a whole number, 1 or more"),
        ({"num_attention_heads": 30}, "m: hidden_size 4096 does not divide into 30 attention heads"),
        ({"num_key_value_heads": 5}, "m: 32 attention heads are not a multiple of 5 key-value heads"),
        ({"intermediate_size": -1}, "m: intermediate_size is -1; it must be a whole number, 1 or more"),
        ({"mlp_only_layers": [0]}, "m: layers that are partly dense are not understood; give --params and shape"),
        ({"decoder_sparse_step": [2]}, "m: layers that are partly dense are not understood; give --params and shape"),
        ({"word_embed_proj_dim": 512}, "m: projected embeddings are not understood; give --params and shape"),
    ],
)
def test_a_config_that_cannot_be_read_is_refused_in_one_line(change: dict[str, object], message: str) -> None:
    with pytest.raises(SizingError) as error:
        read_config({**models.LLAMA_2_7B, **change}, "m")

    assert str(error.value).startswith(message)
    assert "\n" not in str(error.value)
