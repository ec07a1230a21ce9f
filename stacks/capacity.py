"""What nodes are launched from, fleet by fleet; who launches them is the business of training and inference."""

from collections.abc import Mapping

from aws_cdk import Stack
from aws_cdk import aws_ssm as ssm
from constructs import Construct

from environments.fleets import InferenceFleet
from environments.model import Environment
from fleet import naming
from fleet.capacity import LaunchPlan
from stacks.compile_cache import CompileCacheStack
from stacks.constructs.agent_delivery import AgentCode
from stacks.constructs.fleet_capacity import FleetCapacity
from stacks.network import NetworkStack


class CapacityStack(Stack):
    """Attributes, by fleet name: ``fleets``, and of each its ``launch_templates``, ``launch_digests``,
    ``instance_profiles``, ``node_roles``, and ``placement_groups`` where it has one.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        environment: Environment,
        plans: Mapping[str, LaunchPlan],
        network: NetworkStack,
        compile_cache: CompileCacheStack,
    ) -> None:
        """Build every fleet of ``environment`` from its plan; their nodes may read the compile cache."""
        super().__init__(scope, construct_id, stack_name=naming.stack_name(environment.name, construct_id))
        code = AgentCode(self, "AgentCode", environment=environment.name)
        self.fleets = {
            fleet.name: FleetCapacity(
                self,
                fleet.name,
                environment=environment.name,
                fleet=fleet,
                plan=plans[fleet.name],
                monitoring=environment.monitoring,
                network=network,
                code=code,
            )
            for fleet in environment.node_fleets
        }
        for fleet in self.fleets.values():
            compile_cache.grant_read(fleet.node_role)
        for endpoint in environment.inference_fleets:
            self._served(environment, endpoint)
        self.launch_templates = {name: fleet.launch_template for name, fleet in self.fleets.items()}
        self.launch_digests = {name: fleet.launch_digest for name, fleet in self.fleets.items()}
        self.instance_profiles = {name: fleet.instance_profile for name, fleet in self.fleets.items()}
        self.node_roles = {name: fleet.node_role for name, fleet in self.fleets.items()}
        self.placement_groups = {
            name: fleet.placement_group for name, fleet in self.fleets.items() if fleet.placement_group
        }

    def _served(self, environment: Environment, fleet: InferenceFleet) -> None:
        """What the fleet's service runs, in a stack of its own before the service's: rollouts write it.

        The value of the template never changes, so no deployment ever puts it back. A family without a revision is
        its newest, which is what the service is created with (ECS API reference, CreateService).
        """
        ssm.StringParameter(
            self,
            f"{fleet.name}-served",
            parameter_name=naming.served_version_parameter(environment.name, fleet.name),
            string_value=naming.endpoint_family(environment.name, fleet.name),
        )
