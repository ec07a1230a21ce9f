"""Turns alarm specs into CloudWatch alarms, and an environment's fleets into the settings of their alarms."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from aws_cdk import aws_cloudwatch as cw
from aws_cdk import aws_cloudwatch_actions as actions
from aws_cdk import aws_sns as sns
from constructs import Construct

from environments.model import Environment, Fleet, InferenceFleet
from fleet import metrics
from fleet.alarms import (
    AlarmSettings,
    AlarmSpec,
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

# What watches is silent until it is deployed too, and ran once; the warm-up ends early when its data comes.
WARM_UP_MINUTES: Final = 30
Alarm = cw.CfnAlarm | cw.CompositeAlarm


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
        self.by_key: dict[str, Alarm] = {}
        for spec in specs:
            told = [topics[spec.severity], *([past_the_pager] if spec.past_the_pager else [])] if spec.notifies else []
            self.by_key[spec.key] = (
                self._metric_alarm(spec, told) if isinstance(spec, AlarmSpec) else self._composite(spec, told)
            )

    @property
    def notifying_keys(self) -> tuple[str, ...]:
        """The alarms that tell somebody, in order."""
        return tuple(spec.key for spec in self._specs if spec.notifies)

    def notifying(self, severity: Severity) -> tuple[Alarm, ...]:
        """The alarms that page, or those that open a ticket."""
        return tuple(self.by_key[spec.key] for spec in self._specs if spec.notifies and spec.severity is severity)

    def _metric_alarm(self, spec: AlarmSpec, told: Sequence[sns.ITopic]) -> cw.CfnAlarm:
        # An L1: an alarm takes one call over the bridge to Node in place of six, and there are dozens of alarms.
        breaching, evaluated = spec.datapoints
        warm_up = cw.CfnAlarm.WarmUpConfigurationProperty(warm_up_period_duration_in_minutes=WARM_UP_MINUTES)
        topics = [topic.topic_arn for topic in told] or None
        return cw.CfnAlarm(
            Construct(self, spec.key),
            "Resource",
            alarm_name=spec.name,
            alarm_description=spec.description(self._runbooks_url),
            comparison_operator=spec.comparison.value,
            threshold=spec.threshold,
            datapoints_to_alarm=breaching,
            evaluation_periods=evaluated,
            treat_missing_data=spec.silence.value,
            warm_up_configuration=warm_up if spec.silence is Silence.BREACHING else None,
            alarm_actions=topics,
            ok_actions=topics,
            **_watched(spec.metric),
        )

    def _composite(self, spec: CompositeSpec, told: Sequence[sns.ITopic]) -> cw.CompositeAlarm:
        alarm = cw.CompositeAlarm(
            self,
            spec.key,
            composite_alarm_name=spec.name,
            alarm_description=spec.description(self._runbooks_url),
            alarm_rule=cw.AlarmRule.from_string(spec.rule.render()),
        )
        for topic in told:
            alarm.add_alarm_action(actions.SnsAction(topic))
            alarm.add_ok_action(actions.SnsAction(topic))
        # The rule names the children, so CloudFormation does not see that they have to exist first.
        alarm.node.add_dependency(*(self.by_key[child.key] for child in alarms_in(spec.rule)))
        return alarm


def _watched(ref: MetricRef | MathRef) -> dict[str, Any]:
    """What an alarm looks at, as its properties; without a unit, which could only hide data."""
    if isinstance(ref, MathRef):
        expression = cw.CfnAlarm.MetricDataQueryProperty(id="expr_1", expression=ref.expression, return_data=True)
        return {"metrics": [expression, *(_query(name, query) for name, query in ref.queries)]}
    statistic = "extended_statistic" if ref.statistic.startswith("p") else "statistic"
    return {
        "namespace": ref.namespace,
        "metric_name": ref.name,
        "dimensions": _dimensions(ref),
        "period": metrics.PERIOD_SECONDS,
        statistic: ref.statistic,
    }


def _query(name: str, ref: MetricRef) -> cw.CfnAlarm.MetricDataQueryProperty:
    metric = cw.CfnAlarm.MetricProperty(namespace=ref.namespace, metric_name=ref.name, dimensions=_dimensions(ref))
    stat = cw.CfnAlarm.MetricStatProperty(metric=metric, period=metrics.PERIOD_SECONDS, stat=ref.statistic)
    return cw.CfnAlarm.MetricDataQueryProperty(id=name, metric_stat=stat, return_data=False)


def _dimensions(ref: MetricRef) -> list[cw.CfnAlarm.DimensionProperty]:
    return [cw.CfnAlarm.DimensionProperty(name=name, value=value) for name, value in ref.dimensions]
