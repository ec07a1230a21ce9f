"""Alarm mute rules: windows in which alarms change their states and take no actions.

Source: Amazon CloudWatch User Guide, "Alarm Mute Rules" and "How alarm mute rules work"; PutAlarmMuteRule of the API
reference.
"""

from dataclasses import dataclass
from enum import StrEnum

from local.alarm_evaluation.actions.schedules import Schedule


class MuteStatus(StrEnum):
    """What a rule does at a time, in CloudWatch's words."""

    SCHEDULED = "SCHEDULED"
    ACTIVE = "ACTIVE"
    EXPIRED = "EXPIRED"


@dataclass(frozen=True, slots=True, kw_only=True)
class MuteRule:
    """Mutes ``alarms`` for ``seconds`` whenever ``schedule`` opens, from ``starts`` to ``expires`` (unix seconds)."""

    name: str
    schedule: Schedule
    seconds: float
    alarms: frozenset[str]
    starts: float | None = None
    expires: float | None = None

    def status(self, at: float) -> MuteStatus:
        """What the rule does at ``at``; a window ends when its duration is over, that moment excluded."""
        if self.expires is not None and at >= self.expires:
            return MuteStatus.EXPIRED
        started = self.starts is None or at >= self.starts
        opened = self.schedule.last_opening(at, self.seconds)
        return MuteStatus.ACTIVE if started and opened is not None else MuteStatus.SCHEDULED

    def mutes(self, alarm: str, at: float) -> bool:
        """Whether the actions of ``alarm`` are muted at ``at``."""
        return alarm in self.alarms and self.status(at) is MuteStatus.ACTIVE
