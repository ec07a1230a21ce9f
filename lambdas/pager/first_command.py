"""The command that whoever is woken types first; the runbook has those that follow it, and what they print."""

import re
from typing import Final

from fleet.alarm_page import AlarmPage
from lambdas.pager.evidence import Evidence
from lambdas.pager.model import AlarmChange

_INSTANCE: Final = re.compile(r"i-[0-9a-f]+")


def first_command(alarm: AlarmPage, change: AlarmChange, evidence: Evidence | None) -> str | None:
    """The alarm's own, else a session on the worst node; None where only the runbook can say it."""
    if alarm.first_command is not None:
        return alarm.first_command.replace("{region}", change.region)
    worst = evidence.nodes[0].last.node if evidence and evidence.nodes else ""
    return f"aws ssm start-session --region {change.region} --target {worst}" if _INSTANCE.fullmatch(worst) else None
