"""Everything that one fleet's nodes are launched from: role, configuration, placement, reservation, launch template."""

from datetime import UTC

from aws_cdk import Stack
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_ssm as ssm
from constructs import Construct

from environments.fleet_specs import fleet_spec
from environments.markets import end_of
from environments.model import Environment, Fleet, TrainingFleet
from fleet.capacity import compile_fleet
from fleet.naming import PROJECT
from stacks.constructs.agent_delivery import AgentCode, AgentParameter, node_user_data
from stacks.constructs.efa_launch_template import EfaLaunchTemplate, Node
from stacks.constructs.node_role import NodeRole
from stacks.network import NetworkStack


class FleetCapacity(Construct):
    """Attributes: ``plan``, ``launch_template``, ``launch_digest``, ``node_role``, ``instance_profile``,
    ``placement_group`` (the one created here, or None), ``placement_group_name`` (that one's, an existing one's, or
    None).
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        environment: Environment,
        fleet: Fleet,
        network: NetworkStack,
        code: AgentCode,
    ) -> None:
        """Build from the fleet's launch plan."""
        super().__init__(scope, construct_id)
        self.plan = compile_fleet(fleet_spec(environment, fleet))
        parameter = AgentParameter(self, "Agent", environment=environment, fleet=fleet, plan=self.plan).parameter
        node = NodeRole(self, "Node", environment=environment, fleet=fleet, parameter=parameter)
        code.grant_read(node.role)
        self.node_role = node.role
        self.instance_profile = node.profile
        self.placement_group = (
            ec2.PlacementGroup(self, "Placement", strategy=ec2.PlacementGroupStrategy.CLUSTER)
            if self.plan.placement_group
            else None
        )
        self.placement_group_name = (
            self.placement_group.placement_group_name if self.placement_group else self.plan.placement_group_name
        )
        launch = EfaLaunchTemplate(
            self,
            "Launch",
            plan=self.plan,
            node=Node(
                image_id=node_image(self, fleet),
                instance_profile_arn=node.profile.instance_profile_arn,
                security_group_ids=[group.security_group_id for group in self._security_groups(network)],
                user_data=node_user_data(environment, fleet).render(),
                tags=_tags(environment, fleet),
                placement_group_name=self.placement_group_name,
                reservation_id=self._reserve(fleet) if self.plan.creates_reservation else self.plan.reservation_id,
            ),
        )
        self.launch_template = launch.template
        self.launch_digest = launch.digest
        # A node that boots before its parameter exists would fail to configure its agent.
        self.launch_template.node.add_dependency(parameter)

    def _security_groups(self, network: NetworkStack) -> list[ec2.ISecurityGroup]:
        # The nodes of a job also meet over TCP, with EFA and without.
        return [network.node_security_group, *([network.efa_security_group] if self.plan.has_peers else [])]

    def _reserve(self, fleet: Fleet) -> str:
        """Reserve the fleet's nodes. An L1: there is no L2 for capacity reservations."""
        ends = end_of(fleet.market)
        group = self.placement_group
        reservation = ec2.CfnCapacityReservation(
            self,
            "Reservation",
            instance_type=fleet.instance_type,
            instance_platform="Linux/UNIX",
            instance_count=self.plan.reserved_instances,
            availability_zone=fleet.availability_zone if isinstance(fleet, TrainingFleet) else None,
            # Open reservations are filled by any matching instance of the account; this one is the fleet's own.
            instance_match_criteria="targeted",
            end_date_type="limited" if ends else "unlimited",
            end_date=f"{ends.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}" if ends else None,
            placement_group_arn=self._placement_group_arn(group) if group else None,
        )
        return reservation.ref

    def _placement_group_arn(self, group: ec2.PlacementGroup) -> str:
        return Stack.of(self).format_arn(
            service="ec2", resource="placement-group", resource_name=group.placement_group_name
        )


def node_image(scope: Construct, fleet: Fleet) -> str:
    """The machine image of the fleet's nodes, as the stack of ``scope`` finds it when it is deployed."""
    return ssm.StringParameter.value_for_typed_string_parameter_v2(
        scope, fleet.image_parameter, ssm.ParameterValueType.AWS_EC2_IMAGE_ID
    )


def _tags(environment: Environment, fleet: Fleet) -> dict[str, str]:
    return {
        "Name": f"{environment.name}/{fleet.name}",
        "project": PROJECT,
        "environment": environment.name,
        "fleet": fleet.name,
        "owner": fleet.owner,
    }
