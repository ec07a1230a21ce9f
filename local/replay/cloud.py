"""One CloudWatch of a replay: what of the data can be seen when, and what the alarms on it tell."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from fleet import load_balancer, metrics, operations_metrics
from fleet.alarms import ContributorSpec, Spec
from fleet.node_state import NodeState
from local.alarm_evaluation.suppression import MuteRule
from local.replay.balancer import answered
from local.replay.delivery import Arrivals, Delivery
from local.replay.evaluator import AnySpec, Change, Evaluator
from local.replay.followed import Followers, PushedSeries
from local.replay.life import Life
from local.replay.node import ENVIRONMENT
from local.replay.scenario import Scenario
from local.replay.series import SeriesPoint
from local.replay.store import MINUTE, Point, Store, points
from local.replay.watch import Heard, apart, changes, heard, watched


@dataclass(frozen=True, slots=True)
class Lived:
    """What a node has to show of one minute: its state, None without an agent, and all that it sends."""

    life: Life
    node: str
    state: NodeState | None
    sends: Sequence[Point]
    pushes: Sequence[SeriesPoint] = ()


@dataclass(frozen=True, slots=True)
class Watching:
    """A set of alarms over all fleets, and what mutes them."""

    specs: Sequence[AnySpec]
    muted: Sequence[MuteRule]


class Cloud:
    """Takes what was published in a minute, and looks at its alarms when that minute has ended."""

    def __init__(self, scenario: Scenario, watching: Mapping[str, Watching], delivery: Delivery, start: int) -> None:
        self._scenario = scenario
        self._start = start
        self._store = Store()
        self._arrivals = Arrivals(delivery, scenario.name)
        self._pushed_arrivals = Arrivals(delivery, f"{scenario.name} pushed")
        self._series = PushedSeries(spec for each in watching.values() for spec in each.specs)
        self._evaluators = {
            name: (
                Evaluator(_classic(each.specs), self._store, start, each.muted),
                Followers(each.specs, self._series, each.muted),
            )
            for name, each in watching.items()
        }
        self.delivery = delivery
        self.acted: dict[str, list[Change]] = {name: [] for name in watching}

    def minute(self, minute: int, lived: Mapping[str, Sequence[Lived]]) -> None:
        """Minute ``minute`` of the scenario, with what every fleet's nodes have to show of it."""
        begin = self._start + minute * MINUTE
        # The watch has looked by then, and the nodes have not sent this minute.
        self._store.reveal(begin + MINUTE - 1)
        if not any(first <= minute < end for first, end in self._scenario.outages):
            self._publish(minute, begin, lived)
        for nodes in lived.values():
            for node in nodes:
                batch = self._arrivals.of_node(node.node, node.state, begin + MINUTE)
                self._store.take(node.sends, batch)
                if node.pushes:
                    # Another endpoint: what is lost or late there is another draw, and the clock is the same.
                    other = self._pushed_arrivals.of_node(node.node, node.state, begin + MINUTE)
                    self._series.take(node.pushes, replace(other, offset=batch.offset))
        for name, evaluators in self._evaluators.items():
            for evaluator in evaluators:
                self.acted[name] += evaluator.advance(begin)

    def _publish(self, minute: int, begin: int, lived: Mapping[str, Sequence[Lived]]) -> None:
        """What functions and services of AWS say of the minute."""
        scenario = self._scenario
        found = points(operations_metrics.NAMESPACE, changes(ENVIRONMENT, scenario, minute, begin))
        for name, nodes in lived.items():
            fleet = scenario.fleets[name]
            told = Heard(heard(self._store, name, begin), apart(self._store, name, begin))
            lives = [node.life for node in nodes]
            found += points(load_balancer.NAMESPACE, answered(name, fleet.endpoint, minute, begin))
            found += points(metrics.NAMESPACE, watched(ENVIRONMENT, name, fleet, lives, minute, begin, heard=told))
        self._store.take(found, self._arrivals.of_aws(begin + MINUTE))


def _classic(specs: Sequence[AnySpec]) -> list[Spec]:
    return [spec for spec in specs if not isinstance(spec, ContributorSpec)]
