"""Alarms that follow each job and each node: whose a transition is, and which of them are one incident. Pure.

CloudWatch sends SNS a message for each contributor of such an alarm, with the contributor's id and attributes beside
the fields that every alarm has, and may send one of the alarm as a whole too (Amazon CloudWatch User Guide, "Acting on
alarm changes", the table of actions, and the notification for a contributor among its examples of log alarms). Whether
PromQL alarms send the same is not documented; where they send the whole alarm alone, that one is told.

Contributors that begin within minutes of each other are one incident: sixteen nodes of a rack that loses power are one
page with a list. Those of another job are another incident, and so is one that begins later.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from fleet.lateness import LATE_MINUTES
from lambdas.pager.evidence import Evidence
from lambdas.pager.log_events import NodeEvent

# What nodes send of one minute becomes visible over as many.
TOGETHER: Final = timedelta(minutes=LATE_MINUTES)


@dataclass(frozen=True, slots=True)
class Spell:
    """One contributor from ALARM to OK; ``ended_at`` may be unknown although it ``is_over``."""

    contributor: str
    alarms: tuple[datetime, ...]
    ended_at: datetime | None
    is_over: bool

    @property
    def began(self) -> datetime:
        """Its first ALARM."""
        return self.alarms[0]


def together_with(own: Spell, spells: Iterable[Spell]) -> tuple[Spell, ...]:
    """The spells that are one incident with ``own``, earliest first, in whatever order they were learned of."""
    groups: list[list[Spell]] = []
    for spell in sorted({own, *spells}, key=lambda each: (each.began, each.contributor)):
        if groups and spell.began - groups[-1][0].began < TOGETHER:
            groups[-1].append(spell)
        else:
            groups.append([spell])
    return next(tuple(group) for group in groups if own in group)


def of_its_job(events: Sequence[NodeEvent], attributes: Mapping[str, str]) -> list[NodeEvent]:
    """The events of the contributor's job; all of them where it has none, or none of its events is left."""
    job = attributes.get("job")
    found = [event for event in events if job == event.job or job in {part.job for part in event.jobs}] if job else []
    return found or list(events)


def node_first(found: Evidence, attributes: Mapping[str, str]) -> Evidence:
    """The contributor's own node before the others, whatever is wrong with those."""
    own = attributes.get("node")
    return replace(found, nodes=tuple(sorted(found.nodes, key=lambda node: node.last.node != own))) if own else found
