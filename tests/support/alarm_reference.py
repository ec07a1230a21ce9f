"""CloudWatch's alarm rules once more, by brute force and from the text of its documentation alone.

Nothing here uses ``local.alarm_evaluation``. Where that keeps a state machine, this looks at the whole history anew at
every minute. Sources: Amazon CloudWatch User Guide, "Configuring how CloudWatch alarms treat missing data", "Using
metric math", "Suppressing composite alarm actions", "How alarm mute rules work"; CloudWatch API reference,
PutMetricAlarm, PutCompositeAlarm.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

Points = Sequence[float | None]
"""A value for each minute from minute 0 on, ``None`` where there is none."""

BREACHES: Mapping[str, Callable[[float, float], bool]] = {
    "GreaterThanThreshold": lambda value, threshold: value > threshold,
    "GreaterThanOrEqualToThreshold": lambda value, threshold: value >= threshold,
    "LessThanThreshold": lambda value, threshold: value < threshold,
    "LessThanOrEqualToThreshold": lambda value, threshold: value <= threshold,
}


@dataclass(frozen=True)
class ReferenceAlarm:
    """A metric alarm over ``points(range)``: what its query gives when minutes ``range`` are retrieved."""

    name: str
    points: Callable[[range], Points]
    comparison: str
    threshold: float
    needed: int
    periods: int
    treatment: str
    warm_up: int | None = None
    whole_warm_up: bool = False


@dataclass(frozen=True)
class ReferenceComposite:
    """A composite: ``holds`` decides over the states by name; suppressor, wait and extension in minutes."""

    name: str
    holds: Callable[[Mapping[str, str]], bool]
    suppressor: str | None = None
    wait: int = 0
    extension: int = 0


@dataclass
class ReferenceHistory:
    """The states of all alarms at every minute, and the actions as (minute, alarm, state)."""

    states: dict[str, list[str]] = field(default_factory=dict)
    actions: list[tuple[int, str, str]] = field(default_factory=list)


def state_of(points: Points, alarm: ReferenceAlarm, before: str) -> str:
    """The state by the points of the evaluation range, oldest first."""
    marks = ["-" if p is None else "X" if BREACHES[alarm.comparison](p, alarm.threshold) else "0" for p in points]
    real = [mark for mark in marks if mark != "-"]
    if len(real) >= alarm.periods:
        # "…evaluates the alarm state based on the most recent existing data points": the setting is not needed.
        return "ALARM" if real[-alarm.periods :].count("X") >= alarm.needed else "OK"
    if alarm.treatment in ("breaching", "notBreaching"):
        filled = real + ["X" if alarm.treatment == "breaching" else "0"] * (alarm.periods - len(real))
        return "ALARM" if filled.count("X") >= alarm.needed else "OK"
    if real.count("X") >= alarm.needed:
        return "ALARM"
    if "0" in real:
        return "OK"
    if alarm.treatment == "ignore":
        return before
    # "…the oldest available breaching datapoint … at least as old as the value of Datapoints to Alarm, and all other
    # more recent data points are breaching or missing": M periods ago or longer.
    old_enough = marks[: len(marks) - alarm.needed + 1]
    return "ALARM" if "X" in old_enough else "INSUFFICIENT_DATA"


def percentile(samples: Sequence[float], percent: float) -> float:
    """The smallest sample that so many percent of all samples do not exceed, by counting each of them."""
    ordered = sorted(samples)
    return next(s for s in ordered if 100 * sum(o <= s for o in ordered) >= percent * len(ordered) - 1e-6)


def replay(
    alarms: Sequence[ReferenceAlarm],
    composites: Sequence[ReferenceComposite],
    muted: Callable[[str, int], bool],
    minutes: int,
) -> ReferenceHistory:
    """Everything that happens to alarms which are created in minute 0 and evaluated at minutes 1 to ``minutes``.

    ``composites`` come after those that they watch.
    """
    names = [*(alarm.name for alarm in alarms), *(composite.name for composite in composites)]
    history = ReferenceHistory({name: ["INSUFFICIENT_DATA"] for name in names})
    for now in range(1, minutes + 1):
        for alarm in alarms:
            states = history.states[alarm.name]
            states.append(states[-1] if _is_warming(alarm, now) else state_of(_range(alarm, now), alarm, states[-1]))
        for composite in composites:
            current = {name: states[now] for name, states in history.states.items() if len(states) > now}
            history.states[composite.name].append("ALARM" if composite.holds(current) else "OK")
    held_by = {composite.name: composite for composite in composites}
    for now in range(1, minutes + 1):
        for name in history.states:
            if _acts(history, name, held_by.get(name), muted, now):
                history.actions.append((now, name, history.states[name][now]))
    return history


def _range(alarm: ReferenceAlarm, now: int) -> Points:
    """The guide's examples retrieve five points for three periods."""
    return alarm.points(range(now - alarm.periods - 2, now))


def _is_warming(alarm: ReferenceAlarm, now: int) -> bool:
    if alarm.warm_up is None or now >= alarm.warm_up:
        return False
    filled = any(None not in _range(alarm, earlier)[-alarm.periods :] for earlier in range(1, now + 1))
    return alarm.whole_warm_up or not filled


def _acts(
    history: ReferenceHistory,
    name: str,
    composite: ReferenceComposite | None,
    muted: Callable[[str, int], bool],
    now: int,
) -> bool:
    """Whether nothing blocks at ``now``, and something has at every minute since the last transition."""
    changed = _last_change(history.states[name], now)
    if changed is None:
        return False
    blocked = [
        muted(name, minute) or (composite is not None and _is_suppressed(history, composite, minute))
        for minute in range(changed, now + 1)
    ]
    return not blocked[-1] and all(blocked[:-1])


def _is_suppressed(history: ReferenceHistory, composite: ReferenceComposite, now: int) -> bool:
    if composite.suppressor is None:
        return False
    suppressor = history.states[composite.suppressor]
    if suppressor[now] == "ALARM":
        return True
    left = [minute for minute in range(1, now + 1) if suppressor[minute - 1] == "ALARM" != suppressor[minute]]
    changed = _last_change(history.states[composite.name], now)
    # A change after the suppressor went starts a WaitPeriod and discards the ExtensionPeriod.
    if changed is not None and (not left or changed >= left[-1]):
        return now < changed + composite.wait
    return bool(left) and now < left[-1] + composite.extension


def _last_change(states: Sequence[str], now: int) -> int | None:
    changes = [minute for minute in range(1, now + 1) if states[minute] != states[minute - 1]]
    return changes[-1] if changes else None


def ceiling_rank(share: float, count: int) -> int:
    """How many of ``count`` reach a share, as AT_LEAST's percentage asks."""
    return math.ceil(share * count / 100 - 1e-9)
