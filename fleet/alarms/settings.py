"""What the alarms of a fleet need to know about it."""

from dataclasses import dataclass, field
from typing import Literal

from fleet import metrics
from fleet.alarms.specs import MetricRef
from fleet.fleet_spec import MarketKind
from fleet.metrics import MetricSpec
from fleet.serving.scaling import Scaling


@dataclass(frozen=True, slots=True, kw_only=True)
class Thresholds:
    """What a fleet may set for itself. Percents are 0-100, dollars are per node, seconds are of one request."""

    low_utilization_percent: float = 20.0
    low_core_utilization_percent: float = 70.0
    wasted_usd_per_node_hour: float = 5.0
    hbm_percent: float = 95.0
    latency_p99_seconds: float = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class AlarmSettings:
    """One fleet, as its alarms see it.

    ``nodes`` is how many it may have, ``market`` how they are bought: that decides what can go wrong with its
    capacity. ``reports_flops`` chooses tensor-engine or core utilization.
    """

    environment: str
    fleet: str
    purpose: Literal["training", "inference"]
    market: MarketKind
    nodes: int
    reports_flops: bool = True
    has_efa: bool = False
    """Whether its nodes talk to each other over EFA."""
    scaling: Scaling | None = None
    """How an endpoint's nodes follow its load; None where all of them always run."""
    thresholds: Thresholds = field(default_factory=Thresholds)

    @property
    def is_reserved(self) -> bool:
        """Whether capacity is set aside for the fleet, and paid for whether it is used or not."""
        return self.market in {MarketKind.RESERVATION, MarketKind.CAPACITY_BLOCK}

    def metric(self, spec: MetricSpec, statistic: str) -> MetricRef:
        """The fleet-wide series of a metric of ours."""
        dimensions = ((metrics.ENVIRONMENT, self.environment), (metrics.FLEET, self.fleet))
        return MetricRef(metrics.NAMESPACE, spec.name, statistic, dimensions)
