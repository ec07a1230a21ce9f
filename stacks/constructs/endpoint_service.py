"""The ECS service of one endpoint: which task runs where, and how a new version takes its place."""

from typing import Final, cast

from aws_cdk import Duration
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_ecs as ecs
from aws_cdk import aws_elasticloadbalancingv2 as elb
from constructs import Construct, IDependable

from environments.fleets import InferenceFleet
from stacks.constructs.endpoint_nodes import EndpointNodes
from stacks.constructs.endpoint_task import EndpointTask

# Loading weights onto the cores takes minutes, and the first compilation of a graph can take half an hour.
START_UP: Final = Duration.minutes(40)
# Of the tasks there are, while a new version takes over. A share of what runs and not of what is wanted: with "all but
# one of four", 75 %, ECS (which rounds up) could stop none of three, and a deploy would hang because a node is missing.
# So a deploy goes on with any three nodes, or with two of two; up to five nodes give way one at a time.
STAYING_PERCENT: Final = {1: 0, 2: 50}
STAYING_PERCENT_OF_MORE: Final = 66


def staying_percent(fleet: InferenceFleet) -> int:
    """Of its tasks, while a new version takes over, by the fewest nodes that it may have: of one, none can stay."""
    nodes = max(1, fleet.scaling.least) if fleet.scaling else fleet.nodes
    return STAYING_PERCENT.get(nodes, STAYING_PERCENT_OF_MORE)


class EndpointService(Construct):
    """Attributes: ``service``, ``security_group`` (of the tasks: the load balancer may reach them, nobody else).

    A daemon: one task on every node there is, because ECS cannot share out Neuron devices between two tasks of a node.
    There is no number of tasks to wait for, so a deploy ends without a single node, and later nodes get their task.
    """

    def __init__(  # noqa: PLR0913 - keyword-only beyond the second, each one part of an endpoint
        self,
        scope: Construct,
        construct_id: str,
        *,
        fleet: InferenceFleet,
        nodes: EndpointNodes,
        task: EndpointTask,
        targets: elb.IApplicationTargetGroup,
        after: IDependable,
        version: str,
    ) -> None:
        """Run ``task`` on each of ``nodes`` as one of ``targets``, which a listener has ``after`` something is there.

        ``version`` is the task definition that ECS is told: what a rollout has put there, and not what is deployed.
        """
        super().__init__(scope, construct_id)
        self.security_group = ec2.SecurityGroup(
            self, "Group", vpc=nodes.cluster.vpc, description="Tasks: reached by the load balancer"
        )
        self.service = ecs.Ec2Service(
            self,
            "Service",
            cluster=nodes.cluster,
            task_definition=task.definition,
            # ECS API, CreateService: a daemon has no capacity provider strategy; its launch type is EC2.
            daemon=True,
            # Every node is taken, so a new task needs an old one to stop.
            min_healthy_percent=staying_percent(fleet),
            max_healthy_percent=100,
            # Rebalancing starts the new task first, for which there is no node.
            availability_zone_rebalancing=ecs.AvailabilityZoneRebalancing.DISABLED,
            circuit_breaker=ecs.DeploymentCircuitBreaker(enable=True, rollback=True),
            health_check_grace_period=START_UP,
            vpc_subnets=ec2.SubnetSelection(subnet_type=ec2.SubnetType.PRIVATE_WITH_EGRESS),
            security_groups=[self.security_group],
            enable_ecs_managed_tags=True,
        )
        self.service.node.add_dependency(nodes.association, task.definition, after)
        targets.add_target(self.service)
        cast(ecs.CfnService, self.service.node.default_child).task_definition = version
