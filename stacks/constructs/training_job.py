"""The multi-node job definition of one training fleet: the same container on every node, with every device."""

from typing import Final

from aws_cdk import Duration
from aws_cdk import aws_batch as batch
from aws_cdk import aws_iam as iam
from aws_cdk import aws_logs as logs
from constructs import Construct

from environments.fleets import TrainingFleet
from fleet.capacity import LaunchPlan
from fleet.compile_cache.graph import LOCAL_FOLDER
from stacks.compile_cache import CompileCacheStack
from stacks.constructs import cache_mount
from stacks.constructs.job_container import RETRIES, job_container
from stacks.constructs.job_data import allow_data

RUN_DIRECTORY: Final = "/run/neuron-fleet"


class TrainingJob(Construct):
    """Attributes: ``definition`` and ``job_role``, whose rights to data are those of the fleet's entry."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        fleet: TrainingFleet,
        plan: LaunchPlan,
        compile_cache: CompileCacheStack,
        log_group: logs.ILogGroup,
    ) -> None:
        """Define a job over all of the fleet's nodes; a submission may override the number."""
        super().__init__(scope, construct_id)
        self.job_role = iam.Role(
            self,
            "JobRole",
            assumed_by=iam.ServicePrincipal("ecs-tasks.amazonaws.com"),
            description=f"Training containers of {fleet.name}",
        )
        cache_mount.allow_job(self.job_role, compile_cache)
        allow_data(self.job_role, fleet)
        container = job_container(
            self,
            "Container",
            fleet=fleet,
            plan=plan,
            job_role=self.job_role,
            environment=cache_mount.told_to_job(compile_cache),
            volumes=_volumes(compile_cache),
            log_group=log_group,
            log_prefix=fleet.name,
        )
        self.definition = batch.MultiNodeJobDefinition(
            self,
            "Definition",
            containers=[batch.MultiNodeContainer(start_node=0, end_node=plan.nodes - 1, container=container)],
            main_node=0,
            propagate_tags=True,
            retry_attempts=fleet.job_attempts,
            retry_strategies=[batch.RetryStrategy.of(action, reason) for action, reason in RETRIES],
            timeout=Duration.hours(fleet.longest_job_hours),
            # All the same: within an owner's share the first to submit comes first.
            scheduling_priority=1,
            # A job that waits goes on to name the definition that it was submitted with.
            skip_deregister_on_update=True,
        )
        # SubmitJob overrides the number of nodes only where a range has an open end (Batch API reference,
        # NodeOverrides); the L2 always closes it.
        definition = self.definition.node.default_child
        assert isinstance(definition, batch.CfnJobDefinition)  # noqa: S101 - what the L2 is made of
        definition.add_property_override("NodeProperties.NodeRangeProperties.0.TargetNodes", "0:")


def _volumes(compile_cache: CompileCacheStack) -> list[batch.EcsVolume]:
    return [
        # The host's, so that the next job finds what this one has compiled, and the agent sees compilations.
        batch.EcsVolume.host(name="local-cache", container_path=LOCAL_FOLDER, host_path=LOCAL_FOLDER),
        # Where the agent's marker files say that a checkpoint is wanted, or that the node drains.
        batch.EcsVolume.host(name="markers", container_path=RUN_DIRECTORY, host_path=RUN_DIRECTORY, readonly=True),
        cache_mount.shared_tier(compile_cache),
    ]
