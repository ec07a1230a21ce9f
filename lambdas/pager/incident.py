"""One incident from ALARM to OK, whatever order its messages arrive in. Pure."""

from dataclasses import dataclass
from datetime import datetime

from lambdas.pager.model import AlarmChange, State


@dataclass(frozen=True, slots=True)
class Remembered:
    """The newest transition that was seen of an alarm, and when its incident was opened."""

    state: State
    changed_at: datetime
    opened_at: datetime | None


@dataclass(frozen=True, slots=True)
class Incident:
    """``opened_at`` is None when no alarm was seen; ``is_over`` says that a newer OK has been seen already.

    ``is_certain`` is False when nothing could be remembered: then an incident may be open that nobody knows of.
    """

    opened_at: datetime | None
    is_over: bool = False
    is_certain: bool = True


def incident_of(change: AlarmChange, before: Remembered | None) -> Incident:
    """The incident that ``change`` belongs to, given what was remembered before it."""
    if change.state is State.OK:
        return Incident(before.opened_at if before else None)
    if before is None:
        return Incident(change.changed_at)
    if before.changed_at > change.changed_at:
        return Incident(change.changed_at, is_over=before.state is State.OK)
    # From missing data back to ALARM is the same incident, because nobody has been told that it ended.
    continues = before.state is State.ALARM and change.old_state is not State.OK
    return Incident(before.opened_at if continues and before.opened_at else change.changed_at)
