"""Replays one scenario: every minute the nodes live, publish what they can, and every set of alarms looks at it."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from fleet import metrics
from fleet.alarms import AlarmSettings, Thresholds, endpoint_alarms, fleet_alarms
from local.alarm_evaluation.schedules import Once
from local.alarm_evaluation.suppression import MuteRule
from local.replay import baselines
from local.replay.balancer import names_of
from local.replay.cloud import Cloud, Lived, Watching
from local.replay.delivery import AT_ONCE, Delivery
from local.replay.evaluator import AnySpec
from local.replay.followed import followed_alarms, selectors_of
from local.replay.life import life
from local.replay.node import ENVIRONMENT, Lines, Printer, ReplayedNode
from local.replay.recording import recorded
from local.replay.scenario import Scenario
from local.replay.series import Pushed
from local.replay.store import MINUTE, points
from local.replay.told import Told, told_of

OURS: Final = "neuron-fleet"
FOLLOWED: Final = "neuron-fleet-promql"
# What our own alarms tell is held against the names in a label, and endpoints are theirs to watch.
OWN: Final = frozenset({OURS, FOLLOWED})
# The demo's period: enough for every rule of the state machine, and a quarter of the work of the default of 5 s.
PERIOD_SECONDS: Final = 20
_START: Final = 1_790_000_040 // MINUTE * MINUTE
AlarmSet = Callable[[AlarmSettings], Sequence[AnySpec]]
SETS: Final[Mapping[str, AlarmSet]] = {OURS: fleet_alarms, FOLLOWED: followed_alarms, **baselines.SETS}


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


def replay(
    scenario: Scenario, sets: Mapping[str, AlarmSet], folder: Path | None = None, delivery: Delivery = AT_ONCE
) -> Replay:
    """Run ``scenario`` against every one of ``sets``; recordings are files of ``folder``."""
    (found,) = replay_under(scenario, sets, (delivery,), folder)
    return found


def replay_under(
    scenario: Scenario, sets: Mapping[str, AlarmSet], deliveries: Sequence[Delivery], folder: Path | None = None
) -> list[Replay]:
    """What comes of one and the same ``scenario`` under each of ``deliveries``: its nodes live once."""
    watching = {name: _watching(scenario, _specs(scenario, name, make)) for name, make in sets.items()}
    read = selectors_of(spec for each in watching.values() for spec in each.specs)
    pushed = Pushed(read) if read else None
    fleets = {name: _nodes(scenario, name, folder, pushed) for name in scenario.fleets}
    clouds = [Cloud(scenario, watching, delivery, _START) for delivery in deliveries]
    timeline: list[Stretch] = []
    for minute in range(scenario.minutes + max(cloud.delivery.allowed_minutes for cloud in clouds)):
        lived = {name: [_lived(scenario, node, minute) for node in nodes] for name, nodes in fleets.items()}
        if minute < scenario.minutes:
            _extend(timeline, lived, minute)
        for cloud in clouds:
            if minute < scenario.minutes + cloud.delivery.allowed_minutes:
                cloud.minute(minute, lived)
    return [
        Replay(
            _as_late(scenario, cloud.delivery.allowed_minutes),
            {name: told_of(found, _START) for name, found in cloud.acted.items()},
            tuple(timeline),
        )
        for cloud in clouds
    ]


def _as_late(scenario: Scenario, minutes: int) -> Scenario:
    """The scenario whose incidents may be told of so many minutes later: nobody can tell of what cannot be seen."""
    moved = (
        each.model_copy(update={"by": each.by + minutes, "until": each.until + minutes}) for each in scenario.incidents
    )
    return scenario.model_copy(update={"incidents": tuple(moved)})


def _specs(scenario: Scenario, alarm_set: str, make: AlarmSet) -> list[AnySpec]:
    """One set over all fleets; what our own says of endpoints the others have nothing to set against."""
    specs: list[AnySpec] = []
    for name, fleet in scenario.fleets.items():
        settings = settings_of(scenario, name)
        specs += make(settings)
        if alarm_set in OWN and fleet.endpoint:
            specs += endpoint_alarms(settings, names_of(name))
    return specs


def _watching(scenario: Scenario, specs: Sequence[AnySpec]) -> Watching:
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
    return Watching(specs, rules)


def _nodes(scenario: Scenario, name: str, folder: Path | None, pushed: Pushed | None) -> list[ReplayedNode]:
    fleet, printer = scenario.fleets[name], Printer(PERIOD_SECONDS)
    lines: Lines | None = None
    if fleet.recording is not None:
        lines = recorded((folder or Path()) / fleet.recording, _START, PERIOD_SECONDS)
    return [
        ReplayedNode(name, life(scenario, name, index, _START), _START, printer, PERIOD_SECONDS, lines, pushed)
        for index in range(fleet.nodes)
    ]


def settings_of(scenario: Scenario, name: str) -> AlarmSettings:
    """What the alarms of the scenario's fleet called ``name`` know about it."""
    fleet = scenario.fleets[name]
    return AlarmSettings(
        environment=ENVIRONMENT,
        fleet=name,
        purpose=fleet.purpose,
        market=fleet.market,
        nodes=fleet.nodes,
        thresholds=Thresholds(**fleet.alarms),
    )


def _lived(scenario: Scenario, node: ReplayedNode, minute: int) -> Lived:
    """Let ``node`` live a minute: what it sends by its own metrics, and by those of the other sets."""
    takes = not any(start <= minute < end for start, end in scenario.outages)
    entry, datums = node.minute(minute, reachable=takes)
    sends = points(metrics.NAMESPACE, datums)
    if takes:
        begin = _START + minute * MINUTE
        sends += points(baselines.NAMESPACE, baselines.published(node.fleet, entry, begin))
    return Lived(
        node.life, node.name, entry.verdict.state if entry else None, sends, node.push(minute, reachable=takes)
    )


def _extend(timeline: list[Stretch], lived: Mapping[str, Sequence[Lived]], minute: int) -> None:
    for name, nodes in lived.items():
        counts = Counter("-" if node.state is None else node.state.value for node in nodes)
        shown = tuple(sorted(counts.items()))
        last = next((each for each in reversed(timeline) if each.fleet == name), None)
        if last is None or last.states != shown:
            timeline.append(Stretch(name, minute, shown))
