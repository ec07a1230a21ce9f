"""What of an environment costs money, as plain values."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Literal

from fleet.fleet_spec import MarketKind, Purpose
from fleet.hosting.surcharge import Surcharge
from fleet.instances import Price
from planning.money import PlanError
from planning.month.line import Spread


class Function(StrEnum):
    """The Lambda functions of an environment."""

    PAGER = "pager"
    CAPACITY_WATCH = "capacity watch"
    CAPACITY_BLOCKS = "Capacity Block engine"
    POOLS = "pools' controller"
    PRECOMPILE = "precompilation"
    PRICES = "price refresh"
    LEDGER = "ledger's roll-up"
    ROLLOUT = "rollouts"
    BUDGETS = "budgets"


@dataclass(frozen=True, slots=True)
class FleetShape:
    """One fleet. ``nodes`` are paid for at ``price`` (None: nobody knows one)."""

    name: str
    purpose: Purpose
    instance_type: str
    nodes: int
    market: MarketKind
    price: Price | None
    logical_cores: int
    """NeuronCores of a node that its log event tells of."""
    has_efa: bool
    reserved_instances: int
    """As many are paid for whether they are used or not; 0 where nothing is reserved."""
    stopped_nodes: int = 0
    """Beside ``nodes``, in a warm pool: of them EC2 bills the volumes."""
    block_hours: float | None = None
    """Length of its Capacity Block, where the file gives both ends."""


@dataclass(frozen=True, slots=True)
class HostedShape:
    """An endpoint that SageMaker runs. ``low`` and ``high`` are the fewest and the most instances that it scales to."""

    name: str
    nodes: int
    low: int
    high: int
    prices: Surcharge


@dataclass(frozen=True, slots=True)
class EnvironmentShape:
    """One environment, as far as it is paid for."""

    name: str
    region: str
    zones: int
    nat_gateways: int
    interface_endpoints: int
    fleets: tuple[FleetShape, ...]
    functions: tuple[Function, ...]
    tables: int
    log_retention_days: int
    otlp: Literal["rules", "nodes", "cores"] | None
    """How much of a node goes over OTLP."""
    alarm_metrics: int
    """Metrics that metric alarms look at, each time they do."""
    composite_alarms: int
    dashboards: int
    cloudwatch_budget_usd: float | None
    hosted: tuple[HostedShape, ...] = ()
    public_balancers: int = 0
    """Load balancers on the internet, each with addresses in every zone."""

    @property
    def nodes(self) -> int:
        """Of all fleets."""
        return sum(fleet.nodes for fleet in self.fleets)


SOME_TO_ALL_OF_THE_MONTH: Final = Spread(0.3, 0.7, 1.0)


@dataclass(frozen=True, slots=True)
class Use:
    """How much nodes are used that are paid for only while they run: shares of the month's hours.

    Raises:
        PlanError: A share is not between 0 and 1, or they are not in order.
    """

    running: Spread = SOME_TO_ALL_OF_THE_MONTH

    def __post_init__(self) -> None:
        shares = (self.running.low, self.running.expected, self.running.high)
        if not 0 <= shares[0] <= shares[1] <= shares[2] <= 1:
            given = ",".join(f"{share:g}" for share in shares)
            raise PlanError(f"use is {given}; give low,expected,high in that order, each from 0 to 1, as 0.3,0.7,1")
