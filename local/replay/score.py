"""What was told, held against what an operator would want: hits, misses, false pages, minutes to page.

A page is right when an incident of its fleet is going on that the alarm may tell of, and of no other job or node than
it names; the same alarm telling of the same incident again is false, for a page that is false twice is switched off.
Baselines have names of their own, so any of their pages counts that falls into an incident of a page's severity, which
favors them. None of them looks at an endpoint's load balancer, so its incidents are nothing that they miss.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Final

from fleet.alarms import Severity
from local.replay.run import OWN, Replay
from local.replay.scenario import Fleet, Incident, Scenario
from local.replay.told import Told

# An alarm that looks back a quarter of an hour may cross its bar after the trouble has ended.
_AFTERGLOW_MINUTES: Final = 5


@dataclass(frozen=True, slots=True)
class Outcome:
    """One incident of a scenario. ``first`` is what told of it in time; None is a miss. ``ever`` may be too late."""

    scenario: str
    incident: Incident
    first: Told | None
    ever: Told | None = None

    @property
    def minutes(self) -> float | None:
        """Minutes from the incident's start to the page."""
        return None if self.first is None else self.first.minute - self.incident.at

    @property
    def lost_usd(self) -> float | None:
        """Dollars that burned before anybody was told, or all of them; None where the label does not say."""
        end = self.incident.until if self.ever is None else min(self.ever.minute, self.incident.until)
        return self._burned(end)

    @property
    def at_stake_usd(self) -> float | None:
        """Dollars that burn where nobody is told."""
        return self._burned(self.incident.until)

    def _burned(self, end: float) -> float | None:
        rate = self.incident.usd_per_hour
        return None if rate is None else rate * max(0.0, end - self.incident.at) / 60


@dataclass(frozen=True, slots=True)
class Judged:
    """One page or ticket, and whether it was right."""

    scenario: str
    told: Told
    is_true: bool


@dataclass(frozen=True, slots=True)
class Score:
    """The figures of one set of alarms; shares are None without anything to divide by."""

    outcomes: tuple[Outcome, ...]
    judged: tuple[Judged, ...]

    @property
    def recall(self) -> float | None:
        """Incidents that were told in time, of all."""
        found = sum(outcome.first is not None for outcome in self.outcomes)
        return found / len(self.outcomes) if self.outcomes else None

    @property
    def precision(self) -> float | None:
        """Right ones, of all that were sent."""
        return sum(each.is_true for each in self.judged) / len(self.judged) if self.judged else None

    @property
    def lost_usd(self) -> float | None:
        """Dollars that burned before the page, over all incidents whose label says what they burn."""
        return _total(outcome.lost_usd for outcome in self.outcomes)

    @property
    def at_stake_usd(self) -> float | None:
        """Dollars that the same incidents burn where nobody is told."""
        return _total(outcome.at_stake_usd for outcome in self.outcomes)

    def minutes(self, kind: str | None = None) -> float | None:
        """The median of minutes to page, of all kinds of incidents or of one."""
        found = [
            outcome.minutes
            for outcome in self.outcomes
            if outcome.minutes is not None and kind in {None, outcome.incident.kind}
        ]
        return median(found) if found else None

    def of(self, severity: Severity) -> "Score":
        """The pages only, or the tickets only."""
        return Score(
            tuple(each for each in self.outcomes if each.incident.severity is severity),
            tuple(each for each in self.judged if each.told.severity is severity),
        )

    def of_alarm(self, alarm: str) -> "Score":
        """One alarm: the incidents that name it first, and what it said."""
        return Score(
            tuple(each for each in self.outcomes if each.incident.alarms[0] == alarm),
            tuple(each for each in self.judged if each.told.alarm == alarm),
        )

    @property
    def alarms(self) -> tuple[str, ...]:
        """Every alarm that should have spoken or did, by name."""
        wanted = {outcome.incident.alarms[0] for outcome in self.outcomes}
        return tuple(sorted(wanted | {each.told.alarm for each in self.judged}))


def score(replays: Iterable[Replay], alarm_set: str) -> Score:
    """The score of one set over all ``replays``."""
    outcomes: list[Outcome] = []
    judged: list[Judged] = []
    for replay in replays:
        told = replay.told[alarm_set]
        found = [_told_of(incident, told, alarm_set, replay.scenario) for incident in replay.scenario.incidents]
        name = replay.scenario.name
        outcomes += [
            Outcome(name, incident, _first(incident, pages), _ever(incident, pages))
            for incident, pages in zip(replay.scenario.incidents, found, strict=True)
            if not incident.optional
            and (alarm_set in OWN or (incident.severity is Severity.PAGE and incident.kind != "endpoint"))
        ]
        right = _right(told, found)
        judged += [Judged(name, each, index in right) for index, each in enumerate(told)]
    return Score(tuple(outcomes), tuple(judged))


def _told_of(incident: Incident, told: Sequence[Told], alarm_set: str, scenario: Scenario) -> list[Told]:
    named = {*incident.alarms, *incident.also}
    return [
        each
        for each in told
        if each.fleet == incident.fleet
        and _concerns(incident, each, scenario.fleets[incident.fleet])
        # What need not even be a ticket is no reason to wake anybody.
        and not (incident.optional and incident.severity is Severity.TICKET and each.severity is Severity.PAGE)
        and incident.at <= each.minute <= incident.until + _AFTERGLOW_MINUTES
        and (each.alarm in named if alarm_set in OWN else incident.severity is Severity.PAGE)
    ]


def _concerns(incident: Incident, told: Told, fleet: Fleet) -> bool:
    """Whether a contributor is of the incident's job and nodes; an alarm that has no contributors is believed."""
    return not told.contributors or any(_is_of(incident, dict(each), fleet) for each in told.contributors)


def _is_of(incident: Incident, contributor: Mapping[str, str], fleet: Fleet) -> bool:
    job, node = contributor.get("job"), contributor.get("node")
    if job is not None and incident.job not in {None, job}:
        return False
    # One may name the job and the other a node: the scenario knows which nodes a job has.
    nodes = {node} if node is not None else _nodes_of(job, incident.fleet, fleet)
    wanted = {f"{incident.fleet}-{at}" for at in incident.nodes} or _nodes_of(incident.job, incident.fleet, fleet)
    return not nodes or not wanted or not nodes.isdisjoint(wanted)


def _nodes_of(job: str | None, name: str, fleet: Fleet) -> set[str]:
    """The names of the job's nodes in the fleet called ``name``; none where nobody knows of the job."""
    return {f"{name}-{at}" for each in fleet.jobs if each.id == job for at in each.nodes or range(fleet.nodes)}


def _first(incident: Incident, told: Sequence[Told]) -> Told | None:
    # A quarter of a minute: alarms look seconds after the minute's end.
    return _ever(incident, [each for each in told if each.minute <= incident.by + 0.25])


def _ever(incident: Incident, told: Sequence[Told]) -> Told | None:
    wanted = [each for each in told if each.alarm in incident.alarms] or [
        each for each in told if each.alarm not in incident.also
    ]
    return min(wanted, key=lambda each: each.minute, default=None)


def _right(told: Sequence[Told], found: Sequence[Sequence[Told]]) -> frozenset[int]:
    """The places in ``told`` of what is right: each alarm tells of each incident once."""
    right: set[int] = set()
    told_of: set[tuple[str, int]] = set()
    for index in sorted(range(len(told)), key=lambda each: told[each].minute):
        each = told[index]
        fresh = (at for at, pages in enumerate(found) if each in pages and (each.alarm, at) not in told_of)
        incident = next(fresh, None)
        if incident is not None:
            right.add(index)
            told_of.add((each.alarm, incident))
    return frozenset(right)


def _total(dollars: Iterable[float | None]) -> float | None:
    known = [each for each in dollars if each is not None]
    return sum(known) if known else None
