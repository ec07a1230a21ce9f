"""The three states of an alarm, a change between them, and the actions that a change leads to."""

from dataclasses import dataclass
from enum import StrEnum


class State(StrEnum):
    """An alarm's state, spelt as CloudWatch does."""

    OK = "OK"
    ALARM = "ALARM"
    INSUFFICIENT_DATA = "INSUFFICIENT_DATA"


@dataclass(frozen=True, slots=True)
class Verdict:
    """The state an alarm is in after an evaluation, and why, in CloudWatch's words."""

    state: State
    reason: str


@dataclass(frozen=True, slots=True)
class Transition:
    """An alarm changed its state; ``at`` in unix seconds.

    ``triggers`` are, for a composite, the last changes of the alarms in its rule since its own last, newest first.
    """

    alarm: str
    previous: State
    state: State
    at: float
    reason: str
    triggers: tuple["Transition", ...] = ()


@dataclass(frozen=True, slots=True)
class Action:
    """The actions for an alarm's present state are due at ``at``: at once, or when nothing holds them back any more.

    ``change`` is the transition that they tell of: the alarm's last.
    """

    alarm: str
    at: float
    change: Transition


Event = Transition | Action
