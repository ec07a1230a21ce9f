"""ActionsSuppressor: when the actions of a composite alarm are held back.

Source: Amazon CloudWatch User Guide, "Suppressing composite alarm actions"; ActionsSuppressedBy as in the
CompositeAlarm type of the API reference.

Alarm mute rules: windows in which alarms change their states and take no actions.

Source: Amazon CloudWatch User Guide, "Alarm Mute Rules" and "How alarm mute rules work"; PutAlarmMuteRule of the API
reference.
"""

from dataclasses import dataclass
from enum import StrEnum

from local.alarm_evaluation.definitions import Suppression
from local.alarm_evaluation.schedules import Schedule
from local.alarm_evaluation.states import State


class HeldBy(StrEnum):
    """What holds a composite's actions back, in CloudWatch's words."""

    ALARM = "Alarm"
    WAIT = "WaitPeriod"
    EXTENSION = "ExtensionPeriod"


class SuppressionHold:
    """Follows one composite alarm and its suppressor through time."""

    def __init__(self, settings: Suppression) -> None:
        self.settings = settings
        self.held_by: HeldBy | None = None
        self._until = 0.0

    def follow(self, suppressor: State | None, *, changed: bool, now: float) -> HeldBy | None:
        """What holds the actions back at ``now``, given the suppressor's state and whether the composite changed.

        The suppressor is heard first: a composite that changes in the moment in which its suppressor does is suppressed
        by it, and a change after the suppressor left ALARM waits anew, even within an extension.
        """
        if suppressor is State.ALARM:
            self.held_by = HeldBy.ALARM
            return self.held_by
        if self.held_by is HeldBy.ALARM:
            self._hold(HeldBy.EXTENSION, now + self.settings.extension_seconds)
        if changed:
            self._hold(HeldBy.WAIT, now + self.settings.wait_seconds)
        if now >= self._until:
            self.held_by = None
        return self.held_by

    def _hold(self, by: HeldBy, until: float) -> None:
        self.held_by, self._until = by, until


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
