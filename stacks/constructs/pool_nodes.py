"""The nodes of one pool: an ECS cluster, and the Auto Scaling group whose nodes make it up."""

from typing import Final

from aws_cdk import Acknowledgment, Validations
from aws_cdk import aws_autoscaling as autoscaling
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_ecs as ecs
from constructs import Construct

from environments.fleets import TrainingFleet, pool_settings
from fleet import naming
from fleet.fleet_spec import MarketKind
from stacks.constructs.fleet_capacity import FleetCapacity

# A node may go when its containers have ended and the controller has seen it, within a minute or two; if nobody says
# so, the group does not wait longer than this past the time that a job has to save.
SEEN_WITHIN_SECONDS: Final = 180


class PoolNodes(Construct):
    """Attributes: ``cluster`` and ``group``. Whoever looks after the pool asks for nodes; a deploy asks for none."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        environment: str,
        fleet: TrainingFleet,
        capacity: FleetCapacity,
        subnet: ec2.ISubnet,
    ) -> None:
        """Launch from the templates of ``capacity``, in the fleet's one subnet."""
        super().__init__(scope, construct_id)
        self.cluster = ecs.CfnCluster(
            self,
            "Cluster",
            # Nodes join by this name at boot.
            cluster_name=naming.cluster_name(environment, fleet.name),
            cluster_settings=[
                ecs.CfnCluster.ClusterSettingsProperty(name="containerInsights", value="disabled"),
            ],
        )
        Validations.of(self.cluster).acknowledge(
            Acknowledgment(
                id="AwsSolutions-ECS4",
                reason="the node agent measures jobs; Container Insights would bill the host's figures a second time",
            )
        )
        self.group = self._group(environment, fleet, capacity, subnet)
        # Nodes name the cluster in their user data, which CloudFormation does not see: without this it deletes the
        # cluster while they are in it, which ECS refuses (aws/containers-roadmap issue 631).
        self.group.node.add_dependency(self.cluster)
        autoscaling.CfnLifecycleHook(
            self,
            "Drain",
            auto_scaling_group_name=self.group.ref,
            lifecycle_hook_name=naming.DRAIN_HOOK,
            lifecycle_transition="autoscaling:EC2_INSTANCE_TERMINATING",
            heartbeat_timeout=pool_settings(fleet).drain_minutes * 60 + SEEN_WITHIN_SECONDS,
            # Of what is being ended anyway; ABANDON would end it just as well.
            default_result="CONTINUE",
        )

    def _group(
        self, environment: str, fleet: TrainingFleet, capacity: FleetCapacity, subnet: ec2.ISubnet
    ) -> autoscaling.CfnAutoScalingGroup:
        is_spot = capacity.plan.market is MarketKind.SPOT
        is_mixed = is_spot or bool(capacity.alternatives)
        group = autoscaling.CfnAutoScalingGroup(
            self,
            "Nodes",
            auto_scaling_group_name=naming.pool_name(environment, fleet.name),
            # CloudFormation waits for nodes that it asks for, and leaves the desired number alone where it names none.
            min_size="0",
            max_size=str(capacity.plan.nodes),
            vpc_zone_identifier=[subnet.subnet_id],
            launch_template=None if is_mixed else _template(capacity.launch_template),
            mixed_instances_policy=_policy(capacity) if is_mixed else None,
            # At a rebalance recommendation a new node comes before the old one goes.
            capacity_rebalance=is_spot,
            # Only idle nodes go, one by one and by name: a group that shrinks by itself may end any of them.
            new_instances_protected_from_scale_in=True,
            health_check_type="EC2",
            health_check_grace_period=300,
            tags=[
                # A group's tags win over its launch template's, and stack tags say that the environment's owner owns
                # the node.
                _tag("owner", fleet.owner),
                # The reference to the template's latest version reads the same in every version: without a property
                # that changes with the template, CloudFormation would see nothing to update.
                _tag("launch-template", _digest(capacity), propagate=False),
            ],
        )
        Validations.of(group).acknowledge(
            Acknowledgment(
                id="AwsSolutions-AS3",
                reason="the pool's controller sizes the group; nodes that it lacks show in the fleet's alarms",
            )
        )
        return group


def _policy(capacity: FleetCapacity) -> autoscaling.CfnAutoScalingGroup.MixedInstancesPolicyProperty:
    """One type after the other, each from its own template: another type has other network cards."""
    spot = capacity.plan.market is MarketKind.SPOT
    overrides = [
        autoscaling.CfnAutoScalingGroup.LaunchTemplateOverridesProperty(instance_type=capacity.plan.instance_type.name),
        *(
            autoscaling.CfnAutoScalingGroup.LaunchTemplateOverridesProperty(
                instance_type=plan.instance_type.name, launch_template_specification=_template(launch.template)
            )
            for plan, launch in capacity.alternatives
        ),
    ]
    return autoscaling.CfnAutoScalingGroup.MixedInstancesPolicyProperty(
        launch_template=autoscaling.CfnAutoScalingGroup.LaunchTemplateProperty(
            launch_template_specification=_template(capacity.launch_template), overrides=overrides
        ),
        instances_distribution=autoscaling.CfnAutoScalingGroup.InstancesDistributionProperty(
            on_demand_base_capacity=0,
            on_demand_percentage_above_base_capacity=0 if spot else 100,
            on_demand_allocation_strategy="prioritized",
            # The pool that is least likely to be taken back, and of those that are alike, in this order.
            spot_allocation_strategy="capacity-optimized-prioritized" if spot else None,
        ),
    )


def _template(
    template: ec2.CfnLaunchTemplate,
) -> autoscaling.CfnAutoScalingGroup.LaunchTemplateSpecificationProperty:
    return autoscaling.CfnAutoScalingGroup.LaunchTemplateSpecificationProperty(
        launch_template_id=template.ref, version=template.attr_latest_version_number
    )


def _digest(capacity: FleetCapacity) -> str:
    return "-".join([capacity.launch_digest, *(launch.digest for _, launch in capacity.alternatives)])


def _tag(key: str, value: str, *, propagate: bool = True) -> autoscaling.CfnAutoScalingGroup.TagPropertyProperty:
    return autoscaling.CfnAutoScalingGroup.TagPropertyProperty(key=key, value=value, propagate_at_launch=propagate)
