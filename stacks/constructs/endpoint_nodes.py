"""The ECS cluster of one endpoint and the nodes that make it up."""

from typing import Final

from aws_cdk import (
    Acknowledgment,
    CfnAutoScalingScheduledAction,
    CfnUpdatePolicy,
    CrossStackReferences,
    ReferenceStrength,
    Tags,
    Validations,
)
from aws_cdk import aws_autoscaling as autoscaling
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_ecs as ecs
from constructs import Construct

from environments.fleets import InferenceFleet
from fleet import auto_scaling
from fleet.capacity import LaunchPlan
from stacks.constructs.efa_launch_template import EfaLaunchTemplate
from stacks.network import NetworkStack

_COLLECTED: Final = autoscaling.CfnAutoScalingGroup.MetricsCollectionProperty(
    granularity="1Minute", metrics=list(auto_scaling.COLLECTED)
)
# How long a new endpoint waits before it asks for its first node, at most.
ASKED_EVERY_MINUTES: Final = 5


class EndpointNodes(Construct):
    """Attributes: ``cluster``, ``group_name``, ``association`` (of the two: a service comes after it)."""

    def __init__(  # noqa: PLR0913 - keyword-only beyond the second, each one part of an endpoint
        self,
        scope: Construct,
        construct_id: str,
        *,
        fleet: InferenceFleet,
        plan: LaunchPlan,
        network: NetworkStack,
        launch: EfaLaunchTemplate,
        cluster_name: str,
        asks_for_nodes: bool = True,
    ) -> None:
        """Keep ``plan.nodes`` nodes running from ``launch``, as far as there are any.

        With ``asks_for_nodes`` off, somebody else says how many there are to be.
        """
        super().__init__(scope, construct_id)
        cluster = ecs.Cluster(
            self,
            "Cluster",
            vpc=network.vpc,
            # Nodes join by this name at boot.
            cluster_name=cluster_name,
            container_insights_v2=ecs.ContainerInsights.DISABLED,
        )
        Validations.of(cluster).acknowledge(
            Acknowledgment(
                id="AwsSolutions-ECS4",
                reason="the node agent and the load balancer measure the endpoint; Container Insights would bill the "
                "host's figures a second time",
            )
        )
        group = self._group(plan, network, launch.template, measured=fleet.scaling is not None)
        # Nodes name the cluster in their user data, which CloudFormation does not see: without this it deletes the
        # cluster while they are in it, which ECS refuses (aws/containers-roadmap issue 631).
        group.node.add_dependency(cluster)
        if asks_for_nodes:
            _ask(self, group, fleet)
        _tag(group, fleet, launch.digest)
        self.group_name = group.ref
        self.association = self._associate(cluster, group)
        # The L2 service refuses a cluster whose nodes it did not add itself, so it is told that there are some.
        self.cluster = ecs.Cluster.from_cluster_attributes(
            self,
            "ClusterWithNodes",
            cluster_name=cluster.cluster_name,
            cluster_arn=cluster.cluster_arn,
            vpc=network.vpc,
            has_ec2_capacity=True,
            security_groups=[],
        )

    def _group(
        self, plan: LaunchPlan, network: NetworkStack, launch_template: ec2.CfnLaunchTemplate, *, measured: bool
    ) -> autoscaling.CfnAutoScalingGroup:
        # L1, as the launch template is: an L2 group would have to read its user data.
        group = autoscaling.CfnAutoScalingGroup(
            self,
            "Nodes",
            # A deploy asks for no node: CloudFormation waits for those that it asks for, and where there is no
            # capacity it fails with "Group did not stabilize". It leaves the desired number alone, so that a later
            # deploy takes no node away.
            min_size="0",
            max_size=str(plan.nodes),
            # Policies and alarms read them, for an empty group too.
            metrics_collection=[_COLLECTED] if measured else None,
            vpc_zone_identifier=[subnet.subnet_id for subnet in network.private_subnets(plan.zone_ids)],
            launch_template=autoscaling.CfnAutoScalingGroup.LaunchTemplateSpecificationProperty(
                launch_template_id=launch_template.ref, version=launch_template.attr_latest_version_number
            ),
            health_check_type="EC2",
            health_check_grace_period=300,
        )
        # CloudFormation's reference of scheduled actions: without this an update "always sets" the group's sizes.
        group.cfn_options.update_policy = CfnUpdatePolicy(
            auto_scaling_scheduled_action=CfnAutoScalingScheduledAction(ignore_unmodified_group_size_properties=True)
        )
        Validations.of(group).acknowledge(
            Acknowledgment(
                id="AwsSolutions-AS3",
                reason="a node that is lost, or that cannot be had, shows in its fleet's alarms",
            )
        )
        # Alarms and dashboards of an endpoint that scales name it: as an export, it would keep the endpoint for ever.
        CrossStackReferences.of(group).produce(ReferenceStrength.WEAK)
        return group

    def _associate(
        self, cluster: ecs.Cluster, group: autoscaling.CfnAutoScalingGroup
    ) -> ecs.CfnClusterCapacityProviderAssociations:
        # L1, because the L2 provider adds user data to an L2 group.
        provider = ecs.CfnCapacityProvider(
            self,
            "Provider",
            auto_scaling_group_provider=ecs.CfnCapacityProvider.AutoScalingGroupProviderProperty(
                auto_scaling_group_arn=group.ref,
                # An instance refresh moves the tasks away first.
                managed_draining="ENABLED",
                managed_scaling=ecs.CfnCapacityProvider.ManagedScalingProperty(status="DISABLED"),
                managed_termination_protection="DISABLED",
            ),
        )
        return ecs.CfnClusterCapacityProviderAssociations(
            self,
            "Association",
            cluster=cluster.cluster_name,
            capacity_providers=[provider.ref],
            # A cluster with a default strategy refuses daemons (aws/containers-roadmap issue 692).
            default_capacity_provider_strategy=[],
        )


def _ask(scope: Construct, group: autoscaling.CfnAutoScalingGroup, fleet: InferenceFleet) -> None:
    # All, always: accelerators are too scarce to let go of one at night and hope for another in the morning. Who has
    # said otherwise gets the least at once, and the rest with the load; the most is the group's own.
    # They are asked for outside of the deploy; a group that has its number does nothing.
    scaling = fleet.scaling
    autoscaling.CfnScheduledAction(
        scope,
        "AskForNodes",
        auto_scaling_group_name=group.ref,
        recurrence=f"*/{ASKED_EVERY_MINUTES} * * * *",
        desired_capacity=None if scaling else fleet.nodes,
        min_size=scaling.least if scaling else None,
    )


def _tag(group: autoscaling.CfnAutoScalingGroup, fleet: InferenceFleet, launch_digest: str) -> None:
    # The reference to the template's latest version reads the same in every version: without a property that
    # changes with the template, CloudFormation would see nothing to update.
    Tags.of(group).add("launch-template", launch_digest, apply_to_launched_instances=False)
    # A group's tags win over its launch template's, and these would say that the environment's owner owns the node.
    Tags.of(group).add("owner", fleet.owner)
    # ECS may drain only the nodes of groups with this tag. It adds the tag itself when the provider is created, too
    # late for nodes that run by then; and CloudFormation, which sets all tags anew, would take it away.
    Tags.of(group).add("AmazonECSManaged", "true")
