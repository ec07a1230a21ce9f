"""The job that compiles a model's graphs on one node of a training fleet, and may share them with all nodes."""

from typing import Final

from aws_cdk import Duration
from aws_cdk import aws_batch as batch
from aws_cdk import aws_iam as iam
from aws_cdk import aws_logs as logs
from constructs import Construct

from environments.fleets import TrainingFleet
from fleet.capacity import LaunchPlan
from stacks.compile_cache import CompileCacheStack
from stacks.constructs import cache_mount
from stacks.constructs.job_container import RETRIES, job_container
from stacks.constructs.job_data import allow_reading

# In the container and not the host's: what is in it afterwards is this artifact's, and nothing else.
LOCAL: Final = "/var/tmp/neuron-precompile"  # noqa: S108 - a folder of the container
# The largest published models take some hours; a compiler that hangs must not keep a node for a day.
LONGEST: Final = Duration.hours(12)
ATTEMPTS: Final = 3
# Training waits for it, so of its owner's jobs it comes first; theirs have 1.
PRIORITY: Final = 10


class PrecompileJob(Construct):
    """Attributes: ``definition`` and ``job_role``, which reads the fleet's data and writes the shared tier."""

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
        """Define the job; whoever submits it brings the command."""
        super().__init__(scope, construct_id)
        self.job_role = iam.Role(
            self,
            "JobRole",
            assumed_by=iam.ServicePrincipal("ecs-tasks.amazonaws.com"),
            description=f"Compiles graphs for {fleet.name}, and shares them",
        )
        compile_cache.grant_write(self.job_role)
        # A trial run reads the model and some data. It has no results.
        allow_reading(self.job_role, fleet)
        container = job_container(
            self,
            "Container",
            fleet=fleet,
            plan=plan,
            job_role=self.job_role,
            environment={
                **cache_mount.told(LOCAL, TABLE=compile_cache.leases.table_name, BUCKET=compile_cache.bucket_name),
                "NEURON_FLEET_JOB": "precompile",
                "NEURON_FLEET_OWNER": fleet.owner,
            },
            volumes=[cache_mount.shared_tier(compile_cache, writes=True)],
            log_group=log_group,
            log_prefix=f"{fleet.name}-precompile",
        )
        self.definition = batch.EcsJobDefinition(
            self,
            "Definition",
            container=container,
            propagate_tags=True,
            retry_attempts=ATTEMPTS,
            retry_strategies=[batch.RetryStrategy.of(action, reason) for action, reason in RETRIES],
            timeout=LONGEST,
            scheduling_priority=PRIORITY,
            # An execution goes on to name the definition that it began with.
            skip_deregister_on_update=True,
        )
