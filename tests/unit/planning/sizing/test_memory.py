"""Bytes by part, against sums done by hand."""

import pytest

from fleet.instances import instance_type
from planning.sizing.huggingface import read_config
from planning.sizing.memory import hbm_per_core, parts, stage_parameters
from planning.sizing.parallelism import Degrees
from planning.sizing.workload import Checkpointing, Dtype, Inference, Optimizer, Training, Workload
from tests.support import model_configs as models
from tests.support.model_configs import decoder

LLAMA_2_7B = read_config(models.LLAMA_2_7B, "llama-2-7b")
LLAMA_3_70B = read_config(models.LLAMA_3_70B, "llama-3-70b")
# Two layers of 4 heads of 2: small enough for a sum on paper. Per layer: attention 4 x 8 x 8 = 256, feed-forward
# 3 x 8 x 16 = 384, norms 16: 656. In all 2 x 656 + 2 x 10 x 8 + 8 = 1480.
TINY = read_config(decoder("llama", 8, 2, 4, 4, 16, 10, 64), "tiny")


def bytes_of(workload: Workload, degrees: Degrees, lnc: int = 1) -> dict[str, int]:
    return {part.name: part.bytes for part in parts(TINY, workload, degrees, lnc)}


def test_each_core_counts_on_its_share_of_a_device() -> None:
    assert hbm_per_core(instance_type("inf2.xlarge"), 1) == 16 * 1024**3
    assert hbm_per_core(instance_type("trn1.32xlarge"), 1) == 16 * 1024**3
    assert hbm_per_core(instance_type("trn2.48xlarge"), 2) == 24 * 1024**3
    assert hbm_per_core(instance_type("trn2.48xlarge"), 1) == 12 * 1024**3


def test_serving_holds_weights_cache_prompt_and_code() -> None:
    # Weights 1480 x 2 B / 2. Cache 2 x 2 layers x 2 heads x 2 x 15 tokens x 2 B. Prompt: 5 tokens x 2 B x
    # (4 x 8 + (4 + 2 x 4) x 2 / 2 + 2 x 16 / 2) + logits 4 B x 3 sequences x 10 / 2.
    assert bytes_of(Inference(5, batch=3), Degrees(2)) == {
        "weights": 1480,
        "kv cache": 480,
        "activations": 10 * (32 + 12 + 16) + 60,
        "model code": 100_663_296,
    }


def test_weights_and_cache_have_data_types_of_their_own_and_activations_stay_at_two_bytes() -> None:
    found = bytes_of(Inference(5, batch=3, dtype=Dtype.INT8, kv_dtype=Dtype.FP8), Degrees(2))

    assert (found["weights"], found["kv cache"], found["activations"]) == (740, 240, 660)


def test_the_code_of_a_logical_core_is_that_of_its_physical_ones() -> None:
    assert bytes_of(Inference(5), Degrees(2), lnc=2)["model code"] == 2 * 96 * 1024 * 1024


def test_an_encoder_has_no_cache() -> None:
    bert = read_config(models.BERT_LARGE, "bert")

    assert "kv cache" not in {part.name for part in parts(bert, Inference(512), Degrees(1), 1)}


def test_an_encoder_works_on_all_sequences_of_a_batch_at_once() -> None:
    bert = read_config(models.BERT_LARGE, "bert")
    one, many = (
        next(part.bytes for part in parts(bert, Inference(512, batch=batch), Degrees(1), 1) if "activ" in part.name)
        for batch in (1, 64)
    )

    # 512 tokens x (4 x 1024 + 3 x 1024 + 2 x 4096) x 2 B, and 4 B a word of the vocabulary.
    assert one == 512 * 15_360 * 2 + 4 * 30_522
    assert many == 64 * one


def test_the_cache_of_llama_2_7b_takes_half_a_mebibyte_a_token() -> None:
    # The figure that papers quote: 2 x 32 layers x 32 heads x 128 x 2 B = 524,288 B.
    cache = next(part for part in parts(LLAMA_2_7B, Inference(1), Degrees(1), 1) if part.name == "kv cache")

    assert cache.bytes == 524_288


def test_repeated_key_value_heads_take_memory_on_every_core() -> None:
    # 8 key-value heads over 32 cores: one on each, so a core holds 2 x 80 x 1 x 128 x 4096 x 2 B, not a quarter of it;
    # and 24 more copies of K and V weights: 80 x 2 x 8192 x 24 x 128 parameters over 32 cores.
    found = {part.name: part.bytes for part in parts(LLAMA_3_70B, Inference(4096), Degrees(32), 1)}

    assert found["kv cache"] == 167_772_160
    assert found["weights"] == (70_553_706_496 + 4_026_531_840) * 2 // 32


def test_training_adds_up_to_sixteen_bytes_a_parameter_and_two_more_for_fp32_sums() -> None:
    # ZeRO, section 3.1: 2 + 2 + 12 bytes; summing gradients in FP32 makes 2 + 4 + 12.
    found = bytes_of(Training(4, has_fp32_gradients=False, zero1=False), Degrees(1))
    summed = bytes_of(Training(4, zero1=False), Degrees(1))

    assert found["weights"] + found["gradients"] + found["optimizer states"] + found["master weights"] == 16 * 1480
    assert summed["gradients"] == 4 * 1480


def test_zero_1_splits_the_optimizer_and_the_master_weights_over_the_copies() -> None:
    found = bytes_of(Training(4), Degrees(1, 1, 4))

    assert (found["weights"], found["gradients"]) == (2 * 1480, 4 * 1480)
    assert (found["optimizer states"], found["master weights"]) == (8 * 1480 // 4, 4 * 1480 // 4)


def test_without_zero_1_every_copy_holds_all_of_them() -> None:
    found = bytes_of(Training(4, zero1=False), Degrees(1, 1, 4))

    assert (found["optimizer states"], found["master weights"]) == (8 * 1480, 4 * 1480)


def test_sgd_keeps_one_state_and_fp32_weights_need_no_master() -> None:
    found = bytes_of(Training(4, optimizer=Optimizer.SGD, dtype=Dtype.FP32), Degrees(1))

    assert found["optimizer states"] == 4 * 1480
    assert "master weights" not in found


def test_a_pipeline_stage_holds_its_layers_and_one_embedding() -> None:
    # (2 x 656 + 8) / 2 + 10 x 8: the norm at the end lies with the layers.
    assert stage_parameters(TINY, Degrees(1, 2)) == 660 + 80


@pytest.mark.parametrize(
    ("checkpointing", "sequence_parallel", "expected"),
    [
        # s 4, b 3, h 8, t 2: sbh = 96. Logits 4 x 12 x 10 / 2 = 240. Attention 5as/h x sbh/t = 5 x 4 x 4 x 12 / 2.
        (Checkpointing.NONE, True, 2 * (96 * 17 + 480) + 240),
        (Checkpointing.SELECTIVE, True, 2 * 96 * 17 + 240),
        (Checkpointing.SELECTIVE, False, 2 * 96 * (10 + 12) + 240),
        (Checkpointing.FULL, True, 2 * 96 + 96 * 17 + 480 + 240),
        (Checkpointing.FULL, False, 2 * 2 * 96 + 96 * 22 + 480 + 240),
    ],
)
def test_checkpointing_decides_which_activations_are_kept(
    checkpointing: Checkpointing, sequence_parallel: bool, expected: int
) -> None:
    workload = Training(4, micro_batch=3, checkpointing=checkpointing, sequence_parallel=sequence_parallel)

    assert bytes_of(workload, Degrees(2))["activations"] == expected


@pytest.mark.parametrize(
    ("workload", "formula"),
    [
        (Training(4), "(layers x 34sbh + 4sbv) / 2"),
        # 10 + 24 / 2 of each core are 44 over two.
        (Training(4, sequence_parallel=False), "(layers x 44sbh + 4sbv) / 2"),
        (Training(4, dtype=Dtype.FP32), "(2 x (layers x 34sbh) + 4sbv) / 2"),
        (
            Training(4, checkpointing=Checkpointing.FULL, sequence_parallel=False),
            "(layers x 4sbh + one layer of sbh (44 + 5as/h) + 4sbv) / 2",
        ),
        (Inference(5), "tokens x (4 x hidden + (heads + gate and up) / tensor) x 2 B + logits"),
        (Inference(5, dtype=Dtype.FP32), "tokens x (4 x hidden + (heads + gate and up) / tensor) x 4 B + logits"),
    ],
)
def test_the_formula_of_activations_is_the_one_that_they_were_worked_out_by(workload: Workload, formula: str) -> None:
    found = next(part for part in parts(TINY, workload, Degrees(2), 1) if part.name == "activations")

    assert found.formula == formula


def test_the_footprints_that_the_developer_guide_names_are_met() -> None:
    """transformers-neuronx developer guide: OPT-13B in float16 at batch 1 ~29 GB, OPT-30B ~66 GB."""
    for config, degrees, gigabytes in ((models.OPT_13B, 2, 29), (models.OPT_30B, 8, 66)):
        workload = Inference(2048, dtype=Dtype.FP16, kv_dtype=Dtype.FP16)
        held = parts(read_config(config, "opt"), workload, Degrees(degrees), 1)
        assert degrees * sum(part.bytes for part in held) / 1e9 == pytest.approx(gigabytes, rel=0.05)
