"""Degrees divide heads and layers or say why they do not; heads are padded and repeated as NxD does it."""

import pytest

from fleet.instances import instance_type
from planning.sizing.huggingface import read_config
from planning.sizing.parallelism import (
    Degrees,
    Heads,
    inference_degrees,
    nodes_for,
    refusals,
    shard_heads,
    training_degrees,
)
from planning.sizing.shape import SizingError
from planning.sizing.workload import Inference, Training, Workload
from tests.support import model_configs as models
from tests.support.model_configs import decoder

LLAMA_2_13B = read_config(models.LLAMA_2_13B, "llama-2-13b")
LLAMA_3_70B = read_config(models.LLAMA_3_70B, "llama-3-70b")


@pytest.mark.parametrize(
    ("heads", "kv_heads", "tensor", "expected"),
    [
        (64, 8, 8, Heads(64, 8, is_padded=False, is_repeated=False)),
        (64, 8, 4, Heads(64, 8, is_padded=False, is_repeated=False)),
        (64, 8, 32, Heads(64, 32, is_padded=False, is_repeated=True)),
        # The two examples in the comments of NxD Inference's gqa.py, 56 heads over 32 cores.
        (56, 8, 32, Heads(64, 32, is_padded=True, is_repeated=True)),
        (56, 7, 32, Heads(64, 64, is_padded=True, is_repeated=True)),
        # 12 is no multiple of 8, so that every attention head gets keys and values of its own.
        (64, 8, 12, Heads(72, 72, is_padded=True, is_repeated=True)),
        # Without grouping, both are padded alike, and the padding takes memory too.
        (40, 40, 24, Heads(48, 48, is_padded=True, is_repeated=False)),
        (40, 40, 8, Heads(40, 40, is_padded=False, is_repeated=False)),
    ],
)
def test_heads_are_padded_and_repeated(heads: int, kv_heads: int, tensor: int, expected: Heads) -> None:
    shape = read_config(decoder("llama", heads * 8, 4, heads, kv_heads, 64, 100, 64), "m")

    assert shard_heads(shape, tensor) == expected


@pytest.mark.parametrize(
    ("degrees", "workload", "reasons"),
    [
        (Degrees(32, 8, 4), Training(4096), ()),
        (Degrees(32, 3, 1), Training(4096), ("80 layers do not divide into 3 pipeline stages",)),
        (Degrees(24), Training(4096), ("64 attention heads do not divide by tensor-parallel degree 24",)),
        (Degrees(24), Inference(4096), ()),
        (
            Degrees(8, 2),
            Inference(4096),
            ("inference is not split into pipeline stages; use a tensor-parallel degree",),
        ),
        (Degrees(8, 1, 2), Inference(4096), ("a served model has no data-parallel degree; ask for more replicas",)),
    ],
)
def test_degrees_that_do_not_divide_say_so(degrees: Degrees, workload: Workload, reasons: tuple[str, ...]) -> None:
    assert refusals(LLAMA_3_70B, degrees, workload) == reasons


def test_training_repeats_key_value_heads_by_a_whole_number_only() -> None:
    shape = read_config(decoder("llama", 96, 4, 12, 3, 64, 100, 64), "m")

    assert refusals(shape, Degrees(6), Training(64)) == ()
    assert refusals(shape, Degrees(4), Training(64)) == (
        "3 key-value heads neither divide by tensor-parallel degree 4 nor repeat to it",
    )


@pytest.mark.parametrize(
    ("degrees", "name", "cores", "expected"),
    [
        (Degrees(32, 8, 4), "trn1.32xlarge", 32, 32),
        (Degrees(8, 1, 16), "trn1.32xlarge", 32, 4),
        (Degrees(128), "trn1.32xlarge", 32, 4),
        (Degrees(16), "inf2.48xlarge", 24, 1),
        (Degrees(48), "trn1.32xlarge", 32, "tensor-parallel degree 48 does not fill whole instances of 32 cores"),
        (Degrees(24, 1, 4), "trn1.32xlarge", 32, "32 cores do not divide into tensor-parallel groups of 24"),
        (Degrees(48), "inf2.48xlarge", 24, "48 cores are 2 instances, and inf2.48xlarge has no EFA to join them"),
    ],
)
def test_a_tensor_parallel_group_lies_within_an_instance_or_fills_whole_ones(
    degrees: Degrees, name: str, cores: int, expected: int | str
) -> None:
    assert nodes_for(degrees, instance_type(name), cores) == expected


def test_serving_tries_few_cores_first_then_padding_then_more_instances() -> None:
    # 40 heads; divisors of 24 cores: 1, 2, 4, 8 divide them, 3, 6, 12, 24 need padding.
    inf2 = [each.tensor for each in inference_degrees(LLAMA_2_13B, instance_type("inf2.48xlarge"), 24, 4)]
    trn1 = [each.tensor for each in inference_degrees(LLAMA_2_13B, instance_type("trn1.32xlarge"), 32, 4)]

    assert inf2 == [1, 2, 4, 8, 3, 6, 12, 24]
    assert trn1 == [1, 2, 4, 8, 16, 32, 64, 128]


def test_training_fills_its_instances_with_few_stages_first() -> None:
    found = list(training_degrees(read_config(models.LLAMA_2_7B, "m"), 32, 2))

    assert found[:3] == [Degrees(1, 1, 64), Degrees(2, 1, 32), Degrees(4, 1, 16)]
    assert all(each.world_size == 64 for each in found)
    assert [each.pipeline for each in found] == sorted(each.pipeline for each in found)


@pytest.mark.parametrize("degrees", [(0, 1, 1), (1, 0, 1), (1, 1, -1)])
def test_a_degree_below_one_is_refused(degrees: tuple[int, int, int]) -> None:
    with pytest.raises(SizingError, match="it must be at least 1"):
        Degrees(*degrees)
