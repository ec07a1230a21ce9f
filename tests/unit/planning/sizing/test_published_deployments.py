"""The sizing agrees with what Neuron's documentation, samples and partners have run, or say that does not run.

Each case names its source; ``tests/support/published_serving.py`` says at which commits they were read.
"""

import pytest

from fleet.accelerators import GIB
from fleet.instances import instance_type
from planning.sizing.fit import check
from planning.sizing.huggingface import read_config
from planning.sizing.parallelism import Degrees
from planning.sizing.workload import Dtype, Inference
from tests.support import model_configs as models
from tests.support.deployments import Deployment
from tests.support.published_serving import SERVING
from tests.support.published_training import TRAINING

DEPLOYMENTS = (*SERVING, *TRAINING)


@pytest.mark.parametrize("deployment", DEPLOYMENTS, ids=lambda each: each.name)
def test_a_published_deployment_fits_where_it_ran(deployment: Deployment) -> None:
    fit = deployment.fit()

    assert fit.reasons == ()
    assert fit.instances == deployment.instances


def test_llama_405b_does_not_fit_one_trn1_as_its_sample_says() -> None:
    """SAMPLES, the 405B notebook: "even trn1.32xlarge is not sufficient to fit the model"."""
    of_four = next(each for each in SERVING if each.name.startswith("Llama-3.1-405B, tp 128"))

    fit = of_four.fit(degrees=Degrees(32))

    # The weights alone: 405.9 B x 2 B / 32 cores = 25.4 GB, on 17.2 GB.
    assert not fit.fits
    assert fit.parts[0].bytes > fit.hbm_bytes


def test_opt_30b_does_not_fit_the_instance_that_holds_opt_13b() -> None:
    """DOCS, the guide's own rule: ~66 GB has to be "smaller than 16 GB times the tensor-parallelism degree"."""
    opt_30b = next(each for each in SERVING if each.name.startswith("OPT-30B"))

    assert not opt_30b.fit(instance="trn1.2xlarge", degrees=Degrees(2)).fits


def test_llama_3_70b_did_not_load_on_inf2_24xlarge_until_it_was_helped() -> None:
    """THREAD 92 of transformers-neuronx: out of memory with 13.170 GiB of tensors on a core; a workaround made it load.

    The thread's excerpt names neither degree nor positions: 12 cores are all there are, 2048 is the default.
    """
    shape, inf2 = read_config(models.LLAMA_3_70B, "llama-3-70b"), instance_type("inf2.24xlarge")
    workload = Inference(2048, dtype=Dtype.FP16, kv_dtype=Dtype.FP16)
    plain = check(shape, workload, inf2, Degrees(12))
    tensors = sum(part.bytes for part in plain.parts if part.name in {"weights", "kv cache"})

    assert tensors / GIB == pytest.approx(13.170, rel=0.01)
    assert not plain.fits
    assert check(shape, workload, inf2, Degrees(12), headroom=0.1).fits


def test_the_replicas_of_the_mistral_sample_share_an_instance() -> None:
    """SAMPLES, the Mistral notebook: "Using 8 means 3 replicas can be used on a inf2.48xlarge"."""
    mistral = next(each for each in SERVING if each.name.startswith("Mistral"))

    assert mistral.fit().replicas_per_instance == 3
