"""The alarms of a region through time: states, and the actions that their transitions lead to.

Sources: Amazon CloudWatch User Guide, "Using Amazon CloudWatch alarms" (actions on transitions only), "Composite
alarms", "Suppressing composite alarm actions" and "How alarm mute rules work"; PutMetricAlarm and PutCompositeAlarm of
the API reference (an update keeps the state; a new alarm is in INSUFFICIENT_DATA and is then evaluated).
"""

from collections.abc import Callable
from dataclasses import dataclass

from local.alarm_evaluation.definitions import CompositeAlarm, Definition, MetricAlarm
from local.alarm_evaluation.metric_alarms import fills_window, judge, window
from local.alarm_evaluation.states import Action, Event, State, Transition
from local.alarm_evaluation.statistics import SeriesSource
from local.alarm_evaluation.suppression import HeldBy, MuteRule, SuppressionHold

_MINUTE = 60


@dataclass(frozen=True, slots=True)
class Status:
    """Where an alarm stands. ``held_by`` and ``muted`` say what keeps actions back, as of the last advance.

    ``warming_up``: it is new, and not evaluated yet.
    """

    state: State
    held_by: HeldBy | None
    muted: bool
    warming_up: bool


@dataclass(slots=True)
class _Alarm:
    """One alarm. ``order`` numbers the set's transitions up to its last; ``due`` is one whose actions wait."""

    definition: Definition
    state: State = State.INSUFFICIENT_DATA
    last: Transition | None = None
    order: int = 0
    due: Transition | None = None
    hold: SuppressionHold | None = None
    muted: bool = False
    warm_up_began: float | None = None
    warming_up: bool = False


class AlarmSet:
    """Metric and composite alarms over one source. Advance it once a minute; times never go back."""

    def __init__(self, source: SeriesSource, elsewhere: Callable[[str], State | None] = lambda _: None) -> None:
        """``elsewhere`` knows the states of alarms that are not of this set, and that its composites read."""
        self._source = source
        self._elsewhere = elsewhere
        self._alarms: dict[str, _Alarm] = {}
        self._mute_rules: dict[str, MuteRule] = {}
        self._transitions = 0

    def put(self, definition: Definition, now: float) -> None:
        """Create an alarm, or set it anew: then it keeps its state, and a warm-up that is over does not return."""
        alarm = self._alarms.setdefault(definition.name, _Alarm(definition))
        alarm.definition = definition
        if isinstance(definition, MetricAlarm):
            if definition.warm_up is not None and alarm.warm_up_began is None:
                alarm.warm_up_began, alarm.warming_up = now, True
        elif definition.suppression is None:
            alarm.hold = None
        elif alarm.hold is None or alarm.hold.settings != definition.suppression:
            alarm.hold = SuppressionHold(definition.suppression)

    def remove(self, name: str) -> None:
        """Forget an alarm."""
        self._alarms.pop(name, None)

    def mute(self, rule: MuteRule) -> None:
        """Add a mute rule, or replace the one of its name."""
        self._mute_rules[rule.name] = rule

    def unmute(self, name: str) -> None:
        """Take a mute rule away; what it held back is due at the next advance."""
        self._mute_rules.pop(name, None)

    def is_muted(self, name: str, now: float) -> bool:
        """Whether a mute rule keeps the actions of the alarm back at ``now``, be it of this set or not."""
        return any(rule.mutes(name, now) for rule in self._mute_rules.values())

    def status(self, name: str) -> Status | None:
        """Where an alarm stands."""
        alarm = self._alarms.get(name)
        if alarm is None:
            return None
        return Status(alarm.state, alarm.hold.held_by if alarm.hold else None, alarm.muted, alarm.warming_up)

    def states(self) -> dict[str, State]:
        """Every alarm's state, in the order of creation."""
        return {name: alarm.state for name, alarm in self._alarms.items()}

    def advance(self, now: float) -> list[Event]:
        """Evaluate every alarm at ``now``: all transitions first, children before composites, then the actions due.

        Raises:
            MathError: a metric alarm's expression cannot be evaluated.
        """
        changes: list[Transition] = []
        for alarm in self._alarms.values():
            if isinstance(alarm.definition, MetricAlarm):
                changes += self._evaluated(alarm, alarm.definition, now)
        changes += self._settled(now)
        return [*changes, *self._actions(changes, now)]

    def set_state(self, name: str, state: State, reason: str, now: float) -> list[Event]:
        """SetAlarmState: until the next evaluation, with everything that follows from it."""
        changes = self._moved(self._alarms[name], state, reason, now)
        changes += self._settled(now, but=name)
        return [*changes, *self._actions(changes, now)]

    def _evaluated(self, alarm: _Alarm, definition: MetricAlarm, now: float) -> list[Transition]:
        seen = window(definition, self._source, now)
        if alarm.warming_up and definition.warm_up is not None and alarm.warm_up_began is not None:
            over = now >= alarm.warm_up_began + definition.warm_up.minutes * _MINUTE
            alarm.warming_up = not (over or (not definition.warm_up.whole and fills_window(definition, seen)))
            if alarm.warming_up:
                return []
        verdict = judge(definition, self._source, seen, alarm.state)
        return self._moved(alarm, verdict.state, verdict.reason, now)

    def _settled(self, now: float, but: str | None = None) -> list[Transition]:
        """Bring every composite to what its rule says, children first; one in a cycle is not evaluated."""
        changes: list[Transition] = []
        for name in self._children_first():
            alarm = self._alarms[name]
            if name == but or not isinstance(alarm.definition, CompositeAlarm):
                continue
            state = State.ALARM if alarm.definition.rule.holds(self._state_of) else State.OK
            triggers = self._triggers(alarm, alarm.definition)
            changes += self._moved(alarm, state, _reason(triggers), now, triggers)
        return changes

    def _children_first(self) -> list[str]:
        composites = {
            name: alarm.definition
            for name, alarm in self._alarms.items()
            if isinstance(alarm.definition, CompositeAlarm)
        }
        ordered: list[str] = []
        while ready := [
            name
            for name, definition in composites.items()
            if name not in ordered and not any(c in composites and c not in ordered for c in definition.rule.alarms)
        ]:
            ordered += ready
        return ordered

    def _state_of(self, name: str) -> State | None:
        alarm = self._alarms.get(name)
        return alarm.state if alarm else self._elsewhere(name)

    def _triggers(self, parent: _Alarm, definition: CompositeAlarm) -> tuple[Transition, ...]:
        children = [self._alarms[name] for name in definition.rule.alarms if name in self._alarms]
        newest_first = sorted(children, key=lambda child: child.order, reverse=True)
        return tuple(child.last for child in newest_first if child.last and child.order > parent.order)

    def _moved(
        self, alarm: _Alarm, state: State, reason: str, now: float, triggers: tuple[Transition, ...] = ()
    ) -> list[Transition]:
        """The one place where a state changes."""
        if state is alarm.state:
            return []
        self._transitions += 1
        change = Transition(alarm.definition.name, alarm.state, state, now, reason, triggers)
        alarm.state, alarm.last, alarm.order = state, change, self._transitions
        alarm.due = change if alarm.definition.actions_enabled else None
        return [change]

    def _actions(self, changes: list[Transition], now: float) -> list[Action]:
        """The actions that nothing holds back, in the order of their transitions; each transition acts once at most.

        What was held back when an alarm changed several times is told for its last state, the present one.
        """
        changed = {change.alarm for change in changes}
        ready: list[_Alarm] = []
        for name, alarm in self._alarms.items():
            alarm.muted = self.is_muted(name, now)
            held = alarm.hold is not None and alarm.hold.follow(
                self._state_of(alarm.hold.settings.alarm), changed=name in changed, now=now
            )
            if alarm.due is not None and not held and not alarm.muted:
                ready.append(alarm)
        ready.sort(key=lambda alarm: alarm.order)
        actions = [Action(alarm.due.alarm, now, alarm.due) for alarm in ready if alarm.due is not None]
        for alarm in ready:
            alarm.due = None
        return actions


def _reason(triggers: tuple[Transition, ...]) -> str:
    if not triggers:
        return "The alarm rule was evaluated and no alarm in it has changed"
    return f"{triggers[0].alarm} transitioned to {triggers[0].state}"
