"""The other side of an endpoint: nodes, service and targets of a new version, empty but for the time of a rollout.

Nodes of its own, because a node's Neuron devices cannot be shared out between two versions (ECS has no resource for
them, and a task of the stable side holds them all); and because going back in one step needs a stable side that is
whole. They are asked for share by share, bought on demand: a reservation is the stable side's.
"""

from dataclasses import replace
from typing import Final

from aws_cdk import Acknowledgment, Validations
from aws_cdk import aws_elasticloadbalancingv2 as elb
from constructs import Construct

from environments.fleets import InferenceFleet
from fleet import naming
from fleet.capacity import LaunchPlan
from fleet.load_balancer import EndpointNames
from stacks.constructs.agent_delivery import node_user_data
from stacks.constructs.efa_launch_template import EfaLaunchTemplate, Node
from stacks.constructs.endpoint_balancer import EndpointBalancer, endpoint_targets
from stacks.constructs.endpoint_nodes import EndpointNodes
from stacks.constructs.endpoint_service import EndpointService
from stacks.constructs.endpoint_task import EndpointTask
from stacks.constructs.fleet_capacity import FleetCapacity, node_image, node_tags
from stacks.network import NetworkStack

_SPOT: Final = "spot"
_IMPORTED: Final = "Annotation::@aws-cdk/aws-elbv2:albTargetGroupCannotRegisterListener"


class CandidateSide(Construct):
    """Attributes: ``rule`` (of the listener, with the weights), ``targets``, ``service``, ``nodes``, ``names``."""

    def __init__(  # noqa: PLR0913 - keyword-only beyond the second, each one part of an endpoint
        self,
        scope: Construct,
        construct_id: str,
        *,
        environment: str,
        fleet: InferenceFleet,
        network: NetworkStack,
        capacity: FleetCapacity,
        balancer: EndpointBalancer,
        task: EndpointTask,
    ) -> None:
        """Stand beside what ``balancer`` serves already, with all requests there."""
        super().__init__(scope, construct_id)
        self.targets = endpoint_targets(self, fleet, network.vpc)
        # By its ARN: known as the other stack's own, it would make that one wait for this rule.
        stable = elb.ApplicationTargetGroup.from_target_group_attributes(
            self, "Stable", target_group_arn=balancer.target_group.target_group_arn
        )
        Validations.of(stable).acknowledge(
            Acknowledgment(id=_IMPORTED, reason="its own stack has opened its security group to the load balancer")
        )
        # Nothing of it ever changes in the template, so no deployment ever sets the weights. All that has a path goes
        # by it; the listener's default action is the stable side, for the time when there is no rule.
        self.rule = elb.ApplicationListenerRule(
            self,
            "Shares",
            listener=balancer.listener,
            priority=1,
            conditions=[elb.ListenerCondition.path_patterns(["/*"])],
            action=elb.ListenerAction.weighted_forward(
                [
                    elb.WeightedTargetGroup(target_group=stable, weight=100),
                    elb.WeightedTargetGroup(target_group=self.targets, weight=0),
                ]
            ),
        )
        self.nodes = EndpointNodes(
            self,
            "Nodes",
            fleet=fleet,
            plan=capacity.plan,
            network=network,
            launch=self._launch(environment, fleet, network, capacity),
            cluster_name=naming.candidate_cluster_name(environment, fleet.name),
            asks_for_nodes=False,
        )
        self.service = EndpointService(
            self,
            "Service",
            fleet=fleet,
            nodes=self.nodes,
            task=task,
            targets=self.targets,
            after=self.rule,
            # Without nodes it runs nothing; a rollout says what it runs before it asks for any.
            version=naming.endpoint_family(environment, fleet.name),
        )
        self.names = EndpointNames(balancer.names.load_balancer, self.targets.target_group_full_name)

    def _launch(
        self, environment: str, fleet: InferenceFleet, network: NetworkStack, capacity: FleetCapacity
    ) -> EfaLaunchTemplate:
        plan = _on_demand(capacity.plan)
        groups = [network.node_security_group, *([network.efa_security_group] if plan.has_peers else [])]
        cluster = naming.candidate_cluster_name(environment, fleet.name)
        return EfaLaunchTemplate(
            self,
            "Launch",
            plan=plan,
            node=Node(
                image_id=node_image(self, fleet),
                instance_profile_arn=capacity.instance_profile.instance_profile_arn,
                security_group_ids=[group.security_group_id for group in groups],
                user_data=node_user_data(environment, fleet, plan, cluster=cluster).render(),
                tags=node_tags(environment, fleet),
                placement_group_name=None,
                reservation_group_arn=None,
            ),
        )


def _on_demand(plan: LaunchPlan) -> LaunchPlan:
    market = plan.market_type if plan.market_type == _SPOT else None
    return replace(plan, market_type=market, reservation_id=None, reservation_group=None, creates_reservation=False)
