"""Closing and opening a fleet, whatever runs its jobs: AWS Batch, or its pool's controller."""

from collections.abc import Mapping

from lambdas.budgets.pools import Pools
from lambdas.budgets.ports import BatchPlace, Place
from lambdas.budgets.queues import BatchQueues


class Fleets:
    """The fleets that a used-up budget may stop."""

    def __init__(self, queues: BatchQueues, pools: Pools) -> None:
        self._queues, self._pools = queues, pools

    def open_among(self, places: Mapping[str, Place]) -> frozenset[str]:
        """The fleets of ``places`` that take jobs, or start them."""
        on_batch = {fleet: place for fleet, place in places.items() if isinstance(place, BatchPlace)}
        pools = {fleet: place for fleet, place in places.items() if not isinstance(place, BatchPlace)}
        return self._queues.open_among(on_batch) | self._pools.open_among(pools)

    def close(self, place: Place) -> None:
        """Start none of its jobs."""
        if isinstance(place, BatchPlace):
            self._queues.close(place)
        else:
            self._pools.close(place)

    def open(self, place: Place) -> None:
        """Start them again."""
        if isinstance(place, BatchPlace):
            self._queues.open(place)
        else:
            self._pools.open(place)
