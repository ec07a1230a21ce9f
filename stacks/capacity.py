"""What nodes are launched from, fleet by fleet; who launches them is the business of training and inference."""

from aws_cdk import Stack
from constructs import Construct

from environments.model import Environment
from fleet import naming
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
        network: NetworkStack,
        compile_cache: CompileCacheStack,
    ) -> None:
        """Build every fleet of ``environment``; their nodes may read the compile cache."""
        super().__init__(scope, construct_id, stack_name=naming.stack_name(environment.name, construct_id))
        code = AgentCode(self, "AgentCode", environment=environment)
        self.fleets = {
            fleet.name: FleetCapacity(
                self, fleet.name, environment=environment, fleet=fleet, network=network, code=code
            )
            for fleet in environment.fleets
        }
        for fleet in self.fleets.values():
            compile_cache.grant_read(fleet.node_role)
        self.launch_templates = {name: fleet.launch_template for name, fleet in self.fleets.items()}
        self.launch_digests = {name: fleet.launch_digest for name, fleet in self.fleets.items()}
        self.instance_profiles = {name: fleet.instance_profile for name, fleet in self.fleets.items()}
        self.node_roles = {name: fleet.node_role for name, fleet in self.fleets.items()}
        self.placement_groups = {
            name: fleet.placement_group for name, fleet in self.fleets.items() if fleet.placement_group
        }
