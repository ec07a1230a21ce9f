"""The task definition of one endpoint: one container that holds its Neuron devices for itself."""

import re
from typing import Final, cast

from aws_cdk import Acknowledgment, Arn, ArnComponents, ArnFormat, Duration, RemovalPolicy, Stack, Validations
from aws_cdk import aws_ecr as ecr
from aws_cdk import aws_ecs as ecs
from aws_cdk import aws_logs as logs
from constructs import Construct

from environments.fleets import InferenceFleet
from fleet import naming
from fleet.compile_cache.graph import LOCAL_FOLDER
from fleet.instances import InstanceType, instance_type
from stacks.constructs.retention import Retention
from stacks.constructs.serving import RUN_DIRECTORY, RUNTIME_FOLDER, STOP_SECONDS, allow_artifact, serving_environment
from stacks.constructs.shadow import allow_shadow, shadow_environment

_ECR_IMAGE: Final = re.compile(
    r"(?P<account>\d{12})\.dkr\.ecr\.(?P<region>[a-z0-9-]+)\.amazonaws\.com/(?P<name>[^:@]+)"
    r"(?::(?P<tag>[^:@]+))?(?:@(?P<digest>sha256:[0-9a-f]{64}))?"
)
CONTAINER: Final = "endpoint"
SCRATCH: Final = "/tmp"  # noqa: S108 - a path inside the container, on a volume of its own
# ECS takes a tag or a digest; where the file has both, the tag is for people.
_TAG_BEFORE_DIGEST: Final = re.compile(r":[\w.-]+(?=@sha256:)")
# Importing a framework takes a minute or two before the first answer; 300 seconds is the most that ECS allows.
_NOT_JUDGED: Final = Duration.seconds(300)
# Of the node's memory; the rest is for the operating system, the ECS agent and the node agent.
MEMORY_SHARE: Final = 0.9
# Workers of one model exchange activations through shared memory; Docker's 64 MB stop them at start.
SHARED_MEMORY_SHARE: Final = 0.1
_ALL: Final = [ecs.DevicePermission.READ, ecs.DevicePermission.WRITE, ecs.DevicePermission.MKNOD]


class EndpointTask(Construct):
    """Attributes: ``definition``, ``log_group``."""

    def __init__(
        self, scope: Construct, construct_id: str, *, environment: str, fleet: InferenceFleet, retention: Retention
    ) -> None:
        """Describe the task of ``fleet``'s endpoint; one runs per node."""
        super().__init__(scope, construct_id)
        hardware = instance_type(fleet.instance_type)
        self.log_group = logs.LogGroup(
            self, "Logs", retention=retention.log_days, removal_policy=retention.removal_policy
        )
        # Every task has its own network interface, so that the node itself need not let anybody in.
        self.definition = ecs.Ec2TaskDefinition(
            self,
            "Task",
            network_mode=ecs.NetworkMode.AWS_VPC,
            # A rollout takes the newest of the family, which is what was deployed last.
            family=naming.endpoint_family(environment, fleet.name),
        )
        # What serves was deployed earlier: ECS starts no task of a definition that was taken out of use.
        cast(ecs.CfnTaskDefinition, self.definition.node.default_child).apply_removal_policy(
            RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE
        )
        self.definition.add_volume(name="scratch")
        # The host's, so that a new version of the task finds what the old one has compiled, and the agent sees misses.
        self.definition.add_volume(name="local-cache", host=ecs.Host(source_path=LOCAL_FOLDER))
        # The agent's socket for figures; and where a sick runtime is remembered over a restart, for the agent to read.
        self.definition.add_volume(name="agent", host=ecs.Host(source_path=RUN_DIRECTORY))
        self.definition.add_volume(name="runtime", host=ecs.Host(source_path=f"{RUN_DIRECTORY}/serving"))
        container = self.definition.add_container(
            CONTAINER,
            image=self._image(fleet.endpoint.container_image),
            cpu=(hardware.vcpus - 1) * 1024,
            memory_limit_mib=_mebibytes(hardware, MEMORY_SHARE),
            linux_parameters=self._devices(fleet, hardware),
            readonly_root_filesystem=True,
            # Python and model hubs otherwise write into the home folder.
            environment={
                "HOME": SCRATCH,
                "NEURON_COMPILE_CACHE_URL": LOCAL_FOLDER,
                **serving_environment(Stack.of(self), environment, fleet),
                **shadow_environment(Stack.of(self), environment, fleet),
            },
            health_check=_liveness(fleet),
            stop_timeout=Duration.seconds(STOP_SECONDS),
            port_mappings=[ecs.PortMapping(container_port=fleet.endpoint.port)],
            # A full log buffer must not stop an answer.
            logging=ecs.LogDrivers.aws_logs(
                stream_prefix=fleet.name, log_group=self.log_group, mode=ecs.AwsLogDriverMode.NON_BLOCKING
            ),
        )
        Validations.of(self.definition).acknowledge(
            Acknowledgment(
                id="AwsSolutions-ECS2", reason="paths and the region; secrets are not given to the container"
            )
        )
        # The only places where the image may write: sockets and temporary files, and compiled graphs.
        container.add_mount_points(
            ecs.MountPoint(source_volume="scratch", container_path=SCRATCH, read_only=False),
            ecs.MountPoint(source_volume="local-cache", container_path=LOCAL_FOLDER, read_only=False),
            ecs.MountPoint(source_volume="runtime", container_path=RUNTIME_FOLDER, read_only=False),
            ecs.MountPoint(source_volume="agent", container_path=RUN_DIRECTORY, read_only=True),
        )
        allow_artifact(self.definition.task_role, environment, fleet)
        allow_shadow(self.definition.task_role, environment, fleet)

    def _devices(self, fleet: InferenceFleet, hardware: InstanceType) -> ecs.LinuxParameters:
        parameters = ecs.LinuxParameters(
            self,
            "Linux",
            init_process_enabled=True,
            shared_memory_size=_mebibytes(hardware, SHARED_MEMORY_SHARE),
        )
        devices = (f"/dev/neuron{index}" for index in range(fleet.endpoint.devices_per_task))
        parameters.add_devices(*(ecs.Device(host_path=path, permissions=_ALL) for path in devices))
        return parameters

    def _image(self, uri: str) -> ecs.ContainerImage:
        found = _ECR_IMAGE.fullmatch(uri)
        if found is None:
            return ecs.ContainerImage.from_registry(_TAG_BEFORE_DIGEST.sub("", uri))
        arn = Arn.format(
            ArnComponents(
                partition=Stack.of(self).partition,
                service="ecr",
                region=found["region"],
                account=found["account"],
                resource="repository",
                resource_name=found["name"],
                arn_format=ArnFormat.SLASH_RESOURCE_NAME,
            )
        )
        repository = ecr.Repository.from_repository_attributes(
            self, "Repository", repository_arn=arn, repository_name=found["name"]
        )
        Validations.of(self.definition.obtain_execution_role()).acknowledge(
            Acknowledgment(
                id="AwsSolutions-IAM5[Resource::*]",
                reason="ecr:GetAuthorizationToken has no resource level; images come from one repository only",
            )
        )
        return ecs.ContainerImage.from_ecr_repository(repository, found["digest"] or found["tag"])


def _liveness(fleet: InferenceFleet) -> ecs.HealthCheck | None:
    """ECS ends a task whose answer is not 200, and starts another: what a sick runtime needs, once."""
    path = fleet.endpoint.liveness_path
    if path is None:
        return None
    address = f"http://127.0.0.1:{fleet.endpoint.port}{path}"
    return ecs.HealthCheck(
        # Every image that serves a model on Neuron has Python, and few have curl. An error status raises.
        command=["CMD", "python3", "-c", f"import urllib.request as r; r.urlopen({address!r}, timeout=4)"],
        interval=Duration.seconds(15),
        timeout=Duration.seconds(5),
        retries=3,
        start_period=_NOT_JUDGED,
    )


def _mebibytes(hardware: InstanceType, share: float) -> int:
    return int(hardware.memory_gib * 1024 * share)
