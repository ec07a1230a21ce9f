"""Turns alarm specs into CloudWatch alarms, and an environment's fleets into the settings of their alarms."""

from collections.abc import Mapping, Sequence
from typing import Final

from aws_cdk import Duration
from aws_cdk import aws_cloudwatch as cw
from aws_cdk import aws_cloudwatch_actions as actions
from aws_cdk import aws_sns as sns
from constructs import Construct

from environments.model import Environment, Fleet, InferenceFleet
from fleet import metrics
from fleet.alarms import (
    AlarmSettings,
    AlarmSpec,
    Comparison,
    CompositeSpec,
    MathRef,
    MetricRef,
    Severity,
    Silence,
    Spec,
    Thresholds,
    alarms_in,
    endpoint_alarms,
    fleet_alarms,
)
from fleet.fleet_spec import MarketKind
from fleet.load_balancer import EndpointNames

MINUTE: Final = Duration.seconds(metrics.PERIOD_SECONDS)
# What watches is silent until it is deployed too, and ran once; the warm-up ends early when its data comes.
WARM_UP_MINUTES: Final = 30

_COMPARISONS: Final = {
    Comparison.BELOW: cw.ComparisonOperator.LESS_THAN_THRESHOLD,
    Comparison.ABOVE: cw.ComparisonOperator.GREATER_THAN_THRESHOLD,
    Comparison.AT_LEAST: cw.ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
}
_SILENCE: Final = {
    Silence.BREACHING: cw.TreatMissingData.BREACHING,
    Silence.NOT_BREACHING: cw.TreatMissingData.NOT_BREACHING,
    Silence.KEEP: cw.TreatMissingData.IGNORE,
}


def alarm_settings(environment: Environment, fleet: Fleet) -> AlarmSettings:
    """What the alarms of ``fleet`` need to know about it."""
    thresholds = Thresholds(**fleet.alarms.model_dump())
    if isinstance(fleet, InferenceFleet):
        thresholds = Thresholds(**fleet.alarms.model_dump(), latency_p99_seconds=fleet.endpoint.latency_p99_seconds)
    return AlarmSettings(
        environment=environment.name,
        fleet=fleet.name,
        purpose=fleet.purpose,
        market=MarketKind(fleet.market.kind),
        nodes=fleet.nodes,
        reports_flops=fleet.reports_flops,
        thresholds=thresholds,
    )


def environment_alarms(environment: Environment, endpoints: Mapping[str, EndpointNames]) -> dict[str, tuple[Spec, ...]]:
    """Every alarm of an environment by fleet; ``endpoints`` holds the load balancers by fleet."""
    alarms: dict[str, tuple[Spec, ...]] = {}
    for fleet in environment.fleets:
        settings = alarm_settings(environment, fleet)
        alarms[fleet.name] = fleet_alarms(settings)
        if fleet.name in endpoints:
            alarms[fleet.name] += endpoint_alarms(settings, endpoints[fleet.name])
    return alarms


class AlarmGroup(Construct):
    """The alarms of one subject. Ids come from the alarm's key; the environment is in the names only."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        specs: Sequence[Spec],
        topics: Mapping[Severity, sns.ITopic],
        past_the_pager: sns.ITopic,
        runbooks_url: str,
    ) -> None:
        super().__init__(scope, construct_id)
        self._specs = specs
        self._runbooks_url = runbooks_url
        self.by_key: dict[str, cw.AlarmBase] = {}
        for spec in specs:
            alarm = self._metric_alarm(spec) if isinstance(spec, AlarmSpec) else self._composite(spec)
            self.by_key[spec.key] = alarm
            told = [topics[spec.severity], *([past_the_pager] if spec.past_the_pager else [])]
            for topic in told if spec.notifies else ():
                alarm.add_alarm_action(actions.SnsAction(topic))
                alarm.add_ok_action(actions.SnsAction(topic))

    @property
    def notifying_keys(self) -> tuple[str, ...]:
        """The alarms that tell somebody, in order."""
        return tuple(spec.key for spec in self._specs if spec.notifies)

    def notifying(self, severity: Severity) -> tuple[cw.AlarmBase, ...]:
        """The alarms that page, or those that open a ticket."""
        return tuple(self.by_key[spec.key] for spec in self._specs if spec.notifies and spec.severity is severity)

    def _metric_alarm(self, spec: AlarmSpec) -> cw.Alarm:
        breaching, evaluated = spec.datapoints
        alarm = cw.Alarm(
            self,
            spec.key,
            alarm_name=spec.name,
            alarm_description=spec.description(self._runbooks_url),
            metric=to_metric(spec.metric),
            comparison_operator=_COMPARISONS[spec.comparison],
            threshold=spec.threshold,
            datapoints_to_alarm=breaching,
            evaluation_periods=evaluated,
            treat_missing_data=_SILENCE[spec.silence],
        )
        if spec.silence is Silence.BREACHING:
            resource = alarm.node.default_child
            assert isinstance(resource, cw.CfnAlarm)  # noqa: S101 - what the L2 is made of
            resource.warm_up_configuration = cw.CfnAlarm.WarmUpConfigurationProperty(
                warm_up_period_duration_in_minutes=WARM_UP_MINUTES
            )
        return alarm

    def _composite(self, spec: CompositeSpec) -> cw.CompositeAlarm:
        alarm = cw.CompositeAlarm(
            self,
            spec.key,
            composite_alarm_name=spec.name,
            alarm_description=spec.description(self._runbooks_url),
            alarm_rule=cw.AlarmRule.from_string(spec.rule.render()),
        )
        # The rule names the children, so CloudFormation does not see that they have to exist first.
        alarm.node.add_dependency(*(self.by_key[child.key] for child in alarms_in(spec.rule)))
        return alarm


def to_metric(ref: MetricRef | MathRef) -> cw.IMetric:
    """The CDK metric; without a unit, which could only hide data."""
    if isinstance(ref, MathRef):
        queries = {identifier: to_metric(query) for identifier, query in ref.queries}
        return cw.MathExpression(expression=ref.expression, using_metrics=queries, period=MINUTE)
    return cw.Metric(
        namespace=ref.namespace,
        metric_name=ref.name,
        statistic=ref.statistic,
        dimensions_map=dict(ref.dimensions),
        period=MINUTE,
    )
