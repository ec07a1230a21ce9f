"""What an alarm is, as data: a metric or an expression, a threshold, what silence means, and what a person should do.

The alarms themselves are in ``fleet.alarms``. Nothing here knows how CloudWatch is called: dashboards render a spec to
CDK, and the backtest evaluates the same spec against recorded minutes.
"""

import re
from dataclasses import dataclass
from typing import Final

from fleet import metrics, naming, operations_metrics
from fleet.alarm_page import EVIDENCE_MINUTES, AlarmPage, EvidenceKind
from fleet.string_enum import StringEnum

DESCRIPTION_LIMIT: Final = 1024
# How long a composite waits for its suppressor to fire, and how long it stays quiet after that one has rested.
SUPPRESSOR_WAIT_SECONDS: Final = 60
SUPPRESSOR_EXTENSION_SECONDS: Final = 300
# What watches is silent until it is deployed too, and ran once; the warm-up ends early when its data comes.
WARM_UP_MINUTES: Final = 30
_STATISTIC: Final = re.compile(r"Average|Minimum|Maximum|p\d{1,2}(\.\d+)?")


class AlarmSpecError(ValueError):
    """An alarm that would never fire, or fire at the wrong time; the message names the alarm or the metric."""


class Severity(StringEnum):
    """Who hears of it: a person is woken, or a ticket waits for the morning."""

    PAGE = "page"
    TICKET = "ticket"


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


@dataclass(frozen=True, slots=True)
class MetricRef:
    """One series and one statistic of it, by the minute. There is no unit: a wrong one would blind the alarm.

    Raises:
        AlarmSpecError: the dimensions are not a set that the catalogue publishes, or the statistic cannot be trusted.
    """

    namespace: str
    name: str
    statistic: str
    dimensions: tuple[tuple[str, str], ...]

    def __post_init__(self) -> None:
        if self.namespace == operations_metrics.NAMESPACE:
            self._check_operations()
        if self.namespace == metrics.NAMESPACE:
            self._check_fleet()

    def _check_operations(self) -> None:
        names = tuple(name for name, _ in self.dimensions)
        if self.name not in operations_metrics.CATALOGUE or names != (operations_metrics.ENVIRONMENT,):
            raise AlarmSpecError(f"no function publishes {self.name} with dimensions {names}")

    def _check_fleet(self) -> None:
        spec = metrics.CATALOGUE.get(self.name)
        if spec is None:
            raise AlarmSpecError(f"{self.name} is not in the metric catalogue")
        names = tuple(name for name, _ in self.dimensions)
        if names not in spec.dimension_sets:
            raise AlarmSpecError(f"{self.name} is not published with dimensions {names}, but {spec.dimension_sets}")
        if not _STATISTIC.fullmatch(self.statistic):
            raise AlarmSpecError(
                f"{self.name}: {self.statistic} doubles when a batch is sent twice; use Maximum or pNN"
            )
        if spec.kind is metrics.Kind.STATISTICS and self.statistic.startswith("p"):
            raise AlarmSpecError(f"{self.name} is published as a statistic set, which keeps no {self.statistic}")


@dataclass(frozen=True, slots=True)
class MathRef:
    """A metric math expression over named series; it must come down to one series."""

    expression: str
    queries: tuple[tuple[str, MetricRef], ...]

    def __post_init__(self) -> None:
        for identifier, _ in self.queries:
            if not re.search(rf"\b{identifier}\b", self.expression):
                raise AlarmSpecError(f"{identifier} is not used in {self.expression!r}")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Alarm:
    environment: str
    subject: str
    """A fleet, or ``naming.PLATFORM``."""
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
    past_the_pager: bool = False
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

    def __post_init__(self) -> None:
        breaching, evaluated = self.datapoints
        if not 1 <= breaching <= evaluated:
            raise AlarmSpecError(f"{self.name}: {breaching} of {evaluated} datapoints can never breach")

    @property
    def warm_up_minutes(self) -> int | None:
        """How long it is not evaluated after it was made: an alarm that fires on silence would fire at once."""
        return WARM_UP_MINUTES if self.silence is TreatMissingData.BREACHING else None


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
