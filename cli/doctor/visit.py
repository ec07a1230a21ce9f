"""What every check is given: the environment, its fleets as they were compiled, and what several checks look at."""

from concurrent.futures import Executor, Future
from dataclasses import dataclass
from datetime import datetime

from cli.doctor import inventory, network
from cli.doctor.account import DoctorAccount
from environments.fleet_specs import fleet_spec
from environments.fleets import Fleet
from environments.model import Environment
from fleet.capacity import LaunchPlan, compile_fleet
from fleet.fleet_spec import FleetSpec
from planning.preflight.quotas import InstanceSeen
from planning.preflight.reservations import ReservationSeen


@dataclass(frozen=True, slots=True)
class Entry:
    """One fleet of the file; ``path`` is its place there."""

    path: str
    fleet: Fleet
    spec: FleetSpec
    plan: LaunchPlan


@dataclass(frozen=True, slots=True)
class Visit:
    """One look at an account, as of ``now``.

    The readings are under way, side by side. ``result()`` waits, and raises ``UnansweredError`` in whoever waits.
    """

    environment: Environment
    entries: tuple[Entry, ...]
    account: DoctorAccount
    now: datetime
    stacks: network.Stacks
    instances: Future[list[InstanceSeen]]
    reservations: Future[dict[str, ReservationSeen]]
    subnets: Future[list[network.Subnet]]
    templates: Future[dict[str, network.Template]]

    @classmethod
    def begin(cls, environment: Environment, account: DoctorAccount, now: datetime, pool: Executor) -> "Visit":
        """Start the readings on ``pool``."""
        # The first to start is the one that others wait for.
        stacks: network.Stacks = pool.submit(network.stacks, account, environment.name)
        return cls(
            environment,
            tuple(
                _entry(environment, index, fleet)
                for index, fleet in enumerate(environment.fleets)
                # SageMaker's instances are not EC2's to answer for.
                if fleet in environment.node_fleets
            ),
            account,
            now,
            stacks,
            pool.submit(inventory.instances, account),
            pool.submit(inventory.reservations, account),
            pool.submit(network.node_subnets, account, environment.name, stacks),
            pool.submit(network.launch_templates, account, environment.name, stacks),
        )

    def running(self, entry: Entry) -> list[InstanceSeen]:
        """The fleet's nodes that run."""
        named = (self.environment.name, entry.fleet.name)
        return [each for each in self.instances.result() if (each.environment, each.fleet) == named]


def _entry(environment: Environment, index: int, fleet: Fleet) -> Entry:
    spec = fleet_spec(environment, fleet)
    return Entry(f"fleets[{index}]", fleet, spec, compile_fleet(spec))
