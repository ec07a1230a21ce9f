"""A model that does not fit its cores is told with sizes that do."""

from dataclasses import replace

import pytest

from fleet.fleet_spec import FleetSpec
from fleet.jobs import Job, Parallel, diagnose_job
from planning.sizing.huggingface import read_config
from planning.sizing.job_memory import memory_rule
from planning.sizing.workload import Checkpointing, Training
from tests.support.capacity import TRN1
from tests.support.model_configs import LLAMA_2_7B, LLAMA_2_70B

JOB = Job("llama", "research", "pretrain", 4, "train:1", ("train",), Parallel(8, 4), checkpoint="s3://checkpoints/x")
FULL = Training(context=4096, checkpointing=Checkpointing.FULL)


def said(parallel: Parallel, spec: FleetSpec = TRN1, training: Training = FULL, *, big: bool = False) -> list[str]:
    shape = read_config(LLAMA_2_70B if big else LLAMA_2_7B, "llama")
    rule = memory_rule(shape, training)
    found = diagnose_job(replace(JOB, parallel=parallel), spec, further=[rule])
    return [f"{each.code}: {each}" for each in found]


def test_a_model_that_fits_has_nothing_said_about_it() -> None:
    assert said(Parallel(8, 4)) == []


def test_a_model_that_does_not_fit_is_one_line_with_sizes_that_do() -> None:
    # 6.74e9 parameters x 2 bytes of weights and 4 of gradients alone are 40 GB on a core of 17.18 GB (16 GiB).
    (line,) = said(Parallel(1, 1))
    assert line.startswith("model-does-not-fit: model: llama at tensor 1 x pipeline 1: ")
    assert "GB missing on each core of 17.18 GB; use tensor: " in line
    degrees = line.rpartition("use tensor: ")[2].split(", pipeline: ")
    assert said(Parallel(int(degrees[0]), int(degrees[1]))) == []


def test_a_model_that_needs_more_nodes_says_how_many() -> None:
    # 69e9 x (2 + 4) bytes are 414 GB for weights and gradients, and one node has 32 x 17.18 = 550 GB less the sixth
    # part that is kept free; the states of the optimizer need another node at least.
    (line,) = said(Parallel(8, 4), replace(TRN1, nodes=16), big=True)
    assert "GB missing" in line
    assert "use tensor: " in line or "fleet plan size" in line


def test_what_no_split_holds_is_told_with_less_memory_for_activations() -> None:
    wide = Training(context=4096, micro_batch=64, checkpointing=Checkpointing.NONE)
    (line,) = said(Parallel(8, 4), replace(TRN1, nodes=4), training=wide)
    assert line.endswith("with checkpointing: full and micro_batch: 1")


@pytest.mark.parametrize("parallel", [Parallel(8, 5), Parallel(64, 1), Parallel(0, 1)])
def test_sizes_that_do_not_add_up_are_told_once_and_not_as_memory(parallel: Parallel) -> None:
    (line,) = said(parallel)
    assert not line.startswith("model")
