"""CloudWatch's rules for alarms, for the alarm backtest and the embedded AWS: states, transitions, actions.

``AlarmSet`` is a region's alarms, advanced to one time after the other over a ``SeriesSource``. Everything is a value
or a state machine; nothing here reads a clock.

Sources: Amazon CloudWatch User Guide and API reference, by the pages that each module names.
"""

from local.alarm_evaluation.alarm_set import AlarmSet, Status
from local.alarm_evaluation.datapoints import COMPARISONS, TreatMissing, evaluate, evaluation_range
from local.alarm_evaluation.definitions import (
    CompositeAlarm,
    Definition,
    DefinitionError,
    MetricAlarm,
    Suppression,
    WarmUp,
)
from local.alarm_evaluation.states import Action, Event, State, Transition, Verdict
from local.alarm_evaluation.statistics import Series, SeriesKey, SeriesSource

__all__ = [
    "COMPARISONS",
    "Action",
    "AlarmSet",
    "CompositeAlarm",
    "Definition",
    "DefinitionError",
    "Event",
    "MetricAlarm",
    "Series",
    "SeriesKey",
    "SeriesSource",
    "State",
    "Status",
    "Suppression",
    "Transition",
    "TreatMissing",
    "Verdict",
    "WarmUp",
    "evaluate",
    "evaluation_range",
]
