"""A threshold's trade-off: the same days under an alarm with one threshold after the other.

Nodes live once; every value has a set of alarms of its own that looks at what they published. An endpoint's alarms are
left as they are.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from fleet.alarms import AlarmSettings, AlarmSpec, Severity, Spec, fleet_alarms
from fleet.diagnostics import did_you_mean
from fleet.fleet_spec import MarketKind
from local.replay.run import OURS, AlarmSet, Replay
from local.replay.score import Score, score

_ASKED: Final = re.compile(r"(?P<alarm>\w+)\.threshold=(?P<values>[\d.,-]+)")
_STEPS: Final = 10
_MOST: Final = 50


class SweepError(ValueError):
    """What was asked for cannot be swept; one line."""


@dataclass(frozen=True, slots=True)
class Sweep:
    """An alarm, and the thresholds that it is given one after the other."""

    alarm: str
    values: tuple[float, ...]

    def sets(self) -> dict[str, AlarmSet]:
        """Our alarms as they are, and with each of the values."""
        return {OURS: fleet_alarms, **{self._name(value): _with(self.alarm, value) for value in self.values}}

    def scores(self, replays: Sequence[Replay]) -> dict[float, Score]:
        """The pages under each value."""
        return {
            value: score([self._under(value, each) for each in replays], OURS).of(Severity.PAGE)
            for value in self.values
        }

    def _under(self, value: float, replay: Replay) -> Replay:
        told = replay.told[self._name(value)]
        swept = {spec.key for spec in _alarms()}
        kept = tuple(each for each in replay.told[OURS] if each.alarm not in swept)
        return replace(replay, told={OURS: (*told, *kept)})

    def _name(self, value: float) -> str:
        return f"{self.alarm}.threshold={value:g}"


def asked(text: str) -> Sweep:
    """The sweep that ``ALARM.threshold=1..50`` or ``ALARM.threshold=1,5,20`` asks for; a range is ten steps.

    Raises:
        SweepError: There is no such alarm, or these are no values.
    """
    found = _ASKED.fullmatch(text)
    if found is None:
        raise SweepError(f"--sweep {text}: write ALARM.threshold=FROM..TO, or ALARM.threshold=A,B,C")
    known = {spec.key: spec for spec in _alarms() if isinstance(spec, AlarmSpec)}
    alarm = found["alarm"]
    if alarm not in known:
        fix = did_you_mean(alarm, known, f"those with a threshold are {', '.join(sorted(known))}")
        raise SweepError(f"--sweep {text}: no alarm {alarm} has a threshold; {fix}")
    try:
        values = _values(found["values"])
    except ValueError as error:
        raise SweepError(f"--sweep {text}: {found['values']} is no range FROM..TO and no list A,B,C") from error
    if len(values) > _MOST:
        raise SweepError(f"--sweep {text}: {len(values)} values are too many; {_MOST} will do")
    return Sweep(alarm, values)


def _values(text: str) -> tuple[float, ...]:
    first, dots, last = text.partition("..")
    if not dots:
        return tuple(sorted({float(each) for each in text.split(",")}))
    low, high = float(first), float(last)
    if not low < high:
        raise ValueError(text)
    return tuple(round(low + (high - low) * step / (_STEPS - 1), 6) for step in range(_STEPS))


def _with(alarm: str, threshold: float) -> Callable[[AlarmSettings], Sequence[Spec]]:
    def make(settings: AlarmSettings) -> Sequence[Spec]:
        return [_moved(spec, alarm, threshold) for spec in fleet_alarms(settings)]

    return make


def _moved(spec: Spec, alarm: str, threshold: float) -> Spec:
    return replace(spec, threshold=threshold) if isinstance(spec, AlarmSpec) and spec.key == alarm else spec


def _alarms() -> Iterable[Spec]:
    settings = AlarmSettings(environment="any", fleet="any", purpose="training", market=MarketKind.RESERVATION, nodes=2)
    return fleet_alarms(settings)


def rows(scores: Mapping[float, Score]) -> list[dict[str, float | int | None]]:
    """One for each value, for tables and files."""
    return [
        {
            "threshold": value,
            "pages": len(result.judged),
            "false_pages": sum(not each.is_true for each in result.judged),
            "recall": result.recall,
            "precision": result.precision,
            "median_minutes": result.minutes(),
            "lost_usd": result.lost_usd,
        }
        for value, result in scores.items()
    ]
