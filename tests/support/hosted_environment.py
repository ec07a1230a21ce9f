"""An environment whose endpoint SageMaker runs, and nothing else: production's chat, hosted."""

from typing import Any

from environments import loader
from environments.model import Environment

FLEET = "hosted-chat"
IMAGE = "chat:llama-13b-sdk2.28@sha256:" + "3f" * 32


def content(**endpoint: Any) -> dict[str, Any]:
    """As a file has it; ``endpoint`` are keys of the fleet's endpoint."""
    prod = loader.load("prod").model_dump(mode="json", exclude_unset=True)
    fleet = {
        "name": FLEET,
        "purpose": "inference",
        "owner": "chat",
        "instance_type": "inf2.48xlarge",
        "nodes": 4,
        "market": {"kind": "on-demand"},
        "framework": "nxd-inference",
        "endpoint": {
            "engine": "sagemaker",
            "container_image": f"{prod['account']}.dkr.ecr.{prod['region']}.amazonaws.com/{IMAGE}",
            "artifact": {"model": "meta-llama/Llama-2-13b-chat", "version": "r1"},
            "sagemaker": {"min": 2, "max": 8, "invocations_per_instance_minute": 240},
            **endpoint,
        },
    }
    return {**prod, "name": "hosted", "fleets": [fleet], "budgets": None}


def hosted(**endpoint: Any) -> Environment:
    return Environment.model_validate(content(**endpoint))
