"""A container that has a whole node of a training fleet to itself: every device, and memory that they may pin."""

from collections.abc import Mapping, Sequence
from typing import Final

from aws_cdk import Annotations, Size, Stack
from aws_cdk import aws_batch as batch
from aws_cdk import aws_ecs as ecs
from aws_cdk import aws_iam as iam
from aws_cdk import aws_logs as logs
from constructs import Construct

from environments.fleets import TrainingFleet
from fleet.capacity import LaunchPlan
from fleet.capacity.network_interfaces import EFA_VARIABLES
from fleet.pool.observed import RESUME_EXIT_CODE
from stacks.constructs.rights import allow_pull

# ECS registers less memory than the type's figure: the kernel and the agents keep some. A job that asks for more
# than is registered stays RUNNABLE for ever.
MEMORY_SHARE: Final = 0.9
SHARED_MEMORY_SHARE: Final = 0.25
# The first that matches counts; what matches none is retried, so the last one ends it. Only the main node's end is
# looked at: one that loses a peer has to say so itself, by RESUME_EXIT_CODE. Batch user guide, "Automated job retries".
RETRIES: Final = (
    (batch.Action.RETRY, batch.Reason.custom(on_status_reason="Host EC2*")),
    (batch.Action.RETRY, batch.Reason.custom(on_exit_code=str(RESUME_EXIT_CODE))),
    (batch.Action.RETRY, batch.Reason.custom(on_reason="CannotPullContainerError*")),
    (batch.Action.RETRY, batch.Reason.custom(on_status_reason="Task failed to start*")),
    (batch.Action.EXIT, batch.Reason.custom(on_reason="*")),
)


def job_container(  # noqa: PLR0913 - keyword-only beyond the second, each one fact of a container
    scope: Construct,
    construct_id: str,
    *,
    fleet: TrainingFleet,
    plan: LaunchPlan,
    job_role: iam.Role,
    environment: Mapping[str, str],
    volumes: Sequence[batch.EcsVolume],
    log_group: logs.ILogGroup,
    log_prefix: str,
) -> batch.EcsEc2ContainerDefinition:
    """The fleet's image on a node of ``plan``; ``environment`` comes beside what the hardware wants to be told."""
    execution_role = iam.Role(
        scope,
        "ExecutionRole",
        assumed_by=iam.ServicePrincipal("ecs-tasks.amazonaws.com"),
        description=f"Starts the training containers of {fleet.name}",
    )
    allow_pull(execution_role, fleet.container_image)
    memory_mib = plan.instance_type.memory_gib * 1024
    container = batch.EcsEc2ContainerDefinition(
        scope,
        construct_id,
        image=ecs.ContainerImage.from_registry(fleet.container_image),
        cpu=plan.instance_type.vcpus,
        memory=Size.mebibytes(int(memory_mib * MEMORY_SHARE)),
        job_role=job_role,
        execution_role=execution_role,
        environment={**told_of_region(scope), **environment, **told_of_hardware(fleet, plan)},
        # EFA and Neuron pin memory for direct access by the device.
        ulimits=[batch.Ulimit(name=batch.UlimitName.MEMLOCK, soft_limit=-1, hard_limit=-1)],
        linux_parameters=_devices(scope, plan, Size.mebibytes(int(memory_mib * SHARED_MEMORY_SHARE))),
        volumes=list(volumes),
        logging=ecs.LogDriver.aws_logs(stream_prefix=log_prefix, log_group=log_group),
    )
    # The L2 cannot see that the execution role may pull the image, which it knows by its address only.
    Annotations.of(container).acknowledge_warning("@aws-cdk/aws-ecs:ecrImageRequiresPolicy")
    return container


def told_of_region(scope: Construct) -> dict[str, str]:
    """Where its data lies: on EC2 neither ECS nor AWS Batch tells a container, and boto3 reads no other variable."""
    return {"AWS_DEFAULT_REGION": Stack.of(scope).region}


def told_of_hardware(fleet: TrainingFleet, plan: LaunchPlan) -> dict[str, str]:
    """What the devices want a container to be told, whoever starts it."""
    environment: dict[str, str] = {}
    if plan.uses_efa:
        environment |= EFA_VARIABLES
    if fleet.lnc is not None:
        environment["NEURON_LOGICAL_NC_CONFIG"] = str(fleet.lnc)
    return environment


def device_paths(plan: LaunchPlan) -> list[str]:
    """Every accelerator, and every EFA device where the nodes use EFA."""
    paths = [f"/dev/neuron{index}" for index in range(plan.instance_type.devices)]
    if plan.uses_efa:
        paths += [f"/dev/infiniband/uverbs{index}" for index in range(plan.instance_type.efa_interfaces)]
    return paths


def _devices(scope: Construct, plan: LaunchPlan, shared_memory: Size) -> batch.LinuxParameters:
    parameters = batch.LinuxParameters(scope, "Devices", shared_memory_size=shared_memory)
    parameters.add_devices(*(batch.Device(host_path=path, container_path=path) for path in device_paths(plan)))
    return parameters
