"""Multi-node training on AWS Batch: for each training fleet its nodes, a queue and a job definition."""

from aws_cdk import Stack
from aws_cdk import aws_logs as logs
from aws_cdk import aws_ssm as ssm
from constructs import Construct

from environments.model import Environment, TrainingFleet
from fleet import naming
from stacks.capacity import CapacityStack
from stacks.compile_cache import CompileCacheStack
from stacks.constructs.batch_fleet import BatchFleet
from stacks.constructs.removal import removal_policy
from stacks.constructs.retention import retention
from stacks.constructs.training_job import TrainingJob
from stacks.network import NetworkStack


class TrainingStack(Stack):
    """Attributes: ``log_group``; by fleet name ``fleets`` (environment, queue) and ``jobs`` (definition, role)."""

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
        for fleet in environment.training_fleets:
            part = Construct(self, fleet.name)
            fleet_capacity = capacity.fleets[fleet.name]
            subnet = network.private_subnet(fleet.availability_zone)
            self.fleets[fleet.name] = BatchFleet(part, "Batch", fleet=fleet, capacity=fleet_capacity, subnet=subnet)
            self.jobs[fleet.name] = TrainingJob(
                part,
                "Job",
                fleet=fleet,
                plan=fleet_capacity.plan,
                compile_cache=compile_cache,
                log_group=self.log_group,
            )
            self._tell_submitters(part, environment, fleet)

    def _tell_submitters(self, part: Construct, environment: Environment, fleet: TrainingFleet) -> None:
        """Names that CloudFormation makes up, for `fleet jobs`, which runs outside this app."""
        place = {
            "queue": self.fleets[fleet.name].queue.attr_job_queue_arn,
            "definition": self.jobs[fleet.name].definition.job_definition_arn,
            # As deployed, which the file may be ahead of.
            "image": fleet.container_image,
            "nodes": fleet.nodes,
        }
        ssm.StringParameter(
            part,
            "Place",
            description=f"Where jobs for {fleet.name} go",
            parameter_name=naming.job_place_parameter(environment.name, fleet.name),
            string_value=self.to_json_string(place),
        )
