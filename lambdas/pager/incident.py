"""One incident from ALARM to OK, whatever order its messages arrive in. Pure.

Every transition that was ever seen of an alarm is kept as a set, which does not care about order or repetition; which
incident a transition belongs to is read off the set each time.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from itertools import takewhile

from lambdas.pager.model import AlarmChange, State


@dataclass(frozen=True, slots=True, order=True)
class Transition:
    """A change of an alarm's state, as its message told it."""

    changed_at: datetime
    state: State
    old_state: State

    @property
    def opens(self) -> bool:
        """Whether an incident begins here: from missing data back to ALARM it is the same one."""
        return self.state is State.ALARM and self.old_state is State.OK


@dataclass(frozen=True, slots=True)
class Incident:
    """``alarms`` are the moments of its ALARMs that were seen, the first one first; none for an OK without any.

    ``ended_at`` is the moment of its OK; ``is_over`` may be known without it, by a later incident. ``is_certain`` is
    False when nothing could be remembered: then an incident may be open that nobody knows of.
    """

    alarms: tuple[datetime, ...]
    ended_at: datetime | None = None
    is_over: bool = False
    is_certain: bool = True

    @property
    def opened_at(self) -> datetime | None:
        """When it began, if that was seen."""
        return self.alarms[0] if self.alarms else None


def transition_of(change: AlarmChange) -> Transition:
    """The part of a message that is remembered."""
    return Transition(change.changed_at, change.state, change.old_state)


def incident_of(change: AlarmChange, known: Iterable[Transition]) -> Incident:
    """The incident that ``change`` belongs to, given what is known, ``change`` itself or not."""
    here = transition_of(change)
    ordered = sorted({*known, here})
    position = ordered.index(here)
    if here.state is State.OK:
        return Incident(_run_before(ordered[:position]), here.changed_at, is_over=True)
    earlier = () if here.opens else _run_before(ordered[:position])
    later = ordered[position + 1 :]
    same = tuple(takewhile(lambda each: each.state is State.ALARM and not each.opens, later))
    after = later[len(same) : len(same) + 1]
    ended_at = after[0].changed_at if after and after[0].state is State.OK else None
    alarms = (*earlier, here.changed_at, *(each.changed_at for each in same))
    return Incident(alarms, ended_at, is_over=bool(after))


def _run_before(before: list[Transition]) -> tuple[datetime, ...]:
    """The ALARMs at the end of ``before``, back to the one that opened their incident."""
    run: list[datetime] = []
    for each in reversed(before):
        if each.state is not State.ALARM:
            break
        run.append(each.changed_at)
        if each.opens:
            break
    return tuple(reversed(run))
