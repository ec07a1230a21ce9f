"""Turns alarm specs into CloudWatch alarms, and windows of planned maintenance into its mute rules.

Source: PutAlarmMuteRule of the CloudWatch API reference. What is muted and still in ALARM at the window's end is told
then. The platform's own alarms are never muted: a page that could not be delivered is no matter of a fleet.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

from aws_cdk import CfnTag, Tags
from aws_cdk import aws_cloudwatch as cw
from aws_cdk import aws_cloudwatch_actions as actions
from aws_cdk import aws_sns as sns
from constructs import Construct

from environments.maintenance import Window
from fleet import metrics, naming
from fleet.alarms import AlarmSpec, AnySpec, CompositeSpec, ContributorSpec, MathRef, MetricRef, Severity, alarms_in
from fleet.alarms.specs import SUPPRESSOR_EXTENSION_SECONDS, SUPPRESSOR_WAIT_SECONDS

# What a page may be routed by without reading the alarm's name. The environment's own are put on by its stage.
ROUTING_TAGS: Final = ("environment", "fleet", "owner", "severity")
Alarm = cw.CfnAlarm | cw.CompositeAlarm


class AlarmGroup(Construct):
    """The alarms of one subject. Ids come from the alarm's key; the environment is in the names only."""

    def __init__(  # noqa: PLR0913  what its alarms share, all named
        self,
        scope: Construct,
        construct_id: str,
        *,
        specs: Sequence[AnySpec],
        topics: Mapping[Severity, sns.ITopic],
        bypass_pager: sns.ITopic,
        runbooks_url: str,
        tags: Mapping[str, str],
        suppressors: Mapping[str, Alarm] | None = None,
    ) -> None:
        """``tags`` go on every alarm; ``suppressors`` are alarms of other groups that composites here wait for."""
        super().__init__(scope, construct_id)
        self._specs = specs
        self._runbooks_url = runbooks_url
        self._suppressors = suppressors or {}
        self.by_key: dict[str, Alarm] = {}
        for spec in specs:
            told = [topics[spec.severity], *([bypass_pager] if spec.bypass_pager else [])] if spec.notifies else []
            if isinstance(spec, CompositeSpec):
                self.by_key[spec.key] = self._composite(spec, told)
            elif isinstance(spec, AlarmSpec):
                self.by_key[spec.key] = self._metric_alarm(spec, told)
            else:
                self.by_key[spec.key] = self._followed(spec, told)
        for key, value in tags.items():
            Tags.of(self).add(key, value)

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
            warm_up_configuration=None
            if spec.warm_up_minutes is None
            else cw.CfnAlarm.WarmUpConfigurationProperty(warm_up_period_duration_in_minutes=spec.warm_up_minutes),
            **_telling(spec, told),
            **watched(spec.metric),
        )

    def _followed(self, spec: ContributorSpec, told: Sequence[sns.ITopic]) -> cw.CfnAlarm:
        criteria = cw.CfnAlarm.AlarmPromQLCriteriaProperty(
            query=spec.expression, pending_period=spec.pending_seconds, recovery_period=spec.recovery_seconds
        )
        return cw.CfnAlarm(
            Construct(self, spec.key),
            "Resource",
            alarm_name=spec.name,
            alarm_description=spec.description(self._runbooks_url),
            evaluation_criteria=cw.CfnAlarm.EvaluationCriteriaProperty(prom_ql_criteria=criteria),
            evaluation_interval=metrics.PERIOD_SECONDS,
            **_telling(spec, told),
        )

    def _composite(self, spec: CompositeSpec, told: Sequence[sns.ITopic]) -> cw.CompositeAlarm:
        # The L2, because tiles of dashboards take no other; what it has no parameter for is set below it.
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
        resource = cast("cw.CfnCompositeAlarm", alarm.node.default_child)
        resource.action_configuration = cw.CfnCompositeAlarm.ActionConfigurationProperty(
            alarm_tags_propagation=cw.CfnCompositeAlarm.AlarmTagsPropagationProperty(
                enabled=True, included_tag_keys=list(ROUTING_TAGS)
            )
        )
        Tags.of(alarm).add("severity", spec.severity)
        # Alarms are named in text, so that CloudFormation does not see that they have to exist first.
        alarm.node.add_dependency(*(self.by_key[child.key] for child in alarms_in(spec.rule)))
        if spec.suppressed_by is not None:
            resource.actions_suppressor = spec.suppressed_by.name
            resource.actions_suppressor_wait_period = SUPPRESSOR_WAIT_SECONDS
            resource.actions_suppressor_extension_period = SUPPRESSOR_EXTENSION_SECONDS
            alarm.node.add_dependency(self._suppressors[spec.suppressed_by.name])
        return alarm


def _telling(spec: AlarmSpec | ContributorSpec, told: Sequence[sns.ITopic]) -> dict[str, Any]:
    """Whom an alarm tells, of its end too, and the tags that go along."""
    topics = [topic.topic_arn for topic in told] or None
    propagation = cw.CfnAlarm.AlarmTagsPropagationProperty(enabled=True, included_tag_keys=list(ROUTING_TAGS))
    return {
        "alarm_actions": topics,
        "ok_actions": topics,
        "action_configuration": cw.CfnAlarm.ActionConfigurationProperty(alarm_tags_propagation=propagation)
        if told
        else None,
        "tags": [CfnTag(key="severity", value=spec.severity)],
    }


def watched(ref: MetricRef | MathRef) -> dict[str, Any]:
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


# Quota of CloudWatch: alarms that one rule may name.
ALARMS_OF_A_RULE: Final = 100


def mute(
    scope: Construct, environment: str, windows: Sequence[Window], alarms: Mapping[str, Sequence[AnySpec]]
) -> None:
    """A rule for each window, or several where it is about more alarms than one may name."""
    for window in windows:
        fleets = window.fleets or tuple(alarms)
        names = [spec.name for fleet in fleets for spec in alarms[fleet] if spec.notifies]
        for part, start in enumerate(range(0, len(names), ALARMS_OF_A_RULE)):
            _rule(scope, environment, window, part, names[start : start + ALARMS_OF_A_RULE])


def _rule(scope: Construct, environment: str, window: Window, part: int, names: list[str]) -> None:
    suffix = f"-{part + 1}" if part else ""
    schedule = cw.CfnAlarmMuteRule.ScheduleProperty(
        duration=f"PT{window.minutes}M", expression=window.expression, timezone=window.time_zone
    )
    cw.CfnAlarmMuteRule(
        scope,
        f"Mute-{window.name}{suffix}",
        name=naming.mute_rule(environment, window.name) + suffix,
        description=f"Planned maintenance: {window.reason}",
        rule=cw.CfnAlarmMuteRule.RuleProperty(schedule=schedule),
        mute_targets=cw.CfnAlarmMuteRule.MuteTargetsProperty(alarm_names=names),
    )
