"""What alarms are of: the platform, or a fleet and what its alarms need to know about it."""

import re
import typing
from dataclasses import dataclass, field
from typing import Final, Literal, TypedDict

from fleet import metrics, naming
from fleet.alarm_page import EvidenceKind
from fleet.alarms.metric_refs import MathRef, MetricRef
from fleet.alarms.specs import AlarmSpec, Area, Comparison, Severity, TreatMissingData
from fleet.fleet_spec import MarketKind
from fleet.metrics import MetricSpec
from fleet.serving.scaling import Scaling
from fleet.without_job import patience_minutes


class _NoAlarmWithout(TypedDict):
    summary: str
    action: str
    metric: MetricRef | MathRef
    comparison: Comparison
    threshold: float
    datapoints: tuple[int, int]
    silence: TreatMissingData


class AlarmFields(_NoAlarmWithout, total=False):
    """What an alarm says of itself; ``AlarmSpec`` has what each is, and the defaults.

    Only type checkers read it: ``typing.Unpack`` came with Python 3.11, and stands in quotes.
    """

    title: str
    evidence: EvidenceKind
    evidence_minutes: int
    first_command: str | None
    notifies: bool
    bypass_pager: bool
    drawn_on: str | None


@dataclass(frozen=True, slots=True)
class Subject:
    """What a group of alarms has in common. ``evidence`` is what a page of theirs brings unless they say otherwise."""

    environment: str
    name: str
    area: Area
    evidence: EvidenceKind = EvidenceKind.NODES

    def page(self, key: str, **said: "typing.Unpack[AlarmFields]") -> AlarmSpec:
        """An alarm that wakes somebody."""
        return self.alarm(Severity.PAGE, key, **said)

    def ticket(self, key: str, **said: "typing.Unpack[AlarmFields]") -> AlarmSpec:
        """An alarm that waits for the morning."""
        return self.alarm(Severity.TICKET, key, **said)

    def alarm(self, severity: Severity, key: str, **said: "typing.Unpack[AlarmFields]") -> AlarmSpec:
        """An alarm of this severity. Its title is its key's words: one in the field's own spelling has to be said."""
        said.setdefault("title", " ".join(re.findall(r"[A-Z][a-z0-9]*", key)).capitalize())
        said.setdefault("evidence", self.evidence)
        return AlarmSpec(
            environment=self.environment, subject=self.name, area=self.area, key=key, severity=severity, **said
        )


def platform(environment: str) -> Subject:
    """The machinery of an environment, which no node's events say anything of."""
    return Subject(environment, naming.PLATFORM, Area.PLATFORM, EvidenceKind.NONE)


_WAKING_USD_PER_HOUR: Final = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Thresholds:
    """What a fleet may set for itself. Percents are 0-100, dollars are per node, seconds are of one request."""

    low_utilization_percent: float = 20.0
    """Of the tensor engines' peak, where 40 % does well (docs/runbooks/README.md): half of that."""
    low_core_utilization_percent: float = 70.0
    """Of busy time, where nothing reports FLOP/s: the guides' figure."""
    wasted_usd_per_node_hour: float = 5.0
    idle_usd_per_hour: float | None = None
    """What idle jobs of the fleet burn together before somebody is woken. None: as much as one node may waste."""
    without_job_minutes: float | None = None
    """For how long a node of a fleet that trains may have no job. None: by how it was bought."""
    hbm_percent: float = 95.0
    latency_p99_seconds: float = 2.0

    @property
    def idle_floor(self) -> float:
        """Dollars an hour. Five until the morning, eight hours later, are 40: about an hour of whoever is woken."""
        return self.wasted_usd_per_node_hour if self.idle_usd_per_hour is None else self.idle_usd_per_hour

    @property
    def burning_floor(self) -> float:
        """Dollars an hour of nodes without a job and of jobs that start in vain.

        What a node may waste is lowered for small nodes, and says nothing of what is worth waking somebody for: that is
        five dollars at least unless the owner names less.
        """
        return max(self.idle_floor, _WAKING_USD_PER_HOUR) if self.idle_usd_per_hour is None else self.idle_usd_per_hour


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

    @property
    def without_job_minutes(self) -> float:
        """For how long a node may have no job."""
        asked = self.thresholds.without_job_minutes
        return patience_minutes(self.market) if asked is None else asked

    def about(self, area: Area, evidence: EvidenceKind = EvidenceKind.NODES) -> Subject:
        """The fleet, to make its alarms of one area with."""
        return Subject(self.environment, self.fleet, area, evidence)

    def metric(self, spec: MetricSpec, statistic: str) -> MetricRef:
        """The fleet-wide series of a metric of ours."""
        dimensions = ((metrics.ENVIRONMENT, self.environment), (metrics.FLEET, self.fleet))
        return MetricRef(metrics.NAMESPACE, spec.name, statistic, dimensions)
