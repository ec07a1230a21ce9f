"""The ECS service of one endpoint: which task runs where, and how a new version takes its place."""

from typing import Final

from aws_cdk import Duration
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_ecs as ecs
from constructs import Construct

from environments.model import InferenceFleet
from stacks.constructs.endpoint_balancer import EndpointBalancer
from stacks.constructs.endpoint_nodes import EndpointNodes
from stacks.constructs.endpoint_task import EndpointTask

# Loading weights onto the cores takes minutes, and the first compilation of a graph can take half an hour.
START_UP: Final = Duration.minutes(40)


class EndpointService(Construct):
    """Attributes: ``service``, ``security_group`` (of the tasks: the load balancer may reach them, nobody else)."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        fleet: InferenceFleet,
        nodes: EndpointNodes,
        task: EndpointTask,
        balancer: EndpointBalancer,
    ) -> None:
        """Run ``task`` on ``nodes`` as targets of ``balancer``."""
        super().__init__(scope, construct_id)
        self.security_group = ec2.SecurityGroup(
            self, "Group", vpc=nodes.cluster.vpc, description="Tasks: reached by the load balancer"
        )
        tasks = fleet.endpoint.tasks
        self.service = ecs.Ec2Service(
            self,
            "Service",
            cluster=nodes.cluster,
            task_definition=task.definition,
            desired_count=tasks,
            capacity_provider_strategies=[ecs.CapacityProviderStrategy(capacity_provider=nodes.provider, weight=1)],
            # ECS cannot share out Neuron devices between two tasks of one node.
            placement_constraints=[ecs.PlacementConstraint.distinct_instances()],
            placement_strategies=[ecs.PlacementStrategy.spread_across("attribute:ecs.availability-zone")],
            # Every node is taken, so a new task needs an old one to stop: one at a time.
            min_healthy_percent=100 * (tasks - 1) // tasks if tasks else 0,
            max_healthy_percent=100,
            # Rebalancing starts the new task first, for which there is no node.
            availability_zone_rebalancing=ecs.AvailabilityZoneRebalancing.DISABLED,
            circuit_breaker=ecs.DeploymentCircuitBreaker(enable=True, rollback=True),
            health_check_grace_period=START_UP,
            vpc_subnets=ec2.SubnetSelection(subnet_type=ec2.SubnetType.PRIVATE_WITH_EGRESS),
            security_groups=[self.security_group],
            enable_ecs_managed_tags=True,
        )
        self.service.node.add_dependency(nodes.association, balancer.listener)
        balancer.target_group.add_target(self.service)
