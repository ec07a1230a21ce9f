"""Stopped nodes beside an endpoint's, which have booted once: what its Auto Scaling group and its nodes are told."""

from typing import Final

from aws_cdk import Acknowledgment, ArnFormat, Stack, Validations
from aws_cdk import aws_autoscaling as autoscaling
from aws_cdk import aws_iam as iam
from aws_cdk import aws_ssm as ssm
from constructs import Construct

from environments.fleets import InferenceFleet
from fleet import naming

# The installation may take 30 minutes (neuron-fleet-install.service). A node that never says that it is ready is
# stopped then, or serves: it does at its next boot what it has not done.
PREPARED_WITHIN_SECONDS: Final = 30 * 60

_GROUP: Final = "a group's ARN holds an id that it gets when it is created; its name is whole"


class WarmPool(Construct):
    """Attributes: none. What a node does with it is in ``agents/packaging/warm-pool.sh``."""

    def __init__(  # noqa: PLR0913 - keyword-only beyond the second, each one what the pool is tied to
        self,
        scope: Construct,
        construct_id: str,
        *,
        environment: str,
        fleet: InferenceFleet,
        nodes: int,
        group: str,
        role: iam.IRole,
    ) -> None:
        """Keep ``nodes`` stopped beside those of ``group``, whose nodes have ``role``; ``group`` is its name."""
        super().__init__(scope, construct_id)
        hook = autoscaling.CfnLifecycleHook(
            self,
            "Prepare",
            auto_scaling_group_name=group,
            lifecycle_hook_name=naming.PREPARE_HOOK,
            # On the way into the pool and again on the way into service. Without it a node is stopped as soon as it
            # runs (EC2 Auto Scaling user guide, "Use lifecycle hooks with a warm pool").
            lifecycle_transition="autoscaling:EC2_INSTANCE_LAUNCHING",
            heartbeat_timeout=PREPARED_WITHIN_SECONDS,
            default_result="CONTINUE",
        )
        parameter = ssm.StringParameter(
            self,
            "Place",
            parameter_name=naming.warm_pool_parameter(environment, fleet.name),
            # One line of words, because a shell reads it. None of them can hold a space.
            string_value=f"{group} {naming.PREPARE_HOOK} {fleet.endpoint.container_image}",
        )
        rights = self._rights(role, group, parameter)
        pool = autoscaling.CfnWarmPool(
            self,
            "Pool",
            auto_scaling_group_name=group,
            pool_state="Stopped",
            # The same number twice is a pool of that size, however many nodes serve (PutWarmPool's reference). One of
            # them alone would be the least, beside all that the group may still grow by.
            min_size=nodes,
            max_group_prepared_capacity=nodes,
        )
        # Its first nodes are launched when it is there.
        pool.node.add_dependency(hook, parameter, rights)

    def _rights(self, role: iam.IRole, group: str, parameter: ssm.StringParameter) -> iam.Policy:
        arn = Stack.of(self).format_arn(
            service="autoscaling",
            resource="autoScalingGroup",
            resource_name=f"*:autoScalingGroupName/{group}",
            arn_format=ArnFormat.COLON_RESOURCE_NAME,
        )
        # Here and not with the role, whose stack does not know the group's name.
        rights = iam.Policy(
            self,
            "Rights",
            roles=[role],
            statements=[
                iam.PolicyStatement(actions=["ssm:GetParameter"], resources=[parameter.parameter_arn]),
                iam.PolicyStatement(actions=["autoscaling:CompleteLifecycleAction"], resources=[arn]),
            ],
        )
        # As cdk-nag writes a reference.
        shown = arn.replace(group, f"<{Stack.of(self).resolve(group)['Ref']}>")
        Validations.of(rights).acknowledge(Acknowledgment(id=f"AwsSolutions-IAM5[Resource::{shown}]", reason=_GROUP))
        return rights
