"""Models that were trained; DOCS and NXD are the sources that ``published_serving`` lists."""

from typing import Final

from planning.sizing.parallelism import Degrees
from planning.sizing.workload import Checkpointing, Training
from tests.support import model_configs as models
from tests.support.deployments import Deployment

TRAINING: Final = (
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
)
