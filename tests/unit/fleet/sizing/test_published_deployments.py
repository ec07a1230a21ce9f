"""The sizing agrees with what Neuron's documentation, samples and partners have run, or say that does not run.

Each case names its source; ``tests/support/published_serving.py`` says at which commits they were read.
"""

import pytest

from fleet.sizing.parallelism import Degrees
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


def test_the_replicas_of_the_mistral_sample_share_an_instance() -> None:
    """SAMPLES, the Mistral notebook: "Using 8 means 3 replicas can be used on a inf2.48xlarge"."""
    mistral = next(each for each in SERVING if each.name.startswith("Mistral"))

    assert mistral.fit().replicas_per_instance == 3
