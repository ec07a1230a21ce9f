"""How an endpoint's nodes follow its load, as an environment's file says it: docs/scaling.md."""

from collections.abc import Iterator
from typing import Annotated, Final, Literal

from pydantic import Field

from environments.strict_model import StrictModel
from fleet.diagnostics import Diagnostic, refuse
from fleet.fleet_spec import MarketKind
from fleet.serving.scaling import Scaling as Plan
from fleet.serving.scaling import Targets, mistakes

_PAID_ANYWAY: Final = frozenset({MarketKind.RESERVATION, MarketKind.CAPACITY_BLOCK})


class ScalingTargets(StrictModel):
    """What each node is to have on average; at least one of the first and the last."""

    requests_in_flight_per_core: Annotated[float, Field(gt=0, le=10_000)] | None = None
    """Taken and not answered, for each NeuronCore: a batch's worth keeps a core busy, the rest waits."""
    queue_seconds: Annotated[float, Field(gt=0, le=3600)] | None = None
    """How long a request waits before its batch begins, mean. It brings nodes, and takes none away."""
    core_utilization_percent: Annotated[float, Field(gt=0, le=100)] | None = None


class WarmPool(StrictModel):
    """Nodes beyond those that serve, which have booted once and are stopped: docs/scaling.md says what they save."""

    nodes: Annotated[int, Field(ge=1, le=2000)]
    state: Literal["stopped"] = "stopped"
    """The one there is. A running node costs what one that serves costs: raise ``min_nodes`` instead. None of EC2's
    inf and trn families can hibernate."""


class Scaling(StrictModel):
    """Between ``min_nodes`` and the fleet's ``nodes``."""

    min_nodes: Annotated[int, Field(ge=0, le=2000)]
    targets: ScalingTargets
    warm_up_minutes: Annotated[int, Field(ge=1, le=180)] = 40
    """From a node's launch until it answers: for so long it counts as on its way, and its load as still to come."""
    scale_in_cooldown_minutes: Annotated[int, Field(ge=1, le=1440)] = 15
    """Between two nodes that leave."""
    scale_to_zero_after_minutes: Annotated[int, Field(ge=45, le=1440)] | None = None
    """Without a request; only with ``min_nodes: 0``. Longer than a node takes to start, or it would leave before."""

    warm_pool: WarmPool | None = None
    """Default: none; a node that comes is a new one."""

    def plan(self, nodes: int) -> Plan:
        """As the domain has it, for a fleet of ``nodes``."""
        return Plan(
            least=self.min_nodes,
            most=nodes,
            targets=Targets(**self.targets.model_dump()),
            warm_up_minutes=self.warm_up_minutes,
            cooldown_minutes=self.scale_in_cooldown_minutes,
            zero_after_minutes=self.scale_to_zero_after_minutes,
            kept_stopped=self.warm_pool.nodes if self.warm_pool else 0,
        )


def diagnose_scaling(scaling: Scaling, nodes: int, market: MarketKind) -> Iterator[Diagnostic]:
    """What of it cannot work for a fleet of ``nodes`` that are bought in ``market``."""
    for code, setting, wrong, right in mistakes(scaling.plan(nodes)):
        yield refuse(code, f"endpoint.scaling.{setting}", "", wrong, right)
    if market in _PAID_ANYWAY:
        yield refuse(
            "scaling-of-a-reservation",
            "endpoint.scaling",
            "",
            "reserved nodes are paid for while they are off, and the reservation would be seen as unused",
            "buy this fleet on demand or as Spot, or remove scaling",
        )
    if scaling.warm_pool is not None and market is MarketKind.SPOT:
        # EC2 Auto Scaling API, PutWarmPool: not for a launch template that requests Spot Instances.
        yield refuse(
            "warm-pool-of-spot",
            "endpoint.scaling.warm_pool",
            "",
            "EC2 Auto Scaling keeps no warm pool of Spot nodes",
            "buy this fleet on demand, or remove warm_pool",
        )
