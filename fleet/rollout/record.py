"""Where a rollout stands: the one record of it, and what has to be true in AWS while it stands there."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from fleet.rollout.plan import Plan
from fleet.shadow.comparison import Comparison
from fleet.string_enum import StringEnum

# A rollout of a week has fewer events than this; a record must stay far below DynamoDB's 400 KB.
HISTORY: Final = 200


class Phase(StringEnum):
    """What is waited for. Up to BAKING the stable side is whole and serves, or can at once."""

    ARTIFACT = "artifact"
    """Compiled graphs of the new version."""
    PREPARING = "preparing"
    """Nodes and health of the candidate, for the share of the coming step."""
    SHADOWING = "shadowing"
    """The candidate to answer recorded requests as the stable side did, before it is given any. Not in every plan."""
    BAKING = "baking"
    """Time and requests at the step's share."""
    PROMOTING = "promoting"
    """The stable side to run the new version, while the candidate serves everything."""
    RETURNING = "returning"
    """Requests to be back on the stable side, which runs the new version by now."""
    RESTORING = "restoring"
    """The stable side to run the old version again, while the candidate serves everything."""
    ROLLING_BACK = "rolling back"
    """Requests to be back on the stable side, which runs the old version."""
    ENDED = "ended"


class Outcome(StringEnum):
    """How it ended."""

    DONE = "done"
    """All requests go to the stable side, which runs the new version."""
    ROLLED_BACK = "rolled back"
    """All requests go to the stable side, which runs the old version."""
    HELD = "held"
    """All requests go to the candidate, which runs the new version; the stable side could not be brought along."""


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened, for people."""

    at: datetime
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Rollout:
    """One rollout. ``fence`` rises with each execution that drives it: an older one finds itself out of office."""

    rollout_id: str
    fleet: str
    plan: Plan
    old_version: str
    new_version: str
    """Task definitions, by their full ARN."""
    nodes: int
    """Nodes of the stable side when it began."""
    started_at: datetime
    started_by: str = ""
    artifact: str = ""
    not_before: datetime | None = None
    """The first minute that holds no answer of the rollout before: no request goes to the candidate sooner."""
    phase: Phase = Phase.ARTIFACT
    step: int = 0
    since: datetime
    """When the phase began."""
    paused_at: datetime | None = None
    fence: int = 1
    outcome: Outcome | None = None
    reason: str = ""
    """Why it rolled back, or is held."""
    note: str = ""
    """What it waits for at the moment."""
    no_nodes: str = ""
    """AWS's newest words for why nodes are missing: the next attempt, once under way, gives none."""
    stable_p99: float | None = None
    """Of the stable side while it still had requests; at 100 % there are no same minutes to compare with."""
    stable_usd_per_million_tokens: float | None = None
    """Of the stable side when all requests were its own."""
    shadow: tuple[Comparison, ...] = ()
    """What the candidate's tasks have reported of recorded requests."""
    history: tuple[Event, ...] = ()

    @property
    def is_over(self) -> bool:
        """Whether nothing more is done for it."""
        return self.phase is Phase.ENDED

    @property
    def percent(self) -> int:
        """The share of the step that it is at, or goes to."""
        return self.plan.steps[self.step]

    def enter(self, phase: Phase, at: datetime, text: str, *, step: int | None = None) -> "Rollout":
        """The same in another phase, with what is to be said of it."""
        events = (*self.history, Event(at, text))[-HISTORY:]
        step = self.step if step is None else step
        return replace(self, phase=phase, since=at, step=step, note="", no_nodes="", history=events)

    def tell(self, at: datetime, text: str) -> "Rollout":
        """The same with one more line in its history."""
        return replace(self, history=(*self.history, Event(at, text))[-HISTORY:])

    def wait(self, note: str) -> "Rollout":
        """The same, waiting for ``note``."""
        return replace(self, note=note)


@dataclass(frozen=True, slots=True)
class Wanted:
    """What has to be true in AWS. ``candidate_nodes`` None: leave them as they are."""

    candidate_weight: int
    candidate_nodes: int | None
    stable_version: str | None
    candidate_version: str | None
    """Task definitions; None: leave it as it is."""
    scales: bool = False
    """Whether the stable side's nodes may follow the load: not while they are what requests go back to."""

    @property
    def stable_weight(self) -> int:
        """The rest of a hundred."""
        return 100 - self.candidate_weight


def begin(rollout: Rollout) -> Rollout:
    """A new rollout, at its first phase."""
    text = f"rollout of {short(rollout.new_version)} in place of {short(rollout.old_version)}"
    by = f", asked for by {rollout.started_by}" if rollout.started_by else ""
    return rollout.enter(Phase.ARTIFACT, rollout.started_at, text + by)


def next_minute(ended: Rollout) -> datetime:
    """The first whole minute after ``ended`` has given its last answer.

    CloudWatch counts a target group's answers by the minute, and does not say whose version gave them: only from a
    minute that ``ended`` did not live in is everything the next rollout's.
    """
    return ended.since.replace(second=0, microsecond=0) + timedelta(minutes=1)


def short(version: str) -> str:
    """A task definition as people call it: ``chat:8``."""
    return version.rpartition("/")[2]


def wanted(rollout: Rollout) -> Wanted:
    """What ``rollout`` wants where it stands."""
    phase, plan, step = rollout.phase, rollout.plan, rollout.step
    if phase is Phase.ENDED:
        return _at_the_end(rollout)
    stable = rollout.new_version if phase in (Phase.PROMOTING, Phase.RETURNING) else rollout.old_version
    if phase is Phase.ARTIFACT:
        return Wanted(0, 0, stable, None)
    if phase in (Phase.RETURNING, Phase.ROLLING_BACK):
        # The nodes stay until the last answer is given.
        return Wanted(0, None, stable, None)
    if phase in (Phase.PROMOTING, Phase.RESTORING):
        return Wanted(100, rollout.nodes, stable, rollout.new_version)
    before = plan.steps[step - 1] if step else 0
    weight = plan.steps[step] if phase is Phase.BAKING else before
    return Wanted(weight, plan.nodes_at(step, rollout.nodes), stable, rollout.new_version)


def _at_the_end(rollout: Rollout) -> Wanted:
    if rollout.outcome is Outcome.HELD:
        return Wanted(100, None, None, None)
    stays = rollout.new_version if rollout.outcome is Outcome.DONE else rollout.old_version
    return Wanted(0, 0, stays, None, scales=True)
