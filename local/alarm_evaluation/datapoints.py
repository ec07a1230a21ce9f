"""CloudWatch's rule for the state of a metric alarm: M of N datapoints, and what missing ones count as.

Source: Amazon CloudWatch User Guide, "Configuring how CloudWatch alarms treat missing data" (the two example tables)
and "Avoiding premature transitions to alarm state"; comparison operators as in the PutMetricAlarm reference. One case
the present tables no longer show, a breaching datapoint too young to alarm and nothing else: it is decided as by the
row ``- - - - X`` of the guide's earlier edition.
"""

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from local.alarm_evaluation.states import State, Verdict

# The guide's examples retrieve 5 datapoints for 3 evaluation periods and say that the number varies with the period;
# two more than asked for is the one figure it documents.
EXTRA_PERIODS: Final = 2


class TreatMissing(StrEnum):
    """What a period without a datapoint counts as."""

    MISSING = "missing"
    IGNORE = "ignore"
    BREACHING = "breaching"
    NOT_BREACHING = "notBreaching"


COMPARISONS: Final[Mapping[str, tuple[Callable[[float, float], bool], str]]] = {
    "GreaterThanThreshold": (operator.gt, "greater than"),
    "GreaterThanOrEqualToThreshold": (operator.ge, "greater than or equal to"),
    "LessThanThreshold": (operator.lt, "less than"),
    "LessThanOrEqualToThreshold": (operator.le, "less than or equal to"),
}


def evaluation_range(evaluation_periods: int) -> int:
    """How many periods to look back, so that late or missing datapoints can be replaced by older real ones."""
    return evaluation_periods + EXTRA_PERIODS


def evaluate(  # noqa: PLR0913  the arguments are the alarm's own settings, all named
    datapoints: Sequence[float | None],
    *,
    comparison: str,
    threshold: float,
    evaluation_periods: int,
    datapoints_to_alarm: int | None = None,
    treat_missing: str = TreatMissing.MISSING,
    previous_state: State = State.INSUFFICIENT_DATA,
) -> Verdict:
    """The state after one evaluation.

    ``datapoints`` run from the oldest to the newest over the evaluation range, ``None`` where none was reported.
    ``datapoints_to_alarm`` is M of the M-out-of-N rule; ``None`` means all ``evaluation_periods``.
    """
    breaches, words = COMPARISONS[comparison]
    needed = datapoints_to_alarm or evaluation_periods
    breaches_threshold = [None if value is None else breaches(value, threshold) for value in datapoints]
    found = _Found.of(breaches_threshold, evaluation_periods, needed)
    treatment = TreatMissing(treat_missing)
    if found.missing:
        state = _with_missing(found, needed, treatment, previous_state)
    else:
        state = State.ALARM if found.breaching >= needed else State.OK
    values = [value for value in datapoints if value is not None][-evaluation_periods:]
    return Verdict(state, _reason(found, values, f"{words} the threshold ({threshold})", treatment))


@dataclass(frozen=True, slots=True)
class _Found:
    """What the evaluation range holds, counted over the newest real datapoints.

    ``missing`` is how many datapoints the rule for missing data must supply. ``premature``: nothing but breaching
    datapoints, the oldest of them at least as old as the alarm's M, in periods.
    """

    real: int
    breaching: int
    missing: int
    premature: bool

    @classmethod
    def of(cls, breaches: Sequence[bool | None], evaluation_periods: int, needed: int) -> "_Found":
        ages = [len(breaches) - index for index, breach in enumerate(breaches) if breach is not None]
        real = [breach for breach in breaches if breach is not None]
        return cls(
            real=len(real),
            breaching=sum(real[-evaluation_periods:]),
            missing=max(evaluation_periods - len(real), 0),
            premature=bool(real) and all(real) and ages[0] >= needed,
        )


def _with_missing(found: _Found, needed: int, treatment: TreatMissing, previous: State) -> State:
    filled = found.breaching + (found.missing if treatment is TreatMissing.BREACHING else 0)
    if filled >= needed:
        return State.ALARM
    # A real datapoint that does not breach makes the alarm OK, whatever is missing beside it.
    if treatment in _TREATED_AS or found.breaching < found.real:
        return State.OK
    if treatment is TreatMissing.IGNORE:
        return previous
    return State.ALARM if found.premature else State.INSUFFICIENT_DATA


_TREATED_AS: Final = {TreatMissing.BREACHING: "Breaching", TreatMissing.NOT_BREACHING: "NonBreaching"}


def _reason(found: _Found, values: Sequence[float], rule: str, treatment: TreatMissing) -> str:
    """CloudWatch's sentence, less the times of the datapoints, which this module does not know."""
    if not values and treatment not in _TREATED_AS:
        return f"Insufficient Data: {found.missing} datapoints were unknown."
    if not values:
        return (
            f"Threshold Crossed: no datapoints were received for {found.missing} periods and {found.missing} missing "
            f"datapoints were treated as [{_TREATED_AS[treatment]}]."
        )
    shown = ", ".join(f"{value:g}" for value in reversed(values[-5:]))
    filled = f", {found.missing} missing treated as [{_TREATED_AS[treatment]}]" if _counts(found, treatment) else ""
    were = "was" if found.breaching == 1 else "were"
    points = f"{found.breaching} out of the last {len(values)} datapoints [{shown}]"
    return f"Threshold Crossed: {points} {were} {rule}{filled}."


def _counts(found: _Found, treatment: TreatMissing) -> bool:
    return found.missing > 0 and treatment in _TREATED_AS
