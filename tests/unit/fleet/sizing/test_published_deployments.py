"""The sizing agrees with what Neuron's documentation, samples and partners have run, or say that does not run.

Sources, read at these commits:

- DOCS: aws-neuron/aws-neuron-sdk 81ce03a (2026-08-21)
- SAMPLES: aws-neuron/aws-neuron-samples 2015d65 (2026-05-07), torch-neuronx/transformers-neuronx/inference
- NXD: aws-neuron/neuronx-distributed fbac349 (2026-04-09), examples/training
- OPTIMUM: huggingface/optimum-neuron 213224e (2026-08-19), docs/source/benchmarks; the Llama 2 pages until 7180d48

A batch or context that a source does not state is the default of its script, named beside the case.
"""

from dataclasses import dataclass

import pytest

from fleet.instances import instance_type
from fleet.sizing.fit import Fit, check
from fleet.sizing.huggingface import read_config
from fleet.sizing.parallelism import Degrees
from fleet.sizing.workload import Checkpointing, Dtype, Inference, Training, Workload
from tests.support import model_configs as models


@dataclass(frozen=True)
class Deployment:
    """One that is published; ``instances`` are those that its data-parallel copies fill."""

    name: str
    source: str
    config: models.Config
    workload: Workload
    instance: str
    degrees: Degrees
    instances: int

    def fit(self, instance: str | None = None, degrees: Degrees | None = None) -> Fit:
        return check(
            read_config(self.config, self.name),
            self.workload,
            instance_type(instance or self.instance),
            degrees or self.degrees,
        )


FP16 = Dtype.FP16
DEPLOYMENTS = [
    Deployment(
        "Llama-2-13B, tp 24",
        "SAMPLES meta-llama-2-13b-sampling.ipynb: batch 1, tp_degree 24, amp f16, 2048 positions by default",
        models.LLAMA_2_13B,
        Inference(2048, dtype=FP16, kv_dtype=FP16),
        "inf2.48xlarge",
        Degrees(24),
        1,
    ),
    Deployment(
        "Llama-2-70B, tp 24",
        "DOCS about-neuron/benchmarks/inf2/throughput_data_decoder.csv: batch 1, sequence 4096, FP16",
        models.LLAMA_2_70B,
        Inference(4096, dtype=FP16, kv_dtype=FP16),
        "inf2.48xlarge",
        Degrees(24),
        1,
    ),
    Deployment(
        "Llama-3-70B, tp 32",
        "DOCS about-neuron/benchmarks/trn1/throughput_data_decoder.csv: batch 4, sequence 4096, weights bf16",
        models.LLAMA_3_70B,
        Inference(4096, batch=4),
        "trn1.32xlarge",
        Degrees(32),
        1,
    ),
    Deployment(
        "Llama-3.1-8B, tp 24, 32k",
        "SAMPLES llama-3.1-8b-32k-sampling.ipynb: n_positions 32768, batch 1, tp_degree 24, amp bf16",
        models.LLAMA_31_8B,
        Inference(32768),
        "inf2.48xlarge",
        Degrees(24),
        1,
    ),
    Deployment(
        "Llama-3.1-8B, tp 8, batch 48",
        "OPTIMUM inferentia-llama3.1-8b.mdx: batch 48, sequence 4096, 4 devices = 8 cores",
        models.LLAMA_31_8B,
        Inference(4096, batch=48),
        "inf2.48xlarge",
        Degrees(8),
        1,
    ),
    Deployment(
        "Llama-2-13B, tp 8, batch 16",
        "OPTIMUM inferentia-llama2-13b.mdx: batch 16, sequence 4096, 4 devices = 8 cores",
        models.LLAMA_2_13B,
        Inference(4096, batch=16),
        "inf2.48xlarge",
        Degrees(8),
        1,
    ),
    Deployment(
        "Llama-2-7B, tp 12, batch 24",
        "OPTIMUM inferentia-llama2-7b.mdx: batch 24, sequence 4096, 6 devices = 12 cores",
        models.LLAMA_2_7B,
        Inference(4096, batch=24),
        "inf2.48xlarge",
        Degrees(12),
        1,
    ),
    Deployment(
        "Llama-3.3-70B, tp 24, batch 8",
        "OPTIMUM inferentia-llama3.3-70b.mdx: batch 8, sequence 4096, 12 devices = 24 cores",
        models.LLAMA_31_70B,
        Inference(4096, batch=8),
        "inf2.48xlarge",
        Degrees(24),
        1,
    ),
    Deployment(
        "Llama-3.1-70B, tp 32, 64k",
        "SAMPLES llama-3.1-70b-64k-sampling.ipynb: batch 1, tp_degree 32, amp bf16",
        models.LLAMA_31_70B,
        Inference(65536),
        "trn1.32xlarge",
        Degrees(32),
        1,
    ),
    Deployment(
        "Llama-3.1-405B, tp 128 over four instances",
        "SAMPLES llama-3.1-405b-multinode-16k-sampling.ipynb: 4 trn1.32xlarge, tp_degree 128, batch 1, bf16, 16k",
        models.LLAMA_31_405B,
        Inference(16384),
        "trn1.32xlarge",
        Degrees(128),
        4,
    ),
    Deployment(
        "Llama-3.1-405B, tp 64",
        "DOCS libraries/nxd-inference/tutorials/trn2-llama3.1-405b-tutorial.rst: bfloat16, LNC 2, seq_len 2048",
        models.LLAMA_31_405B,
        Inference(2048),
        "trn2.48xlarge",
        Degrees(64),
        1,
    ),
    Deployment(
        "Llama-3.3-70B, tp 64",
        "DOCS libraries/nxd-inference/tutorials/trn2-llama3.3-70b-tutorial.rst: seq-len 12800, batches up to 4",
        models.LLAMA_31_70B,
        Inference(12800, batch=4),
        "trn2.48xlarge",
        Degrees(64),
        1,
    ),
    Deployment(
        "Mistral-7B-Instruct-v0.2, tp 8",
        "SAMPLES mistralai-Mistral-7b-Instruct-v0.2.ipynb: tp_degree 8, amp bf16, sequence 2048 by default",
        models.MISTRAL_7B,
        Inference(2048),
        "inf2.48xlarge",
        Degrees(8),
        1,
    ),
    Deployment(
        "Mixtral-8x7B, tp 16",
        "SAMPLES mixtral-8x7b-sampling.ipynb: batch 1, tp_degree 16, n_positions 1024, amp f16",
        models.MIXTRAL_8X7B,
        Inference(1024, dtype=FP16, kv_dtype=FP16),
        "inf2.48xlarge",
        Degrees(16),
        1,
    ),
    Deployment(
        "Qwen3-235B-A22B, tp 64",
        "DOCS libraries/nxd-inference/tutorials/qwen3-moe-tutorial.ipynb: batch 16, seq_len 16384, ctx_batch_size 1",
        models.QWEN3_235B_A22B,
        Inference(16384, batch=16),
        "trn2.48xlarge",
        Degrees(64),
        1,
    ),
    Deployment(
        "OPT-13B, tp 2",
        "DOCS archive/transformers-neuronx/transformers-neuronx-developer-guide.rst: batch 1, float16, ~29 GB, "
        '"a trn1.2xlarge with 32 GB device memory is sufficient"',
        models.OPT_13B,
        Inference(2048, dtype=FP16, kv_dtype=FP16),
        "trn1.2xlarge",
        Degrees(2),
        1,
    ),
    Deployment(
        "OPT-30B, tp 8",
        "DOCS the same guide: batch 1, float16, ~66 GB, 8 NeuronCores of one trn1.32xlarge",
        models.OPT_30B,
        Inference(2048, dtype=FP16, kv_dtype=FP16),
        "trn1.32xlarge",
        Degrees(8),
        1,
    ),
    Deployment(
        "Llama-2-7B pre-training, tp 8",
        "NXD llama/tp_zero1_llama_hf_pretrain/tp_zero1_llama2_7B_hf_pretrain.sh: sequence 4096, micro-batch 1, "
        "ZeRO-1, sequence parallel, selective checkpointing; DOCS training_llama_tp_zero1.rst: 4 nodes, ZeRO-1 over 16",
        models.LLAMA_2_7B,
        Training(4096),
        "trn1.32xlarge",
        Degrees(8, 1, 16),
        4,
    ),
    Deployment(
        "Llama-3-8B pre-training, tp 32",
        "NXD llama/tp_zero1_llama_hf_pretrain/tp_zero1_llama3_8B_hf_pretrain.sh: sequence 8192, micro-batch 1, 4 nodes",
        models.LLAMA_3_8B,
        Training(8192),
        "trn1.32xlarge",
        Degrees(32, 1, 4),
        4,
    ),
    Deployment(
        "Llama-2-13B pre-training, tp 8 pp 4",
        "NXD llama/tp_pp_llama_hf_pretrain/run_llama2_13B_tp_pp.sh: sequence 4096, ZeRO-1, selective; DOCS: 32 nodes",
        models.LLAMA_2_13B,
        Training(4096),
        "trn1.32xlarge",
        Degrees(8, 4, 32),
        32,
    ),
    Deployment(
        "Llama-3.1-70B pre-training, tp 32 pp 8",
        "DOCS about-neuron/benchmarks/trn1/training_data_decoder.csv: TP=32 DP=4 PP=8, 32 nodes, sequence 8192",
        models.LLAMA_31_70B,
        Training(8192),
        "trn1.32xlarge",
        Degrees(32, 8, 4),
        32,
    ),
    Deployment(
        "GPT-NeoX-20B pre-training, tp 32",
        "NXD tp_dp_gpt_neox_hf_pretrain/tp_dp_gpt_neox_20b_hf_pretrain: micro-batch 1; DOCS archive/tutorials/"
        "training-gpt-neox-20b.rst: 4 nodes, ZeRO-1 over 4; no checkpointing is switched on",
        models.GPT_NEOX_20B,
        Training(2048, checkpointing=Checkpointing.NONE),
        "trn1.32xlarge",
        Degrees(32, 1, 4),
        4,
    ),
    Deployment(
        "BERT-Large phase 1 pre-training, data parallel",
        "DOCS about-neuron/benchmarks/trn1/training_data_encoder.csv: 32 workers on one node, micro-batch 16, "
        "sequence 128, AdamW, BF16 with stochastic rounding (so neither master weights nor FP32 gradients)",
        models.BERT_LARGE,
        Training(
            128,
            micro_batch=16,
            has_master_weights=False,
            has_fp32_gradients=False,
            zero1=False,
            checkpointing=Checkpointing.NONE,
        ),
        "trn1.32xlarge",
        Degrees(1, 1, 32),
        1,
    ),
]


@pytest.mark.parametrize("deployment", DEPLOYMENTS, ids=lambda each: each.name)
def test_a_published_deployment_fits_where_it_ran(deployment: Deployment) -> None:
    fit = deployment.fit()

    assert fit.reasons == ()
    assert fit.instances == deployment.instances


def test_llama_405b_does_not_fit_one_trn1_as_its_sample_says() -> None:
    """SAMPLES, the 405B notebook: "even trn1.32xlarge is not sufficient to fit the model"."""
    of_four = next(each for each in DEPLOYMENTS if each.name.startswith("Llama-3.1-405B, tp 128"))

    fit = of_four.fit(degrees=Degrees(32))

    # The weights alone: 405.9 B x 2 B / 32 cores = 25.4 GB, on 17.2 GB.
    assert not fit.fits
    assert fit.parts[0].bytes > fit.hbm_bytes


def test_opt_30b_does_not_fit_the_instance_that_holds_opt_13b() -> None:
    """DOCS, the guide's own rule: ~66 GB has to be "smaller than 16 GB times the tensor-parallelism degree"."""
    opt_30b = next(each for each in DEPLOYMENTS if each.name.startswith("OPT-30B"))

    assert not opt_30b.fit(instance="trn1.2xlarge", degrees=Degrees(2)).fits


def test_the_replicas_of_the_mistral_sample_share_an_instance() -> None:
    """SAMPLES, the Mistral notebook: "Using 8 means 3 replicas can be used on a inf2.48xlarge"."""
    mistral = next(each for each in DEPLOYMENTS if each.name.startswith("Mistral"))

    assert mistral.fit().replicas_per_instance == 3
