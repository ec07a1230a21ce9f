"""Endpoints: for each inference fleet an ECS service on its own nodes, behind a load balancer."""

from dataclasses import replace
from typing import Final

from aws_cdk import Acknowledgment, Stack, Validations
from aws_cdk import aws_ssm as ssm
from constructs import Construct

from environments.model import Environment
from fleet import naming
from fleet.load_balancer import EndpointNames
from stacks.capacity import CapacityStack
from stacks.constructs.endpoint_balancer import AccessLogs, EndpointBalancer
from stacks.constructs.endpoint_nodes import EndpointNodes
from stacks.constructs.endpoint_scaling import EndpointScaling
from stacks.constructs.endpoint_service import EndpointService
from stacks.constructs.endpoint_task import EndpointTask
from stacks.constructs.retention import retention_of
from stacks.constructs.shadow import shadow_bucket
from stacks.constructs.warm_pool import WarmPool
from stacks.network import NetworkStack

_EMPTY: Final = (
    "the command line passes over a stack without resources, and deletes one that has lost its last; a stack that is "
    "left out of the app would keep its nodes"
)


class InferenceStack(Stack):
    """Attributes, by fleet name: ``endpoints`` (what CloudWatch calls the load balancers), ``services``, and
    ``node_groups`` (the names of the Auto Scaling groups), ``tasks``, ``balancers``.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        environment: Environment,
        network: NetworkStack,
        capacity: CapacityStack,
    ) -> None:
        """Serve every inference fleet of ``environment`` from the launch templates of ``capacity``."""
        super().__init__(scope, construct_id, stack_name=naming.stack_name(environment.name, construct_id))
        self.endpoints: dict[str, EndpointNames] = {}
        self.services: dict[str, EndpointService] = {}
        self.node_groups: dict[str, str] = {}
        self.tasks: dict[str, EndpointTask] = {}
        self.balancers: dict[str, EndpointBalancer] = {}
        if not environment.inference_fleets:
            Validations.of(self).acknowledge(Acknowledgment(id="CloudFormation-Validate::F0001", reason=_EMPTY))
            return
        retention = retention_of(environment)
        access_logs = AccessLogs(self, "AccessLogs", removal_policy=retention.removal_policy)
        shadow_bucket(
            self,
            "Shadow",
            environment=environment.name,
            fleets=environment.inference_fleets,
            removal_policy=retention.removal_policy,
        )
        for fleet in environment.inference_fleets:
            balancer = EndpointBalancer(
                self,
                f"{fleet.name}-balancer",
                fleet=fleet,
                vpc=network.vpc,
                vpc_cidr=environment.network.cidr,
                access_logs=access_logs,
            )
            nodes = EndpointNodes(
                self,
                f"{fleet.name}-nodes",
                fleet=fleet,
                plan=capacity.fleets[fleet.name].plan,
                network=network,
                launch=capacity.fleets[fleet.name].launch,
                cluster_name=naming.cluster_name(environment.name, fleet.name),
            )
            task = EndpointTask(
                self, f"{fleet.name}-task", environment=environment.name, fleet=fleet, retention=retention
            )
            # Below the task: a stack's own would be called by the name without its dashes, and a1-b be one with a1b.
            served = ssm.StringParameter.from_string_parameter_name(
                task, "Served", naming.served_version_parameter(environment.name, fleet.name)
            )
            self.services[fleet.name] = EndpointService(
                self,
                f"{fleet.name}-service",
                fleet=fleet,
                nodes=nodes,
                task=task,
                targets=balancer.target_group,
                after=balancer.listener,
                # As it is at the moment of the deployment: what is new in the file is served by a rollout.
                version=served.string_value,
            )
            self.tasks[fleet.name] = task
            self.balancers[fleet.name] = balancer
            self.endpoints[fleet.name] = replace(balancer.names, node_group=nodes.group_name)
            self.node_groups[fleet.name] = nodes.group_name
            if fleet.scaling is not None:
                EndpointScaling(
                    self,
                    f"{fleet.name}-scaling",
                    environment=environment.name,
                    fleet=fleet,
                    scaling=fleet.scaling,
                    names=self.endpoints[fleet.name],
                )
                if fleet.scaling.kept_stopped:
                    WarmPool(
                        self,
                        f"{fleet.name}-warm-pool",
                        environment=environment.name,
                        fleet=fleet,
                        nodes=fleet.scaling.kept_stopped,
                        group=nodes.group_name,
                        role=capacity.fleets[fleet.name].node_role,
                    )
