"""All of an account's capacity, in one place that the APIs answer from and that can be seeded in."""

import ipaddress
from collections.abc import Callable, Mapping
from typing import Final

from local.emulator.batch.jobs import Jobs
from local.emulator.batch.scheduler import Scheduler
from local.emulator.capacity.batch import Batch
from local.emulator.capacity.blocks import Blocks
from local.emulator.capacity.offers import Extensions, Offerings
from local.emulator.capacity.prices import PriceLists
from local.emulator.capacity.quotas import Quotas
from local.emulator.capacity.reservations import Reservations
from local.emulator.capacity.scaling import ScalingActivities
from local.emulator.clock import EmulatorClock
from local.emulator.resources.store import Resource, ResourceStore

# The first four and the last address of a subnet are AWS's own.
_KEPT_BY_AWS: Final = 5


class Capacity:
    """Attributes: ``reservations``, ``blocks``, ``extensions``, ``offerings``, ``quotas``, ``prices``, ``batch``,
    ``jobs``, ``scheduler``, ``scaling``.
    """

    def __init__(
        self,
        account: str,
        resources: ResourceStore,
        clock: EmulatorClock,
        zone_id: Callable[[str], str],
        stack_tags: Callable[[Resource], Mapping[str, str]],
    ) -> None:
        self.reservations = Reservations(account, resources, clock, zone_id, stack_tags)
        self.blocks = Blocks(self.reservations)
        self.extensions = Extensions(self.reservations)
        self.offerings = Offerings()
        self.quotas = Quotas(account)
        self.prices = PriceLists(clock)
        self.batch = Batch(resources)
        self.jobs = Jobs(self.batch, clock)
        self.scheduler = Scheduler(self.jobs)
        self.scaling = ScalingActivities(clock)
        self._addresses: dict[tuple[str, str], int] = {}

    def seed_addresses(self, region: str, subnet: str, available: int) -> None:
        """Leave a subnet so many free addresses."""
        self._addresses[region, subnet] = available

    def addresses(self, region: str, subnet: str, cidr: str) -> int:
        """The free addresses of a subnet: what was seeded, or all that its range has."""
        return self._addresses.get((region, subnet), ipaddress.ip_network(cidr).num_addresses - _KEPT_BY_AWS)
