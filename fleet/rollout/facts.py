"""An endpoint as deployed, and what was seen of it at one look. What was not measured is None, and never zero."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from fleet.load_balancer import EndpointNames
from fleet.rollout.plan import Plan
from fleet.shadow.comparison import Comparison


@dataclass(frozen=True, slots=True)
class SidePlace:
    """One side: its ECS service, its target group by ARN, and its Auto Scaling group by name."""

    cluster: str
    service: str
    target_group: str
    group: str
    names: EndpointNames
    """What CloudWatch calls its load balancer and target group."""


@dataclass(frozen=True, slots=True)
class HostedPlace:
    """An endpoint that SageMaker runs. ``declared`` is the SSM parameter with the model that was deployed last.

    ``model`` is what CreateModel is asked for beside a name, ``variant`` what every variant is configured with beside
    its name, model, count and weight, in SageMaker's own keys; ``key`` encrypts its volumes.
    """

    endpoint: str
    declared: str
    model: dict[str, Any]
    variant: dict[str, Any]
    key: str
    tags: dict[str, str]


@dataclass(frozen=True, slots=True)
class RolloutPlace:
    """One endpoint. ``rule`` is the ARN of the listener's rule that holds the weights.

    ``family`` is that of the task definitions that deployments register; ``container`` the container in them that
    serves; ``version_parameter`` the SSM parameter from which a deployment reads what the stable side runs.
    ``artifact`` is the folder of the compiled graphs that the endpoint declares; empty where it declares none.
    """

    environment: str
    fleet: str
    nodes: int
    rule: str
    stable: SidePlace
    candidate: SidePlace
    family: str
    container: str
    version_parameter: str
    plan: Plan
    artifact: str = ""
    shadow_bucket: str = ""
    """Where recorded requests and reports lie; empty where the plan asks for none."""
    scales: bool = False
    """Whether the stable side's nodes follow the load, when there is no rollout."""
    hosted: HostedPlace | None = None
    """Of an endpoint that SageMaker runs. Its sides are variants: ``cluster`` is the endpoint, ``service`` the variant,
    and there is no rule, target group, group or container."""


@dataclass(frozen=True, slots=True)
class Minute:
    """One minute of a target group, as CloudWatch has it. ``p99`` is in seconds."""

    at: datetime
    requests: int
    errors: int
    p99: float | None = None


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two: what runs there, whether it is healthy, and how it answered since the bake began.

    ``versions`` are the task definitions of which tasks run; ``is_settled`` says that no deployment is going on.
    ``runtime_errors`` and ``usd_per_million_tokens`` are None where nobody measured them. ``no_nodes`` are AWS's words
    for why nodes are missing.
    """

    versions: frozenset[str] = frozenset()
    is_settled: bool = True
    healthy: int = 0
    minutes: tuple[Minute, ...] = ()
    runtime_errors: int | None = None
    usd_per_million_tokens: float | None = None
    no_nodes: str = ""

    def runs(self, version: str, targets: int) -> bool:
        """Whether it runs ``version`` and nothing else, with so many healthy targets."""
        return self.versions == {version} and self.is_settled and self.healthy >= targets

    @property
    def requests(self) -> int:
        """Answered since the bake began."""
        return sum(minute.requests for minute in self.minutes)

    @property
    def errors(self) -> int:
        """Answers with a 5xx since then."""
        return sum(minute.errors for minute in self.minutes)


@dataclass(frozen=True, slots=True)
class Facts:
    """Both sides, the weights in percent, the alarms that are on, and whether compiled graphs are there."""

    stable: Side
    candidate: Side
    stable_weight: int
    candidate_weight: int
    alarms: tuple[str, ...] = ()
    """Keys of the fleet's alarms that went off since the rollout began, and still are on."""
    has_artifact: bool | None = None
    """None where it could not be seen."""
    shadow: tuple[Comparison | None, ...] = ()
    """One for each task of the candidate; None where it has not reported. Looked for while that is waited for."""
    stable_nodes: int | None = None
    """How many the stable side is to have, where they follow the load and no longer do; None: as many as it had."""


def p99_in_common(one: Iterable[Minute], other: Iterable[Minute]) -> tuple[float, float] | None:
    """The median of either side's p99 over the minutes in which both have one; None where there is no such minute.

    A percentile of percentiles is none, but the same is done to both sides, and one odd minute decides nothing.
    """
    first = {minute.at: minute.p99 for minute in one if minute.p99 is not None}
    second = {minute.at: minute.p99 for minute in other if minute.p99 is not None}
    both = first.keys() & second.keys()
    if not both:
        return None
    return median([first[at] for at in both]), median([second[at] for at in both])


def median(values: Iterable[float]) -> float:
    """The middle one, the greater of two: ``values`` holds at least one."""
    ordered = sorted(values)
    return ordered[len(ordered) // 2]
