"""What a rule looks at: a fleet, its instance type, and the moment for which dates are judged."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime

from fleet.diagnostics import Diagnostic
from fleet.fleet_spec import Engine, FleetSpec, MarketKind, Purpose, Reserved
from fleet.instances import InstanceType
from fleet.regions import offering_zones


@dataclass(frozen=True, slots=True)
class Case:
    """One fleet to judge. ``now`` is None where nobody may look at the clock: rules about today are then silent."""

    spec: FleetSpec
    known: InstanceType
    now: datetime | None

    @property
    def reserved(self) -> Reserved:
        """What is known of the fleet's reserved capacity."""
        return self.spec.reserved

    @property
    def is_block(self) -> bool:
        """Whether the fleet lives on a Capacity Block."""
        return self.spec.market is MarketKind.CAPACITY_BLOCK

    @property
    def is_training(self) -> bool:
        """Whether the fleet runs multi-node jobs."""
        return self.spec.purpose is Purpose.TRAINING

    @property
    def is_pool(self) -> bool:
        """Whether the platform launches its nodes and runs its jobs itself."""
        return self.is_training and self.spec.engine is Engine.POOL

    @property
    def spans_zones(self) -> bool:
        """Whether nodes may come up in more than one zone: those of the fleet that offer its type."""
        return len(offering_zones(self.spec, self.known)) > 1

    @property
    def creates_reservation(self) -> bool:
        """Whether an on-demand reservation is created with the fleet."""
        return self.spec.market is MarketKind.RESERVATION and not self.reserved.exists


Rule = Callable[[Case], Iterator[Diagnostic]]
