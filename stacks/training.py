"""Multi-node training: for each training fleet its nodes, and what its jobs are; on AWS Batch, or in a pool."""

from dataclasses import asdict, dataclass

from aws_cdk import Stack
from aws_cdk import aws_logs as logs
from aws_cdk import aws_ssm as ssm
from constructs import Construct

from environments.fleets import TrainingFleet, pool_settings
from environments.model import Environment
from fleet import naming
from fleet.capacity import LaunchPlan
from fleet.fleet_spec import MarketKind
from fleet.jobs import submission
from fleet.pool import observed
from stacks.capacity import CapacityStack
from stacks.compile_cache import CompileCacheStack
from stacks.constructs.batch_fleet import BatchFleet
from stacks.constructs.pool_nodes import PoolNodes
from stacks.constructs.pool_task import PoolTask
from stacks.constructs.retention import retention_of
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
            retention=retention_of(environment).log_days,
            removal_policy=retention_of(environment).removal_policy,
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
                        part, "Pool", environment=environment.name, fleet=fleet, capacity=fleet_capacity, subnet=subnet
                    ),
                    PoolTask(
                        part,
                        "Job",
                        environment=environment.name,
                        fleet=fleet,
                        capacity=fleet_capacity,
                        compile_cache=compile_cache,
                        log_group=self.log_group,
                    ),
                )
                place = self._pool_place(environment.name, fleet, fleet_capacity.plan)
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
                place = self._batch_place(fleet, fleet_capacity.plan)
            # Names that CloudFormation makes up, for `fleet jobs`, which runs outside this app.
            ssm.StringParameter(
                part,
                "Place",
                description=f"Where jobs for {fleet.name} go",
                parameter_name=naming.job_place_parameter(environment.name, fleet.name),
                string_value=self.to_json_string(place),
            )

    def _batch_place(self, fleet: TrainingFleet, plan: LaunchPlan) -> dict[str, object]:
        place = submission.JobQueue(
            queue=self.fleets[fleet.name].queue.attr_job_queue_arn,
            definition=self.jobs[fleet.name].definition.job_definition_arn,
            # As deployed, which the file may be ahead of.
            image=fleet.container_image,
            nodes=plan.nodes,
        )
        return asdict(place)

    def _pool_place(self, environment: str, fleet: TrainingFleet, plan: LaunchPlan) -> dict[str, object]:
        settings, definitions = pool_settings(fleet), self.pools[fleet.name].task.definitions
        place = observed.PoolDeployment(
            environment=environment,
            fleet=fleet.name,
            group=naming.pool_name(environment, fleet.name),
            cluster=naming.cluster_name(environment, fleet.name),
            definitions={name: each.task_definition_arn for name, each in definitions.items()},
            image=fleet.container_image,
            nodes=plan.nodes,
            keeps_nodes=plan.market is MarketKind.RESERVATION,
            drain_seconds=settings.drain_minutes * 60,
            idle_seconds=settings.idle_minutes * 60,
            start_seconds=settings.start_minutes * 60,
            replace_at_once=max(1, plan.nodes * settings.replace_percent // 100),
            attempts=fleet.job_attempts,
            longest_job_seconds=fleet.longest_job_hours * 3600,
        )
        return asdict(place)
