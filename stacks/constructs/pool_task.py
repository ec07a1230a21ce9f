"""The container of one pool's jobs, as ECS task definitions: what a Batch job definition says, in ECS's words."""

from typing import Final

from aws_cdk import Acknowledgment, Annotations, Validations
from aws_cdk import aws_ecs as ecs
from aws_cdk import aws_iam as iam
from aws_cdk import aws_logs as logs
from constructs import Construct

from environments.fleets import TrainingFleet
from fleet import naming
from fleet.capacity import LaunchPlan
from fleet.compile_cache.graph import LOCAL_FOLDER
from fleet.pool.actions import CONTAINER
from stacks.compile_cache import CompileCacheStack
from stacks.constructs import cache_mount
from stacks.constructs.fleet_capacity import FleetCapacity
from stacks.constructs.job_container import (
    MEMORY_SHARE,
    SHARED_MEMORY_SHARE,
    device_paths,
    told_of_hardware,
    told_of_region,
)
from stacks.constructs.job_data import allow_data
from stacks.constructs.rights import allow_pull
from stacks.constructs.training_job import RUN_DIRECTORY

# Where the agent's marker files say that a checkpoint is wanted, or that the node drains: "markers".
_MOUNTS: Final = (
    ("local-cache", LOCAL_FOLDER, False),
    ("markers", RUN_DIRECTORY, True),
    ("shared-cache", cache_mount.SHARED, True),
)
_ALL: Final = [ecs.DevicePermission.READ, ecs.DevicePermission.WRITE, ecs.DevicePermission.MKNOD]


class PoolTask(Construct):
    """Attributes: ``definitions`` (by instance type: each has other devices), ``job_role`` (with the fleet's rights to
    data), ``execution_role``.
    """

    def __init__(  # noqa: PLR0913 - keyword-only beyond the second, each one fact of a container
        self,
        scope: Construct,
        construct_id: str,
        *,
        environment: str,
        fleet: TrainingFleet,
        capacity: FleetCapacity,
        compile_cache: CompileCacheStack,
        log_group: logs.ILogGroup,
    ) -> None:
        """Define the container that runs on every node of a job; its command and ranks come with each start."""
        super().__init__(scope, construct_id)
        tasks = iam.ServicePrincipal("ecs-tasks.amazonaws.com")
        self.job_role = iam.Role(self, "JobRole", assumed_by=tasks, description=f"Training containers of {fleet.name}")
        cache_mount.allow_job(self.job_role, compile_cache)
        allow_data(self.job_role, fleet)
        self.execution_role = iam.Role(
            self, "ExecutionRole", assumed_by=tasks, description=f"Starts the training containers of {fleet.name}"
        )
        allow_pull(self.execution_role, fleet.container_image)
        self.definitions = {
            plan.instance_type.name: self._define(environment, fleet, plan, compile_cache, log_group)
            for plan in (capacity.plan, *(plan for plan, _ in capacity.alternatives))
        }

    def _define(
        self,
        environment: str,
        fleet: TrainingFleet,
        plan: LaunchPlan,
        compile_cache: CompileCacheStack,
        log_group: logs.ILogGroup,
    ) -> ecs.Ec2TaskDefinition:
        name = plan.instance_type.name
        definition = ecs.Ec2TaskDefinition(
            self,
            f"Task-{name}",
            family=naming.pool_family(environment, fleet.name, name),
            # EFA devices and the ports of torchrun are the host's, as they are in Batch's multi-node jobs.
            network_mode=ecs.NetworkMode.HOST,
            task_role=self.job_role,
            execution_role=self.execution_role,
            volumes=_volumes(compile_cache),
        )
        memory_mib = plan.instance_type.memory_gib * 1024
        container = definition.add_container(
            CONTAINER,
            image=ecs.ContainerImage.from_registry(fleet.container_image),
            cpu=plan.instance_type.vcpus * 1024,
            memory_limit_mib=int(memory_mib * MEMORY_SHARE),
            environment={
                **told_of_region(self),
                **cache_mount.told_to_job(compile_cache),
                **told_of_hardware(fleet, plan),
            },
            # EFA and Neuron pin memory for direct access by the device.
            ulimits=[ecs.Ulimit(name=ecs.UlimitName.MEMLOCK, soft_limit=-1, hard_limit=-1)],
            linux_parameters=_devices(self, plan, int(memory_mib * SHARED_MEMORY_SHARE)),
            logging=ecs.LogDriver.aws_logs(stream_prefix=fleet.name, log_group=log_group),
        )
        container.add_mount_points(
            *(
                ecs.MountPoint(source_volume=volume, container_path=path, read_only=read_only)
                for volume, path, read_only in _MOUNTS
            )
        )
        # The L2 cannot see that the execution role may pull the image, which it knows by its address only.
        Annotations.of(container).acknowledge_warning("@aws-cdk/aws-ecs:ecrImageRequiresPolicy")
        Validations.of(definition).acknowledge(
            Acknowledgment(
                id="AwsSolutions-ECS2", reason="paths and names of devices; secrets are not given to the container"
            )
        )
        return definition


def _devices(scope: Construct, plan: LaunchPlan, shared_memory_mib: int) -> ecs.LinuxParameters:
    parameters = ecs.LinuxParameters(scope, f"Devices-{plan.instance_type.name}", shared_memory_size=shared_memory_mib)
    parameters.add_devices(
        *(ecs.Device(host_path=path, container_path=path, permissions=_ALL) for path in device_paths(plan))
    )
    return parameters


def _volumes(compile_cache: CompileCacheStack) -> list[ecs.Volume]:
    return [
        ecs.Volume(name="local-cache", host=ecs.Host(source_path=LOCAL_FOLDER)),
        ecs.Volume(name="markers", host=ecs.Host(source_path=RUN_DIRECTORY)),
        ecs.Volume(
            name="shared-cache",
            efs_volume_configuration=ecs.EfsVolumeConfiguration(
                file_system_id=compile_cache.file_system.file_system_id,
                transit_encryption="ENABLED",
                authorization_config=ecs.AuthorizationConfig(
                    access_point_id=compile_cache.reader.access_point_id, iam="ENABLED"
                ),
            ),
        ),
    ]
