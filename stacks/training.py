"""Multi-node training: for each training fleet its nodes, and what its jobs are; on AWS Batch, or in a pool."""

from dataclasses import dataclass

from aws_cdk import Stack
from aws_cdk import aws_logs as logs
from aws_cdk import aws_ssm as ssm
from constructs import Construct

from environments.fleets import TrainingFleet, pool_settings
from environments.markets import Reservation
from environments.model import Environment
from fleet import naming
from stacks.capacity import CapacityStack
from stacks.compile_cache import CompileCacheStack
from stacks.constructs.batch_fleet import BatchFleet
from stacks.constructs.pool_nodes import PoolNodes
from stacks.constructs.pool_task import PoolTask
from stacks.constructs.removal import removal_policy
from stacks.constructs.retention import retention
from stacks.constructs.training_job import TrainingJob
from stacks.network import NetworkStack


@dataclass(frozen=True)
class Pool:
    """A fleet that the platform runs itself; ``stacks.pools`` has who looks after it."""

    nodes: PoolNodes
    task: PoolTask


class TrainingStack(Stack):
    """Attributes: ``log_group``; by fleet name ``fleets`` (environment, queue) and ``jobs`` (definition, role) of those
    on AWS Batch, and ``pools``.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        environment: Environment,
        network: NetworkStack,
        capacity: CapacityStack,
        compile_cache: CompileCacheStack,
    ) -> None:
        """Build every training fleet of ``environment``."""
        super().__init__(scope, construct_id, stack_name=naming.stack_name(environment.name, construct_id))
        self.log_group = logs.LogGroup(
            self,
            "JobLogs",
            log_group_name=naming.job_log_group(environment.name),
            retention=retention(environment),
            removal_policy=removal_policy(environment),
        )
        self.fleets: dict[str, BatchFleet] = {}
        self.jobs: dict[str, TrainingJob] = {}
        self.pools: dict[str, Pool] = {}
        for fleet in environment.training_fleets:
            part = Construct(self, fleet.name)
            fleet_capacity = capacity.fleets[fleet.name]
            subnet = network.private_subnet(fleet.availability_zone)
            if fleet.is_pool:
                self.pools[fleet.name] = Pool(
                    PoolNodes(
                        part, "Pool", environment=environment, fleet=fleet, capacity=fleet_capacity, subnet=subnet
                    ),
                    PoolTask(
                        part,
                        "Job",
                        environment=environment,
                        fleet=fleet,
                        capacity=fleet_capacity,
                        compile_cache=compile_cache,
                        log_group=self.log_group,
                    ),
                )
                place = self._pool_place(environment, fleet)
            else:
                self.fleets[fleet.name] = BatchFleet(part, "Batch", fleet=fleet, capacity=fleet_capacity, subnet=subnet)
                self.jobs[fleet.name] = TrainingJob(
                    part,
                    "Job",
                    fleet=fleet,
                    plan=fleet_capacity.plan,
                    compile_cache=compile_cache,
                    log_group=self.log_group,
                )
                place = self._batch_place(fleet)
            # Names that CloudFormation makes up, for `fleet jobs`, which runs outside this app.
            ssm.StringParameter(
                part,
                "Place",
                description=f"Where jobs for {fleet.name} go",
                parameter_name=naming.job_place_parameter(environment.name, fleet.name),
                string_value=self.to_json_string(place),
            )

    def _batch_place(self, fleet: TrainingFleet) -> dict[str, object]:
        return {
            "queue": self.fleets[fleet.name].queue.attr_job_queue_arn,
            "definition": self.jobs[fleet.name].definition.job_definition_arn,
            # As deployed, which the file may be ahead of.
            "image": fleet.container_image,
            "nodes": fleet.nodes,
        }

    def _pool_place(self, environment: Environment, fleet: TrainingFleet) -> dict[str, object]:
        """The members of ``fleet.pool.observed.PoolDeployment``."""
        settings = pool_settings(fleet)
        return {
            "environment": environment.name,
            "fleet": fleet.name,
            "group": naming.pool_name(environment.name, fleet.name),
            "cluster": naming.cluster_name(environment.name, fleet.name),
            "definitions": {
                name: each.task_definition_arn for name, each in self.pools[fleet.name].task.definitions.items()
            },
            "image": fleet.container_image,
            "nodes": fleet.nodes,
            "keeps_nodes": isinstance(fleet.market, Reservation),
            "drain_seconds": settings.drain_minutes * 60,
            "idle_seconds": settings.idle_minutes * 60,
            "start_seconds": settings.start_minutes * 60,
            "replace_at_once": max(1, fleet.nodes * settings.replace_percent // 100),
            "attempts": fleet.job_attempts,
            "longest_job_seconds": fleet.longest_job_hours * 3600,
        }
