"""Everything that one fleet's nodes are launched from: role, configuration, placement, launch template."""

from dataclasses import replace

from aws_cdk import CrossStackReferences, ReferenceStrength
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_resourcegroups as resourcegroups
from aws_cdk import aws_ssm as ssm
from constructs import Construct

from environments.fleets import Fleet
from environments.monitoring import Monitoring
from fleet import naming
from fleet.capacity import LaunchPlan, other_types
from fleet.fleet_spec import Engine
from stacks.constructs.agent_delivery import AgentCode, AgentParameter, node_user_data
from stacks.constructs.efa_launch_template import EfaLaunchTemplate, Node
from stacks.constructs.node_role import NodeRole
from stacks.network import NetworkStack


class FleetCapacity(Construct):
    """Attributes: ``plan``, ``launch``, ``launch_template``, ``launch_digest``, ``alternatives`` (a pool's, by plan),
    ``node_role``, ``instance_profile``,
    ``placement_group`` (the one created here, or None), ``placement_group_name`` (that one's, an existing one's, or
    None). The fleet's reservation is in a stack of its own: ``stacks.reservations``.
    """

    def __init__(  # noqa: PLR0913 - keyword-only beyond the second, each one thing that nodes are launched with
        self,
        scope: Construct,
        construct_id: str,
        *,
        environment: str,
        fleet: Fleet,
        plan: LaunchPlan,
        monitoring: Monitoring,
        network: NetworkStack,
        code: AgentCode,
    ) -> None:
        """Build from the fleet's launch ``plan``."""
        super().__init__(scope, construct_id)
        self.plan = plan
        # A pool launches its alternatives as well; each has network cards and a price of its own.
        further = other_types(plan) if plan.spec.engine is Engine.POOL else ()
        plans = (plan, *further)
        parameters = {
            each.instance_type.name: AgentParameter(
                self,
                _with_type("Agent", each, plan),
                environment=environment,
                fleet=fleet,
                plan=each,
                monitoring=monitoring,
            ).parameter
            for each in plans
        }
        node_role = NodeRole(
            self,
            "Node",
            environment=environment,
            fleet=fleet,
            plans=plans,
            parameters=list(parameters.values()),
            otlp=monitoring.otlp_level is not None,
        )
        code.grant_read(node_role.role)
        self.node_role = node_role.role
        self.instance_profile = node_role.profile
        self.placement_group = self._place_together() if plan.placement_group else None
        self.placement_group_name = (
            self.placement_group.placement_group_name if self.placement_group else plan.placement_group_name
        )
        node = Node(
            image_id=node_image(self, fleet),
            instance_profile_arn=node_role.profile.instance_profile_arn,
            security_group_ids=[group.security_group_id for group in self._security_groups(network)],
            user_data="",
            tags=node_tags(environment, fleet),
            placement_group_name=self.placement_group_name,
            reservation_group_arn=self._reservations(environment, fleet) if plan.creates_reservation else None,
        )
        launches = [
            (each, self._launch(each, replace(node, user_data=node_user_data(environment, fleet, each).render())))
            for each in plans
        ]
        for each, launch in launches:
            # A node that boots before its parameter exists would fail to configure its agent.
            launch.template.node.add_dependency(parameters[each.instance_type.name])
        self.launch = launches[0][1]
        self.launch_template, self.launch_digest = self.launch.template, self.launch.digest
        self.alternatives = launches[1:]

    def _launch(self, plan: LaunchPlan, node: Node) -> EfaLaunchTemplate:
        return EfaLaunchTemplate(self, _with_type("Launch", plan, self.plan), plan=plan, node=node)

    def _security_groups(self, network: NetworkStack) -> list[ec2.ISecurityGroup]:
        # The nodes of a job also meet over TCP, with EFA and without.
        return [network.node_security_group, *([network.efa_security_group] if self.plan.has_peers else [])]

    def _place_together(self) -> ec2.PlacementGroup:
        group = ec2.PlacementGroup(self, "Placement", strategy=ec2.PlacementGroupStrategy.CLUSTER)
        # The reservation's stack and training refer to it; an export would keep the group for as long as they do, and
        # a fleet that leaves its group could then never be deployed.
        CrossStackReferences.of(group).produce(ReferenceStrength.WEAK)
        return group

    def _reservations(self, environment: str, fleet: Fleet) -> str:
        """The ARN of the group through which nodes find the fleet's reservation, whether or not there is one yet.

        EC2 user guide, "Create a Capacity Reservation group": a pool can be targeted by launches, and the generic part
        lets nothing but reservations in. Its members are no property of the template: CloudFormation would take those
        away that the capacity watch has put in. (What an update does to members that no template names is not
        documented; should it take them away, the watch's next look puts them back.)
        """
        group = resourcegroups.CfnGroup(
            self,
            "Reservations",
            name=naming.reservation_group(environment, fleet.name),
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


def _with_type(construct_id: str, plan: LaunchPlan, own: LaunchPlan) -> str:
    return construct_id if plan is own else f"{construct_id}-{plan.instance_type.name}"


def node_image(scope: Construct, fleet: Fleet) -> str:
    """The machine image of the fleet's nodes, as the stack of ``scope`` finds it when it is deployed."""
    return ssm.StringParameter.value_for_typed_string_parameter_v2(
        scope, fleet.image_parameter, ssm.ParameterValueType.AWS_EC2_IMAGE_ID
    )


def node_tags(environment: str, fleet: Fleet) -> dict[str, str]:
    """What tells whose node, volume or interface it is."""
    return {
        "Name": f"{environment}/{fleet.name}",
        "project": naming.PROJECT,
        "environment": environment,
        "fleet": fleet.name,
        "owner": fleet.owner,
    }
