"""The machines of generated fleets, what they cost, and how large a fleet is."""

import random
from dataclasses import dataclass
from typing import Final

from fleet.fleet_spec import MarketKind
from fleet.instances import instance_type
from fleet.prices import price_for
from local.replay.generator import figures
from local.replay.life import REGION


@dataclass(frozen=True, slots=True)
class Machine:
    """A way to buy an instance type, and how often a fleet is bought so."""

    instance_type: str
    market: MarketKind
    weight: int
    most: int = 64

    @property
    def usd_per_hour(self) -> float:
        """What the instance table says; a price that nobody knows is not drawn."""
        price = price_for(instance_type(self.instance_type), REGION, self.market)
        if price is None:
            raise ValueError(f"{self.instance_type}: no {self.market.value} price in {REGION}")
        return price.usd_per_hour


TRAINING: Final = (
    Machine("trn1.32xlarge", MarketKind.ON_DEMAND, 5),
    Machine("trn1.32xlarge", MarketKind.RESERVATION, 3),
    Machine("trn1.32xlarge", MarketKind.CAPACITY_BLOCK, 2),
    Machine("trn1n.32xlarge", MarketKind.ON_DEMAND, 1),
    Machine("trn2.48xlarge", MarketKind.CAPACITY_BLOCK, 3),
    Machine("trn1.2xlarge", MarketKind.ON_DEMAND, 4),
    Machine("inf2.48xlarge", MarketKind.ON_DEMAND, 1),
)
CHEAP: Final = (
    Machine("trn1.2xlarge", MarketKind.ON_DEMAND, 3, most=3),
    Machine("inf2.xlarge", MarketKind.ON_DEMAND, 2, most=4),
    Machine("inf2.8xlarge", MarketKind.ON_DEMAND, 1, most=2),
)
DEAR: Final = tuple(each for each in TRAINING if each.instance_type != "trn1.2xlarge")
SERVING: Final = (
    Machine("inf2.xlarge", MarketKind.ON_DEMAND, 3, most=12),
    Machine("inf2.8xlarge", MarketKind.ON_DEMAND, 2, most=8),
    Machine("inf2.24xlarge", MarketKind.ON_DEMAND, 2, most=8),
    Machine("inf2.48xlarge", MarketKind.ON_DEMAND, 1, most=6),
)
SPOT: Final = (
    Machine("inf2.24xlarge", MarketKind.SPOT, 1, most=24),
    Machine("inf2.48xlarge", MarketKind.SPOT, 2, most=24),
)


def drawn(rng: random.Random, machines: tuple[Machine, ...], least: int = 1) -> tuple[Machine, int]:
    """A machine, and how many nodes of it."""
    machine = rng.choices(machines, [each.weight for each in machines])[0]
    return machine, max(least, min(machine.most, figures.NODES.whole(rng)))
