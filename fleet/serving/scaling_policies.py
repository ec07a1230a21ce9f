"""What an endpoint's Auto Scaling group is told to do, as data: which series, which limit, for how long.

Nodes come by target tracking, one policy for each target; the one that wants most counts (EC2 Auto Scaling user guide,
"How multiple dynamic scaling policies work"). Nodes leave one at a time, by one rule over all targets: target tracking
cannot be told to stop at one node where the group may be empty, and has no pause between two nodes.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from fleet import auto_scaling, load_balancer, metrics
from fleet.alarms.metric_refs import MathRef, MetricRef
from fleet.alarms.specs import Comparison
from fleet.load_balancer import EndpointNames
from fleet.metrics import MetricSpec
from fleet.serving.scaling import QUIET_MINUTES, ROOM, Scaling
from fleet.string_enum import StringEnum

_COUNTS: Final = "Minimum"


class Move(StringEnum):
    """What a rule does, by the name that people read in its alarm."""

    LEAVE = "scale-in"
    """One node less."""
    TO_ZERO = "to-zero"
    """No node."""
    WAKE = "wake"
    """One node, where there is none."""


@dataclass(frozen=True, slots=True)
class Tracked:
    """A target, and the series whose average over the nodes it is compared with."""

    metric: MetricRef
    target: float


@dataclass(frozen=True, slots=True)
class Rule:
    """A move, and when: ``metric`` breaches ``threshold`` in each of the last ``minutes``. Silence moves nothing."""

    move: Move
    metric: MathRef
    comparison: Comparison
    threshold: float
    minutes: int


def tracked(scaling: Scaling, environment: str, fleet: str) -> dict[str, Tracked]:
    """By the name of the setting, in its order."""
    targets = scaling.targets
    found = {
        "requests_in_flight_per_core": (metrics.REQUESTS_IN_FLIGHT_PER_CORE, targets.requests_in_flight_per_core),
        "queue_seconds": (metrics.QUEUE_SECONDS, targets.queue_seconds),
        "core_utilization_percent": (metrics.NEURON_CORE_UTILIZATION, targets.core_utilization_percent),
    }
    return {
        name: Tracked(_of_fleet(spec, environment, fleet), target)
        for name, (spec, target) in found.items()
        if target is not None
    }


def rules(scaling: Scaling, environment: str, fleet: str, names: EndpointNames) -> tuple[Rule, ...]:
    """When a node leaves; and where the endpoint may be empty, when the last one does, and when one comes back."""
    leave = _leave(scaling, environment, fleet, names)
    if scaling.zero_after_minutes is None:
        return (leave,)
    return (leave, _to_zero(scaling.zero_after_minutes, names), _wake(names))


def fullness(
    scaling: Scaling, environment: str, fleet: str
) -> tuple[tuple[str, ...], tuple[tuple[str, MetricRef], ...]]:
    """How full a node is by each figure, 1 at its target, as expressions; and their series.

    Queue time is left out: nothing waits where there are no requests, and then there is none.
    """
    settings = tracked(scaling, environment, fleet)
    parts = [
        (name, settings[setting])
        for name, setting in (("flight", "requests_in_flight_per_core"), ("busy", "core_utilization_percent"))
        if setting in settings
    ]
    shares = tuple(f"{name} / {each.target:g}" for name, each in parts)
    return shares, tuple((name, each.metric) for name, each in parts)


def most_of(expressions: Sequence[str]) -> str:
    """The largest of them."""
    return expressions[0] if len(expressions) == 1 else f"MAX([{', '.join(expressions)}])"


def only_where_known(expression: str, names: Iterable[str]) -> str:
    """``expression`` in the minutes that have all of ``names``, none of which is negative, and no datapoint in others.

    Metric math takes what is missing for 0, and IF leaves no datapoint where its condition is missing
    (docs/alarm-evaluation.md): agents that are silent would look like an endpoint without load.
    """
    for name in names:
        expression = f"IF({name} >= 0, {expression}, 0)"
    return expression


def _leave(scaling: Scaling, environment: str, fleet: str, names: EndpointNames) -> Rule:
    shares, series = fullness(scaling, environment, fleet)
    queries = (*series, ("nodes", _of_group(auto_scaling.IN_SERVICE, names)))
    # As ``scaling.may_leave``: of one node the right side is 0, below which no load is.
    expression = only_where_known(f"{most_of(shares)} * nodes - {ROOM:g} * (nodes - 1)", (name for name, _ in queries))
    return Rule(Move.LEAVE, MathRef(expression, queries), Comparison.BELOW, 0, QUIET_MINUTES)


def _to_zero(minutes: int, names: EndpointNames) -> Rule:
    # A minute without nodes is none without requests. Refused ones count: somebody waits for a node that is to come.
    expression = "IF(desired > 0, FILL(answered, 0) + FILL(refused, 0), 1)"
    queries = (
        ("desired", _of_group(auto_scaling.DESIRED, names)),
        ("answered", _of_balancer(load_balancer.REQUEST_COUNT, names)),
        ("refused", _of_balancer(load_balancer.BALANCER_503, names)),
    )
    return Rule(Move.TO_ZERO, MathRef(expression, queries), Comparison.BELOW, 1, minutes)


def _wake(names: EndpointNames) -> Rule:
    # Once a node is asked for it is over, so that nothing takes away what somebody has asked for beyond one.
    queries = (
        ("desired", _of_group(auto_scaling.DESIRED, names)),
        ("refused", _of_balancer(load_balancer.BALANCER_503, names)),
    )
    return Rule(Move.WAKE, MathRef("IF(desired < 1, FILL(refused, 0), 0)", queries), Comparison.ABOVE, 0, 1)


def _of_fleet(spec: MetricSpec, environment: str, fleet: str) -> MetricRef:
    return MetricRef(
        metrics.NAMESPACE, spec.name, "Average", ((metrics.ENVIRONMENT, environment), (metrics.FLEET, fleet))
    )


def _of_group(name: str, names: EndpointNames) -> MetricRef:
    return MetricRef(auto_scaling.NAMESPACE, name, _COUNTS, auto_scaling.dimensions(names.node_group))


def _of_balancer(name: str, names: EndpointNames) -> MetricRef:
    return MetricRef(load_balancer.NAMESPACE, name, "Sum", names.dimensions(name))
