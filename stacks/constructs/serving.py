"""What the process in an endpoint's task is told, and the compiled graphs that it may fetch.

The names of the variables are those of ``workload/serving/settings.py`` and ``workload/compile_cache``;
a contract test reads them back with the former.
"""

from typing import Final

from aws_cdk import Acknowledgment, Stack, Validations
from aws_cdk import aws_iam as iam
from aws_cdk.region_info import RegionInfo

from environments.fleets import InferenceFleet
from fleet import naming
from fleet.capacity.rules.software import stated_sdk
from fleet.compile_cache.artifact import Artifact
from fleet.instances import instance_type
from fleet.neuron_software import Framework

RUN_DIRECTORY: Final = "/run/neuron-fleet"
# Until the load balancer has seen three failed checks, and some (workload/serving/health.py).
LEAVING_SECONDS: Final = 60
# Of ECS, from SIGTERM to SIGKILL: beyond that, what answers in progress may take. ECS allows no more everywhere.
STOP_SECONDS: Final = 120
RUNTIME_FOLDER: Final = "/run/neuron-fleet-serving"


def artifact_of(fleet: InferenceFleet) -> Artifact | None:
    """The compiled graphs that the endpoint declares; None where it declares none."""
    endpoint = fleet.endpoint
    sdk = stated_sdk(fleet.neuron_sdk, endpoint.container_image)
    if endpoint.artifact is None or not sdk:
        return None
    named = endpoint.artifact
    return Artifact(named.model, named.version, sdk, endpoint.sequence_lengths, endpoint.batch_sizes)


def serving_environment(stack: Stack, environment: str, fleet: InferenceFleet) -> dict[str, str]:
    """The variables of one task of ``stack``."""
    endpoint, chip = fleet.endpoint, instance_type(fleet.instance_type).accelerator
    told = {
        "AWS_REGION": stack.region,
        # A miss is an error: compiling would hold up every request for minutes.
        "NEURON_FLEET_CACHE_ON_MISS": "refuse",
        "NEURON_FLEET_CORES": str(endpoint.devices_per_task * chip.cores),
        "NEURON_FLEET_CORES_PER_DEVICE": str(chip.cores),
        "NEURON_FLEET_SEQUENCE_LENGTHS": ",".join(map(str, endpoint.sequence_lengths)),
        "NEURON_FLEET_BATCH_SIZES": ",".join(map(str, endpoint.batch_sizes)),
        "NEURON_FLEET_LOADING_SECONDS": str(endpoint.loading_minutes * 60),
        "NEURON_FLEET_SERVING_FOLDER": RUNTIME_FOLDER,
        "NEURON_FLEET_LEAVING_SECONDS": str(LEAVING_SECONDS),
    }
    if fleet.framework is Framework.VLLM:
        # vllm-neuron, "Compilation Cache": a graph that is in no tier fails the start in place of being compiled.
        told["VLLM_NEURON_DISABLE_WARMUP_COMPILE"] = "1"
    artifact = artifact_of(fleet)
    if artifact is not None:
        told |= {
            "NEURON_FLEET_MODEL": artifact.model,
            "NEURON_FLEET_MODEL_VERSION": artifact.model_version,
            "NEURON_FLEET_SDK_VERSION": artifact.sdk_version,
            "NEURON_FLEET_CACHE_BUCKET": _bucket(stack, environment),
        }
    return told


def allow_artifact(role: iam.IRole, environment: str, fleet: InferenceFleet) -> None:
    """Let ``role`` read the endpoint's compiled graphs, and nothing else."""
    artifact = artifact_of(fleet)
    if artifact is None:
        return
    stack = Stack.of(role)
    partition = RegionInfo.get(stack.region).partition
    resource = f"arn:{partition}:s3:::{_bucket(stack, environment)}/{artifact.prefix}/*"
    role.add_to_principal_policy(iam.PolicyStatement(actions=["s3:GetObject"], resources=[resource]))
    Validations.of(role).acknowledge(
        Acknowledgment(
            id=f"AwsSolutions-IAM5[Resource::{resource}]",
            reason="graphs get their names from the compiler; all of one artifact are read",
        )
    )


def _bucket(stack: Stack, environment: str) -> str:
    return naming.artifact_bucket(environment, stack.account, stack.region)
