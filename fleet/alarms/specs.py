"""What an alarm is, as data: what it reads, a threshold, what missing data means, and what a person should do.

The alarms themselves are in ``fleet.alarms``. Nothing here knows how CloudWatch is called: dashboards render a spec to
CDK, and the backtest evaluates the same spec against recorded minutes.
"""

from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from typing import Final

from fleet import naming
from fleet.alarm_page import EVIDENCE_MINUTES, AlarmPage, EvidenceKind
from fleet.alarms.metric_refs import AlarmSpecError, MathRef, MetricRef
from fleet.string_enum import StringEnum

DESCRIPTION_LIMIT: Final = 1024
# How long a composite waits for its suppressor to fire, and how long it stays quiet after that one has rested.
SUPPRESSOR_WAIT_SECONDS: Final = 60
SUPPRESSOR_EXTENSION_SECONDS: Final = 240
# What watches is silent until it is deployed too, and ran once; the warm-up ends early when its data comes.
WARM_UP_MINUTES: Final = 30


class Severity(StringEnum):
    """Who hears of it: a person is woken, or a ticket waits for the morning."""

    PAGE = "page"
    TICKET = "ticket"


class Area(StringEnum):
    """What it is about: alarms of one area stand together, on dashboards as in the files here."""

    HEALTH = "health"
    UTILIZATION = "utilization"
    COMPILATION = "compilation"
    CAPACITY = "capacity"
    ENDPOINT = "endpoint"
    PLATFORM = "platform"


class TreatMissingData(StringEnum):
    """What a minute without data means, in CloudWatch's words. No spec has a default for it."""

    BREACHING = "breaching"
    NOT_BREACHING = "notBreaching"
    KEEP = "ignore"
    """The state stays as it was: what is not known opens nothing and closes nothing."""


class Comparison(StringEnum):
    """How a datapoint is held against the threshold, in CloudWatch's words."""

    BELOW = "LessThanThreshold"
    ABOVE = "GreaterThanThreshold"
    AT_LEAST = "GreaterThanOrEqualToThreshold"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Alarm:
    environment: str
    subject: str
    """A fleet, or ``naming.PLATFORM``."""
    area: Area
    key: str
    title: str
    """What is wrong, in two or three words and the field's spelling: ``EFA degraded``."""
    severity: Severity
    summary: str
    """One sentence: what is wrong, to somebody who has just been woken."""
    action: str
    """One sentence: what that person should do first."""
    evidence: EvidenceKind = EvidenceKind.NODES
    """What a page brings besides: which events, of the last ``evidence_minutes``."""
    evidence_minutes: int = EVIDENCE_MINUTES
    first_command: str | None = None
    """What that person types first, where it is not a session on the worst node; the pager knows ``{region}``."""
    notifies: bool = True
    """False for a part of a composite alarm: it has a state, and tells nobody."""
    bypass_pager: bool = False
    """True for an alarm of which the pager itself may be unable to tell: it speaks to one more topic, without it."""

    @property
    def name(self) -> str:
        """The alarm as it reads in a page."""
        return naming.alarm_name(self.environment, self.subject, self.key)

    @property
    def runbook(self) -> str:
        """Its file among the runbooks."""
        return f"{self.key}.md"

    def page(self, runbooks_url: str) -> AlarmPage:
        """What the pager says of it."""
        return AlarmPage(
            title=self.title,
            summary=self.summary,
            action=self.action,
            description=self.description(runbooks_url),
            runbook=self.runbook,
            evidence=self.evidence,
            evidence_minutes=self.evidence_minutes,
            first_command=self.first_command,
        )

    def description(self, runbooks_url: str) -> str:
        """What the page says: summary, action and runbook, within CloudWatch's 1024 characters.

        Raises:
            AlarmSpecError: the text is longer than CloudWatch keeps.
        """
        parts = [self.summary, self.action]
        if self.notifies:
            parts.append(f"Runbook: {runbooks_url}/{self.runbook}")
        text = " ".join(parts)
        if len(text) > DESCRIPTION_LIMIT:
            raise AlarmSpecError(f"{self.name}: the description has {len(text)} characters, limit {DESCRIPTION_LIMIT}")
        return text


@dataclass(frozen=True, slots=True, kw_only=True)
class AlarmSpec(_Alarm):
    """One metric alarm. ``datapoints`` is (M, N): M of the last N minutes must breach."""

    metric: MetricRef | MathRef
    comparison: Comparison
    threshold: float
    datapoints: tuple[int, int]
    silence: TreatMissingData
    drawn_on: str | None = None
    """The metric, of those that it reads, whose graph draws the threshold; None: no graph does."""

    def __post_init__(self) -> None:
        breaching, evaluated = self.datapoints
        if not 1 <= breaching <= evaluated:
            raise AlarmSpecError(f"{self.name}: {breaching} of {evaluated} datapoints can never breach")
        if self.drawn_on not in (None, *self.metric.names):
            raise AlarmSpecError(f"{self.name}: it does not read {self.drawn_on}, on whose graph it would be drawn")

    @property
    def warm_up_minutes(self) -> int | None:
        """How long it is not evaluated after it was made: an alarm that fires on silence would fire at once."""
        return WARM_UP_MINUTES if self.silence is TreatMissingData.BREACHING else None


def drawn_on(metric: str, specs: Iterable["AlarmSpec | CompositeSpec"]) -> list[AlarmSpec]:
    """Those of the alarms whose threshold the graph of ``metric`` draws."""
    return [spec for spec in specs if isinstance(spec, AlarmSpec) and spec.drawn_on == metric]


@dataclass(frozen=True, slots=True)
class InAlarm:
    """True while the alarm is in state ALARM."""

    alarm: AlarmSpec

    def render(self) -> str:
        """CloudWatch's rule text."""
        return f'ALARM("{self.alarm.name}")'


@dataclass(frozen=True, slots=True)
class Not:
    """True while the other is not."""

    rule: "Rule"

    def render(self) -> str:
        """CloudWatch's rule text."""
        return f"NOT {self.rule.render()}"


@dataclass(frozen=True, slots=True)
class AllOf:
    """True while all are."""

    rules: tuple["Rule", ...]

    def render(self) -> str:
        """CloudWatch's rule text."""
        return "(" + " AND ".join(rule.render() for rule in self.rules) + ")"


Rule = InAlarm | Not | AllOf


def alarms_in(rule: Rule) -> tuple[AlarmSpec, ...]:
    """The alarms that a rule reads, in order."""
    if isinstance(rule, InAlarm):
        return (rule.alarm,)
    if isinstance(rule, Not):
        return alarms_in(rule.rule)
    return tuple(alarm for part in rule.rules for alarm in alarms_in(part))


@dataclass(frozen=True, slots=True, kw_only=True)
class CompositeSpec(_Alarm):
    """An alarm over the states of other alarms."""

    rule: Rule
    suppressed_by: AlarmSpec | None = None
    """While that one is in ALARM, and for a while after it, nobody is told."""

    @classmethod
    def in_place_of(cls, alarm: AlarmSpec, rule: Rule) -> "CompositeSpec":
        """One that says what ``alarm`` says, when ``rule`` is true."""
        return cls(**{field.name: getattr(alarm, field.name) for field in fields(_Alarm)}, rule=rule)


@dataclass(frozen=True, slots=True, kw_only=True)
class ContributorSpec(_Alarm):
    """One PromQL alarm: every series that ``expression`` returns is breaching, and a contributor of its own.

    Source: Amazon CloudWatch User Guide, "PromQL alarms"; PromQLCriteria of PutMetricAlarm in the API reference. In a
    Prometheus rule, ``pending_seconds`` is ``for`` and ``recovery_seconds`` is ``keep_firing_for``.
    """

    @classmethod
    def in_place_of(
        cls,
        classic: "AlarmSpec | CompositeSpec",
        *,
        expression: str,
        contributor: tuple[str, ...],
        pending_minutes: int,
        recovery_minutes: int,
        reason: str,
    ) -> "ContributorSpec":
        """One that says what ``classic`` says, of each contributor."""
        return cls(
            **{field.name: getattr(classic, field.name) for field in fields(_Alarm)},
            expression=expression,
            contributor=contributor,
            pending_seconds=60 * pending_minutes,
            recovery_seconds=60 * recovery_minutes,
            reason=reason,
        )

    expression: str
    """An instant query; what must be true for as long as minutes are late is asked over a range."""
    contributor: tuple[str, ...]
    """The labels of its series: what one page is about."""
    pending_seconds: int
    """How long a series must have been returned without a break."""
    recovery_seconds: int
    """How long it must have been absent before the incident is over."""
    reason: str
    """Why these figures."""

    def page(self, runbooks_url: str) -> AlarmPage:
        """What the pager says of it: also what it follows."""
        # Not super(): a dataclass with slots is another class than the one that the compiler saw.
        return replace(_Alarm.page(self, runbooks_url), contributor=self.contributor)
