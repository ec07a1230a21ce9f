"""Models that were served, by what the sources say of each, read at these commits:

- DOCS: aws-neuron/aws-neuron-sdk 81ce03a (2026-08-21)
- SAMPLES: aws-neuron/aws-neuron-samples 2015d65 (2026-05-07), torch-neuronx/transformers-neuronx/inference
- NXD: aws-neuron/neuronx-distributed fbac349 (2026-04-09), examples/training
- THREAD: public threads of aws-neuron/aws-neuron-sdk and aws-neuron/transformers-neuronx on GitHub
- OPTIMUM: huggingface/optimum-neuron 213224e (2026-08-19), docs/source/benchmarks; the Llama 2 pages until 7180d48

A batch or context that a source does not state is the default of its script, named beside the case.
"""

from typing import Final

from planning.sizing.parallelism import Degrees
from planning.sizing.workload import Dtype, Inference
from tests.support import model_configs as models
from tests.support.deployments import Deployment

FP16: Final = Dtype.FP16
SERVING: Final = (
    Deployment(
        "Llama-2-13B, tp 24",
        "SAMPLES meta-llama-2-13b-sampling.ipynb: batch 1, tp_degree 24, amp f16, 2048 positions by default",
        models.LLAMA_2_13B,
        Inference(2048, dtype=FP16, kv_dtype=FP16),
        "inf2.48xlarge",
        Degrees(24),
    ),
    Deployment(
        "Llama-2-70B, tp 24",
        "DOCS about-neuron/benchmarks/inf2/throughput_data_decoder.csv: batch 1, sequence 4096, FP16",
        models.LLAMA_2_70B,
        Inference(4096, dtype=FP16, kv_dtype=FP16),
        "inf2.48xlarge",
        Degrees(24),
    ),
    Deployment(
        "Llama-3-70B, tp 32",
        "DOCS about-neuron/benchmarks/trn1/throughput_data_decoder.csv: batch 4, sequence 4096, weights bf16",
        models.LLAMA_3_70B,
        Inference(4096, batch=4),
        "trn1.32xlarge",
        Degrees(32),
    ),
    Deployment(
        "Llama-3.1-8B, tp 24, 32k",
        "SAMPLES llama-3.1-8b-32k-sampling.ipynb: n_positions 32768, batch 1, tp_degree 24, amp bf16",
        models.LLAMA_31_8B,
        Inference(32768),
        "inf2.48xlarge",
        Degrees(24),
    ),
    Deployment(
        "Llama-3.1-8B, tp 8, batch 48",
        "OPTIMUM inferentia-llama3.1-8b.mdx: batch 48, sequence 4096, 4 devices = 8 cores",
        models.LLAMA_31_8B,
        Inference(4096, batch=48),
        "inf2.48xlarge",
        Degrees(8),
    ),
    Deployment(
        "Llama-2-13B, tp 8, batch 16",
        "OPTIMUM inferentia-llama2-13b.mdx: batch 16, sequence 4096, 4 devices = 8 cores",
        models.LLAMA_2_13B,
        Inference(4096, batch=16),
        "inf2.48xlarge",
        Degrees(8),
    ),
    Deployment(
        "Llama-2-7B, tp 12, batch 24",
        "OPTIMUM inferentia-llama2-7b.mdx: batch 24, sequence 4096, 6 devices = 12 cores",
        models.LLAMA_2_7B,
        Inference(4096, batch=24),
        "inf2.48xlarge",
        Degrees(12),
    ),
    Deployment(
        "Llama-3.3-70B, tp 24, batch 8",
        "OPTIMUM inferentia-llama3.3-70b.mdx: batch 8, sequence 4096, 12 devices = 24 cores",
        models.LLAMA_31_70B,
        Inference(4096, batch=8),
        "inf2.48xlarge",
        Degrees(24),
    ),
    Deployment(
        "Llama-3.1-70B, tp 32, 64k",
        "SAMPLES llama-3.1-70b-64k-sampling.ipynb: batch 1, tp_degree 32, amp bf16",
        models.LLAMA_31_70B,
        Inference(65536),
        "trn1.32xlarge",
        Degrees(32),
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
    ),
    Deployment(
        "Llama-3.3-70B, tp 64",
        "DOCS libraries/nxd-inference/tutorials/trn2-llama3.3-70b-tutorial.rst: seq-len 12800, batches up to 4",
        models.LLAMA_31_70B,
        Inference(12800, batch=4),
        "trn2.48xlarge",
        Degrees(64),
    ),
    Deployment(
        "Mistral-7B-Instruct-v0.2, tp 8",
        "SAMPLES mistralai-Mistral-7b-Instruct-v0.2.ipynb: tp_degree 8, amp bf16, sequence 2048 by default",
        models.MISTRAL_7B,
        Inference(2048),
        "inf2.48xlarge",
        Degrees(8),
    ),
    Deployment(
        "Mistral-7B-Instruct-v0.2, tp 24, 16k",
        "DOCS about-neuron/benchmarks/inf2/throughput_data_decoder.csv: batch 8, sequence 16384, weights bf16",
        models.MISTRAL_7B,
        Inference(16384, batch=8),
        "inf2.48xlarge",
        Degrees(24),
    ),
    Deployment(
        "CodeLlama-13B, tp 24, 16k",
        "DOCS the same table: batch 4, sequence 16384, FP16, weights bf16",
        models.CODELLAMA_13B,
        Inference(16384, batch=4),
        "inf2.48xlarge",
        Degrees(24),
    ),
    Deployment(
        "Llama-2-7B, tp 24, twice its context",
        "DOCS the same table: batch 8, sequence 8192 on a model made for 4096",
        models.LLAMA_2_7B,
        Inference(8192, batch=8),
        "inf2.48xlarge",
        Degrees(24),
    ),
    Deployment(
        "Mixtral-8x7B, tp 16",
        "SAMPLES mixtral-8x7b-sampling.ipynb: batch 1, tp_degree 16, n_positions 1024, amp f16",
        models.MIXTRAL_8X7B,
        Inference(1024, dtype=FP16, kv_dtype=FP16),
        "inf2.48xlarge",
        Degrees(16),
    ),
    Deployment(
        "Qwen3-235B-A22B, tp 64",
        "DOCS libraries/nxd-inference/tutorials/qwen3-moe-tutorial.ipynb: batch 16, seq_len 16384, ctx_batch_size 1; "
        "it also splits attention by data (attention_dp_degree 8), which is not modeled and would take less",
        models.QWEN3_235B_A22B,
        Inference(16384, batch=16),
        "trn2.48xlarge",
        Degrees(64),
    ),
    Deployment(
        "Llama-2-13B, tp 2",
        "THREAD 741 of aws-neuron-sdk: 13B can be made to fit inf2.8xlarge in fp16, with little context, taken as 512",
        models.LLAMA_2_13B,
        Inference(512, dtype=FP16, kv_dtype=FP16),
        "inf2.8xlarge",
        Degrees(2),
    ),
    Deployment(
        "Llama-2-7B, tp 2",
        "huggingface/blog pull request 1615, the budget configuration: 2 cores, batch 1; 2048 positions by default",
        models.LLAMA_2_7B,
        Inference(2048, dtype=FP16, kv_dtype=FP16),
        "inf2.xlarge",
        Degrees(2),
    ),
    Deployment(
        "OPT-13B, tp 2",
        "DOCS archive/transformers-neuronx/transformers-neuronx-developer-guide.rst: batch 1, float16, ~29 GB, "
        '"a trn1.2xlarge with 32 GB device memory is sufficient"',
        models.OPT_13B,
        Inference(2048, dtype=FP16, kv_dtype=FP16),
        "trn1.2xlarge",
        Degrees(2),
    ),
    Deployment(
        "OPT-30B, tp 8",
        "DOCS the same guide: batch 1, float16, ~66 GB, 8 NeuronCores of one trn1.32xlarge",
        models.OPT_30B,
        Inference(2048, dtype=FP16, kv_dtype=FP16),
        "trn1.32xlarge",
        Degrees(8),
    ),
)
