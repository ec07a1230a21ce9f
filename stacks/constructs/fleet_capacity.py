"""Everything that one fleet's nodes are launched from: role, configuration, placement, launch template."""

from aws_cdk import CrossStackReferences, ReferenceStrength
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_resourcegroups as resourcegroups
from aws_cdk import aws_ssm as ssm
from constructs import Construct

from environments.fleet_specs import fleet_spec
from environments.model import Environment, Fleet
from fleet import naming
from fleet.capacity import compile_fleet
from stacks.constructs.agent_delivery import AgentCode, AgentParameter, node_user_data
from stacks.constructs.efa_launch_template import EfaLaunchTemplate, Node
from stacks.constructs.node_role import NodeRole
from stacks.network import NetworkStack


class FleetCapacity(Construct):
    """Attributes: ``plan``, ``launch_template``, ``launch_digest``, ``node_role``, ``instance_profile``,
    ``placement_group`` (the one created here, or None), ``placement_group_name`` (that one's, an existing one's, or
    None). The fleet's reservation is in a stack of its own: ``stacks.reservations``.
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
        self.placement_group = self._place_together() if self.plan.placement_group else None
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
                reservation_group_arn=self._reservations(environment, fleet) if self.plan.creates_reservation else None,
            ),
        )
        self.launch_template = launch.template
        self.launch_digest = launch.digest
        # A node that boots before its parameter exists would fail to configure its agent.
        self.launch_template.node.add_dependency(parameter)

    def _security_groups(self, network: NetworkStack) -> list[ec2.ISecurityGroup]:
        # The nodes of a job also meet over TCP, with EFA and without.
        return [network.node_security_group, *([network.efa_security_group] if self.plan.has_peers else [])]

    def _place_together(self) -> ec2.PlacementGroup:
        group = ec2.PlacementGroup(self, "Placement", strategy=ec2.PlacementGroupStrategy.CLUSTER)
        # The reservation's stack and training refer to it; an export would keep the group for as long as they do, and
        # a fleet that leaves its group could then never be deployed.
        CrossStackReferences.of(group).produce(ReferenceStrength.WEAK)
        return group

    def _reservations(self, environment: Environment, fleet: Fleet) -> str:
        """The ARN of the group through which nodes find the fleet's reservation, whether or not there is one yet.

        EC2 user guide, "Create a Capacity Reservation group": a pool can be targeted by launches, and the generic part
        lets nothing but reservations in. Its members are no property of the template: CloudFormation would take those
        away that the capacity watch has put in. (What an update does to members that no template names is not
        documented; should it take them away, the watch's next look puts them back.)
        """
        group = resourcegroups.CfnGroup(
            self,
            "Reservations",
            name=naming.reservation_group(environment.name, fleet.name),
            description="Capacity reservations of one fleet",
            configuration=[
                resourcegroups.CfnGroup.ConfigurationItemProperty(type="AWS::EC2::CapacityReservationPool"),
                resourcegroups.CfnGroup.ConfigurationItemProperty(
                    type="AWS::ResourceGroups::Generic",
                    parameters=[
                        resourcegroups.CfnGroup.ConfigurationParameterProperty(
                            name="allowed-resource-types", values=["AWS::EC2::CapacityReservation"]
                        )
                    ],
                ),
            ],
        )
        return group.attr_arn


def node_image(scope: Construct, fleet: Fleet) -> str:
    """The machine image of the fleet's nodes, as the stack of ``scope`` finds it when it is deployed."""
    return ssm.StringParameter.value_for_typed_string_parameter_v2(
        scope, fleet.image_parameter, ssm.ParameterValueType.AWS_EC2_IMAGE_ID
    )


def _tags(environment: Environment, fleet: Fleet) -> dict[str, str]:
    return {
        "Name": f"{environment.name}/{fleet.name}",
        "project": naming.PROJECT,
        "environment": environment.name,
        "fleet": fleet.name,
        "owner": fleet.owner,
    }
