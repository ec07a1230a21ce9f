"""What an alarm is set to, as PutMetricAlarm and PutCompositeAlarm of the CloudWatch API reference name it."""

from dataclasses import dataclass
from typing import Final

from local.alarm_evaluation.composite_rules import Rule
from local.alarm_evaluation.datapoints import COMPARISONS, TreatMissing
from local.alarm_evaluation.metric_math.queries import Query

MAX_WARM_UP_MINUTES: Final = 2880
_SUPPRESSION_SECONDS: Final = 60


class DefinitionError(ValueError):
    """An alarm that CloudWatch would refuse; the message names the alarm and the setting."""


@dataclass(frozen=True, slots=True)
class WarmUp:
    """How long a new alarm is not evaluated: it keeps its state and does nothing.

    It ends early, once there is a datapoint for every evaluation period, unless ``whole``.
    """

    minutes: int
    whole: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricAlarm:
    """An alarm over the one query that returns data.

    ``datapoints_to_alarm`` of the last ``evaluation_periods`` datapoints must breach. ``evaluate_low_samples`` is
    EvaluateLowSampleCountPercentile: False keeps the state while a percentile has too few samples to mean something.

    Raises:
        DefinitionError: a setting is out of its limits.
    """

    name: str
    queries: tuple[Query, ...]
    comparison: str
    threshold: float
    evaluation_periods: int
    datapoints_to_alarm: int
    treat_missing: TreatMissing
    warm_up: WarmUp | None = None
    evaluate_low_samples: bool = True
    actions_enabled: bool = True

    def __post_init__(self) -> None:
        if self.comparison not in COMPARISONS:
            raise DefinitionError(f"{self.name}: comparison {self.comparison!r} is not one of {', '.join(COMPARISONS)}")
        if not 1 <= self.datapoints_to_alarm <= self.evaluation_periods:
            raise DefinitionError(f"{self.name}: {self.datapoints_to_alarm} of {self.evaluation_periods} can never be")
        if sum(query.returns for query in self.queries) != 1:
            raise DefinitionError(f"{self.name}: exactly one query must return data")
        if self.warm_up is not None and not 1 <= self.warm_up.minutes <= MAX_WARM_UP_MINUTES:
            raise DefinitionError(f"{self.name}: a warm-up lasts 1 to {MAX_WARM_UP_MINUTES} minutes")

    @property
    def returned(self) -> Query:
        """The query that is held against the threshold."""
        return next(query for query in self.queries if query.returns)


@dataclass(frozen=True, slots=True)
class Suppression:
    """ActionsSuppressor: while ``alarm`` is in ALARM, and for some seconds around that, the composite does nothing."""

    alarm: str
    wait_seconds: int = _SUPPRESSION_SECONDS
    extension_seconds: int = _SUPPRESSION_SECONDS


@dataclass(frozen=True, slots=True, kw_only=True)
class CompositeAlarm:
    """An alarm over the states of others."""

    name: str
    rule: Rule
    suppression: Suppression | None = None
    actions_enabled: bool = True


Definition = MetricAlarm | CompositeAlarm
