"""Windows of planned maintenance as CloudWatch's mute rules: alarms change their states, and tell nobody.

Source: PutAlarmMuteRule of the CloudWatch API reference. What is muted and still in ALARM at the window's end is told
then. The platform's own alarms are never muted: a page that could not be delivered is no matter of a fleet.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from aws_cdk import aws_cloudwatch as cw
from constructs import Construct

from environments.maintenance import Window
from fleet import naming
from fleet.alarms import Spec

# Quota of CloudWatch: alarms that one rule may name.
ALARMS_OF_A_RULE: Final = 100


def mute(scope: Construct, environment: str, windows: Sequence[Window], alarms: Mapping[str, Sequence[Spec]]) -> None:
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
