"""Replays one scenario: every minute the nodes live, publish what they can, and every set of alarms looks at it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from fleet import load_balancer, metrics, operations_metrics
from fleet.alarms import AlarmSettings, Severity, Spec, Thresholds, endpoint_alarms, fleet_alarms
from local.alarm_evaluation.schedules import Once
from local.alarm_evaluation.suppression import MuteRule
from local.replay import baselines
from local.replay.balancer import answered, names_of
from local.replay.evaluator import Change, Evaluator
from local.replay.life import Life, life
from local.replay.node import ENVIRONMENT, Lines, Printer, ReplayedNode
from local.replay.recording import recorded
from local.replay.scenario import Scenario
from local.replay.store import MINUTE, Store
from local.replay.watch import Heard, apart, changes, heard, watched

OURS: Final = "neuron-fleet"
# The demo's period: enough for every rule of the state machine, and a quarter of the work of the default of 5 s.
PERIOD_SECONDS: Final = 20
_START: Final = 1_790_000_040 // MINUTE * MINUTE
AlarmSet = Callable[[AlarmSettings], Sequence[Spec]]
SETS: Final[Mapping[str, AlarmSet]] = {OURS: fleet_alarms, **baselines.SETS}


@dataclass(frozen=True, slots=True)
class Told:
    """A page or a ticket. ``minute`` is when it was sent and ``resolved`` when it ended, from the scenario's start."""

    fleet: str
    alarm: str
    severity: Severity
    minute: float
    resolved: float | None = None


@dataclass(frozen=True, slots=True)
class Stretch:
    """``states`` of a fleet's nodes, as counts by name, from minute ``at`` on."""

    fleet: str
    at: int
    states: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class Replay:
    """What came of a scenario: by set of alarms what was told, and the states in between."""

    scenario: Scenario
    told: Mapping[str, tuple[Told, ...]]
    timeline: tuple[Stretch, ...]


def replay(scenario: Scenario, sets: Mapping[str, AlarmSet], folder: Path | None = None) -> Replay:
    """Run ``scenario`` against every one of ``sets``; recordings are files of ``folder``."""
    store = Store()
    fleets = {name: _nodes(scenario, name, folder) for name in scenario.fleets}
    evaluators = {name: _evaluator(scenario, _specs(scenario, name, make), store) for name, make in sets.items()}
    acted: dict[str, list[Change]] = {name: [] for name in sets}
    timeline: list[Stretch] = []
    for minute in range(scenario.minutes):
        begin = _START + minute * MINUTE
        is_late = _publish(scenario, fleets, store, minute, timeline)
        if is_late:
            store.forget()
        for name, evaluator in evaluators.items():
            acted[name] += evaluator.advance(begin)
    return Replay(scenario, {name: _told(found) for name, found in acted.items()}, tuple(timeline))


def _specs(scenario: Scenario, alarm_set: str, make: AlarmSet) -> list[Spec]:
    """One set over all fleets; what our own says of endpoints the others have nothing to set against."""
    specs: list[Spec] = []
    for name, fleet in scenario.fleets.items():
        settings = _settings(scenario, name)
        specs += make(settings)
        if alarm_set == OURS and fleet.endpoint:
            specs += endpoint_alarms(settings, names_of(name))
    return specs


def _evaluator(scenario: Scenario, specs: Sequence[Spec], store: Store) -> Evaluator:
    """Mute rules are CloudWatch's: whoever has alarms has them too."""
    rules = [
        MuteRule(
            name=f"window-{number}",
            schedule=Once(_START + window.at * MINUTE),
            seconds=(window.until - window.at) * MINUTE,
            alarms=frozenset(spec.name for spec in specs if spec.subject in (window.fleets or scenario.fleets)),
        )
        for number, window in enumerate(scenario.maintenance)
    ]
    return Evaluator(specs, store, _START, rules)


def _nodes(scenario: Scenario, name: str, folder: Path | None) -> list[ReplayedNode]:
    fleet, printer = scenario.fleets[name], Printer(PERIOD_SECONDS)
    lines: Lines | None = None
    if fleet.recording is not None:
        lines = recorded((folder or Path()) / fleet.recording, _START, PERIOD_SECONDS)
    return [
        ReplayedNode(name, life(scenario, name, index, _START), _START, printer, PERIOD_SECONDS, lines)
        for index in range(fleet.nodes)
    ]


def _settings(scenario: Scenario, name: str) -> AlarmSettings:
    fleet = scenario.fleets[name]
    return AlarmSettings(
        environment=ENVIRONMENT,
        fleet=name,
        purpose=fleet.purpose,
        market=fleet.market,
        nodes=fleet.nodes,
        thresholds=Thresholds(**fleet.alarms),
    )


def _publish(
    scenario: Scenario, fleets: Mapping[str, list[ReplayedNode]], store: Store, minute: int, timeline: list[Stretch]
) -> bool:
    """Let every node live a minute; whether data of minutes before it came too."""
    begin = _START + minute * MINUTE
    takes = not any(start <= minute < end for start, end in scenario.outages)
    is_late = False
    if takes:
        store.put(operations_metrics.NAMESPACE, changes(ENVIRONMENT, scenario, minute, begin))
    for name, nodes in fleets.items():
        states: dict[str, int] = {}
        for node in nodes:
            entry, datums = node.minute(minute, reachable=takes)
            state = entry.verdict.state.value if entry else "-"
            states[state] = states.get(state, 0) + 1
            store.put(metrics.NAMESPACE, datums)
            is_late = is_late or node.was_late
            if takes:
                store.put(baselines.NAMESPACE, baselines.published(name, entry, begin))
        if takes:
            lives: list[Life] = [node.life for node in nodes]
            told = Heard(heard(store, name, begin), apart(store, name, begin))
            store.put(load_balancer.NAMESPACE, answered(name, scenario.fleets[name].endpoint, minute, begin))
            store.put(
                metrics.NAMESPACE, watched(ENVIRONMENT, name, scenario.fleets[name], lives, minute, begin, heard=told)
            )
        shown = tuple(sorted(states.items()))
        last = next((each for each in reversed(timeline) if each.fleet == name), None)
        if last is None or last.states != shown:
            timeline.append(Stretch(name, minute, shown))
    return is_late


def _told(changes: Sequence[Change]) -> tuple[Told, ...]:
    told: list[Told] = []
    for index, change in enumerate(changes):
        if not change.in_alarm:
            continue
        ends = (each.at for each in changes[index + 1 :] if each.spec.name == change.spec.name and not each.in_alarm)
        end = next(ends, None)
        resolved = None if end is None else (end - _START) / MINUTE
        spec = change.spec
        told.append(Told(spec.subject, spec.key, spec.severity, (change.at - _START) / MINUTE, resolved))
    return tuple(told)
