"""How an endpoint's nodes follow its load: the policies of its Auto Scaling group, and the alarms that call them.

EC2 Auto Scaling and not Application Auto Scaling: the service is a daemon, whose tasks follow its nodes and have no
number of their own to set (ECS API, CreateService: desiredCount is not specified with the DAEMON strategy).
"""

from typing import Final

from aws_cdk import aws_autoscaling as autoscaling
from aws_cdk import aws_cloudwatch as cw
from constructs import Construct

from dashboards.alarms import watched
from environments.fleets import InferenceFleet
from fleet import naming
from fleet.load_balancer import EndpointNames
from fleet.serving.scaling import Scaling
from fleet.serving.scaling_policies import Move, Rule, Tracked, rules, tracked

_SAYS: Final = {
    Move.LEAVE: "The other nodes would take the load: one node leaves, and drains first.",
    Move.TO_ZERO: "Nobody has asked for a while: the last nodes leave.",
    Move.WAKE: "Requests are refused, and there is no node: one is started.",
}
# Sizes that a policy sets the group to, rather than adds.
_EXACT: Final = {Move.TO_ZERO: 0, Move.WAKE: 1}


class EndpointScaling(Construct):
    """Attributes: none. Its alarms move nodes and tell nobody; what a person should see is in ``fleet.alarms``."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        environment: str,
        fleet: InferenceFleet,
        scaling: Scaling,
        names: EndpointNames,
    ) -> None:
        """Scale the group that ``names`` names."""
        super().__init__(scope, construct_id)
        self._environment, self._fleet, self._scaling = environment, fleet.name, scaling
        self._group = names.node_group
        for setting, target in tracked(scaling, environment, fleet.name).items():
            self._track(setting, target)
        for rule in rules(scaling, environment, fleet.name, names):
            self._alarm(rule, self._policy(rule.move))

    def _track(self, setting: str, target: Tracked) -> None:
        metric = autoscaling.CfnScalingPolicy.CustomizedMetricSpecificationProperty(
            namespace=target.metric.namespace,
            metric_name=target.metric.name,
            statistic=target.metric.statistic,
            dimensions=[
                autoscaling.CfnScalingPolicy.MetricDimensionProperty(name=name, value=value)
                for name, value in target.metric.dimensions
            ],
        )
        autoscaling.CfnScalingPolicy(
            self,
            setting.replace("_", "-"),
            auto_scaling_group_name=self._group,
            policy_type="TargetTrackingScaling",
            # Until it shares the load it counts as if it did, so that one rush does not bring a node every minute.
            estimated_instance_warmup=self._scaling.warm_up_minutes * 60,
            target_tracking_configuration=autoscaling.CfnScalingPolicy.TargetTrackingConfigurationProperty(
                target_value=target.target,
                customized_metric_specification=metric,
                # Nodes leave by a rule of their own: fleet.serving.scaling_policies says why.
                disable_scale_in=True,
            ),
        )

    def _policy(self, move: Move) -> autoscaling.CfnScalingPolicy:
        if move is Move.LEAVE:
            return autoscaling.CfnScalingPolicy(
                self,
                move.value,
                auto_scaling_group_name=self._group,
                # The one kind with a pause after it: the alarm calls again every minute that it is on.
                policy_type="SimpleScaling",
                adjustment_type="ChangeInCapacity",
                scaling_adjustment=-1,
                cooldown=str(self._scaling.cooldown_minutes * 60),
            )
        # Bounds are counted from the alarm's threshold.
        step = autoscaling.CfnScalingPolicy.StepAdjustmentProperty(
            scaling_adjustment=_EXACT[move],
            metric_interval_lower_bound=0 if move is Move.WAKE else None,
            metric_interval_upper_bound=None if move is Move.WAKE else 0,
        )
        return autoscaling.CfnScalingPolicy(
            self,
            move.value,
            auto_scaling_group_name=self._group,
            policy_type="StepScaling",
            adjustment_type="ExactCapacity",
            metric_aggregation_type="Maximum" if move is Move.WAKE else "Minimum",
            step_adjustments=[step],
        )

    def _alarm(self, rule: Rule, policy: autoscaling.CfnScalingPolicy) -> None:
        cw.CfnAlarm(
            Construct(self, f"{rule.move}-alarm"),
            "Resource",
            alarm_name=naming.scaling_alarm(self._environment, self._fleet, rule.move),
            alarm_description=_SAYS[rule.move],
            comparison_operator=rule.comparison.value,
            threshold=rule.threshold,
            datapoints_to_alarm=rule.minutes,
            evaluation_periods=rule.minutes,
            # What is not known moves no node.
            treat_missing_data="notBreaching",
            alarm_actions=[policy.ref],
            **watched(rule.metric),
        )
