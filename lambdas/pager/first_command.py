"""The command that whoever is woken types first; the runbook has those that follow it, and what they print.

Of an alarm of nodes it opens a session on the worst one. Other alarms have their own, with their names filled in.
"""

import re
from collections.abc import Mapping
from typing import Final

from fleet import naming
from lambdas.pager.evidence import Evidence
from lambdas.pager.model import AlarmChange

_INSTANCE: Final = re.compile(r"i-[0-9a-f]+")
_FIRING: Final = (
    "aws cloudwatch describe-alarms --region {region} --alarm-name-prefix {environment}/ --state-value ALARM "
    "--alarm-types MetricAlarm CompositeAlarm --query '[MetricAlarms,CompositeAlarms][].AlarmName'"
)
_OWN: Final[Mapping[str, str]] = {
    # Its owner is who can say whether it still runs, and what it said last.
    "NonFiniteLoss": (
        "aws logs tail {job_log_group} --region {region} --since 1h --filter-pattern '?NaN ?nan ?inf ?checkpoint'"
    ),
    "EndpointErrors": "fleet rollout status {environment} {fleet}",
    "EndpointLatencyP99": "fleet rollout status {environment} {fleet}",
    "NoHealthyTargets": "aws ecs list-container-instances --region {region} --cluster {cluster}",
    # What was not delivered, or waits, is most likely one of these.
    "PagerDelayed": _FIRING,
    "PagerUndelivered": _FIRING,
    "RolloutUnhandled": "fleet rollout status {environment} FLEET",
}


def first_command(change: AlarmChange, evidence: Evidence | None) -> str | None:
    """The command for ``change``; None where only the runbook can say it."""
    split = naming.split_alarm_name(change.name)
    if split is None:
        return None
    environment, fleet, key = split
    if key in _OWN:
        return _OWN[key].format(
            environment=environment,
            fleet=fleet,
            region=change.region,
            cluster=naming.cluster_name(environment, fleet),
            job_log_group=naming.job_log_group(environment),
        )
    worst = evidence.nodes[0].last.node if evidence and evidence.nodes else ""
    return f"aws ssm start-session --region {change.region} --target {worst}" if _INSTANCE.fullmatch(worst) else None
