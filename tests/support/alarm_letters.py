"""Alarms over metrics that are written as letters, one a minute: A breaches, O does not, - is missing."""

from typing import Any

from local.alarm_evaluation import Action, AlarmSet, Event, MetricAlarm, Series, SeriesKey, State, TreatMissing
from local.alarm_evaluation.metric_math.queries import MetricStat, Query

MINUTE = 60


class Letters:
    """A source: each metric's letters by its name, the first for the minute that begins at 0."""

    def __init__(self, **letters: str) -> None:
        self.letters = letters

    def values(
        self, key: SeriesKey, statistic: str, start: int, end: int, period: int, unit: str | None = None
    ) -> Series:
        """1 for A and 0 for O, of one-minute periods."""
        assert period == MINUTE
        letters = self.letters[key.name]
        found = {
            time: letters[time // MINUTE] for time in range(max(start, 0), min(end, MINUTE * len(letters)), MINUTE)
        }
        return {time: float(letter == "A") for time, letter in found.items() if letter != "-"}


def letter_alarm(name: str, **settings: Any) -> MetricAlarm:
    """An alarm on the metric of its own name, 1 of 1 unless ``settings`` say otherwise."""
    key = SeriesKey("Letters", name, frozenset())
    return MetricAlarm(
        **{
            "name": name,
            "queries": (Query("m1", MetricStat(key, "Maximum")),),
            "comparison": "GreaterThanOrEqualToThreshold",
            "threshold": 1,
            "evaluation_periods": 1,
            "datapoints_to_alarm": 1,
            "treat_missing": TreatMissing.MISSING,
            **settings,
        }
    )


def run(alarms: AlarmSet, minutes: int, first: int = 1) -> list[Event]:
    """What happens in the minutes from ``first`` on."""
    return [event for minute in range(first, minutes + 1) for event in alarms.advance(minute * MINUTE)]


def shown(events: list[Event], kind: type[Event]) -> list[tuple[str, int, State]]:
    """The events of one kind as alarm, minute and state."""
    found = []
    for event in events:
        if isinstance(event, kind):
            change = event.change if isinstance(event, Action) else event
            found.append((change.alarm, int(event.at / MINUTE), change.state))
    return found
