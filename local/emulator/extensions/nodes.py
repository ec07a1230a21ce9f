"""The instances of Batch's environments and of scaling groups: launched, moved and ended when somebody looks at EC2."""

import base64
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email import message_from_bytes
from itertools import cycle
from typing import Any, Final

from ministack.core.responses import get_region
from ministack.services import ec2

from local.emulator.api.errors import AwsError
from local.emulator.capacity.placing import Placing, Wanted
from local.emulator.capacity.reservations import BLOCK, TYPE, Reservations
from local.emulator.clock import EmulatorClock
from local.emulator.faults import FaultStore

Instance = dict[str, Any]
# Members that ministack keeps with an instance and shows to nobody.
_OWNER: Final = "_Owner"
_WANTED: Final = "_Wanted"
_RESERVATION: Final = "CapacityReservationId"
_LEAVES: Final = "_Leaves"
_CLUSTER: Final = "_Cluster"
_JOINS: Final = re.compile(r"ECS_CLUSTER=([\w-]+)")


@dataclass(frozen=True, slots=True)
class Demand:
    """How many instances somebody wants, from a launch template's data, in one of the subnets."""

    owner: str
    count: int
    instance_type: str
    subnets: tuple[str, ...]
    placement_group: str
    data: Mapping[str, Any]
    busy: frozenset[str] = frozenset()
    """Instances that work, which are the last to go when fewer are wanted."""


@dataclass(frozen=True, slots=True)
class Nodes:
    """The account's instances that somebody keeps a number of."""

    reservations: Reservations
    placing: Placing
    faults: FaultStore
    clock: EmulatorClock

    def of(self, owner: str) -> list[Instance]:
        """The running instances of one owner, the oldest first."""
        return [each for each in self._running() if each[_OWNER] == owner]

    def member(self, instance_id: str) -> Instance | None:
        """A running instance that somebody keeps, by its id."""
        return next((each for each in self._running() if each["InstanceId"] == instance_id), None)

    def joined(self, cluster: str) -> list[Instance]:
        """The running instances whose user data join an ECS cluster."""
        return [each for each in self._running() if each.get(_CLUSTER) == cluster]

    def settle(self, demands: list[Demand]) -> dict[str, tuple[list[str], AwsError | None]]:
        """Give everyone what they want, as far as there is capacity.

        By owner: the ids of the instances that were launched, and why there are not more of them.
        """
        self._let_go({demand.owner for demand in demands})
        launched: dict[str, tuple[list[str], AwsError | None]] = {}
        for demand in demands:
            staying = [each for each in self.of(demand.owner) if not leaves(each)]
            kept = sorted(staying, key=lambda each: each["InstanceId"] not in demand.busy)
            _terminate(kept[demand.count :])
            launched[demand.owner] = self._launch(demand, demand.count - len(kept))
        self._move()
        return launched

    def _running(self) -> Iterator[Instance]:
        for name in ec2._instances:
            instance: Instance = ec2._instances[name]
            if _OWNER in instance and instance["State"]["Name"] == "running":
                yield instance

    def _let_go(self, owners: set[str]) -> None:
        """End what nobody wants any more, and what was in a block that is over; other reservations end without it."""
        for instance in list(self._running()):
            made = self.reservations.resources.get(get_region(), TYPE, instance.get(_RESERVATION, ""))
            entry = self.reservations.entry(made) if made else None
            is_over = entry is None or entry["State"] != "active"
            if instance[_OWNER] not in owners or (is_over and instance[_WANTED].is_for_block):
                _terminate([instance])
            elif is_over:
                instance.pop(_RESERVATION, None)
        self._count()

    def _launch(self, demand: Demand, count: int) -> tuple[list[str], AwsError | None]:
        ids = []
        subnets = cycle(demand.subnets or (ec2._DEFAULT_SUBNET_ID,))
        for _ in range(count):
            try:
                ids.append(self._launch_one(demand, next(subnets)))
            except AwsError as error:
                return ids, error
        return ids, None

    def _launch_one(self, demand: Demand, subnet: str) -> str:
        zone = ec2._subnets.get(subnet, {}).get("AvailabilityZone", f"{get_region()}a")
        self.faults.check(
            "ec2:RunInstances",
            {"InstanceType": demand.instance_type, "SubnetId": subnet, "Placement.AvailabilityZone": zone},
        )
        market = (demand.data.get("InstanceMarketOptions") or {}).get("MarketType")
        specification = demand.data.get("CapacityReservationSpecification") or {}
        wanted = Wanted(demand.instance_type, zone, demand.placement_group, market == BLOCK, specification)
        reservation = self.placing.place(get_region(), wanted)
        image = str(demand.data.get("ImageId", "ami-00000000"))
        (made,) = ec2._launch_instances_internal(image, demand.instance_type, subnet, 1)
        made["Placement"]["AvailabilityZone"] = zone
        made["LaunchTime"] = f"{datetime.fromtimestamp(self.clock.now(), UTC):%Y-%m-%dT%H:%M:%S.000Z}"
        made.update({_OWNER: demand.owner, _WANTED: wanted, _CLUSTER: _cluster(demand.data)})
        if reservation is not None:
            made[_RESERVATION] = reservation
        ec2._tags[made["InstanceId"]] = _tags(demand.data)
        self._count()
        return str(made["InstanceId"])

    def _move(self) -> None:
        """An instance of a group's that runs on demand moves into a reservation that has come to the group since."""
        for instance in self._running():
            if _RESERVATION not in instance and instance[_WANTED].group:
                reservation = self.placing.place(get_region(), instance[_WANTED])
                if reservation is not None:
                    instance[_RESERVATION] = reservation
                    self._count()

    def _count(self) -> None:
        running = [instance.get(_RESERVATION) for instance in self._running()]
        for made in self.reservations.resources.of_type(get_region(), TYPE):
            made.attributes["Running"] = running.count(made.physical_id)


def leaves(instance: Instance) -> bool:
    """Whether it waits to be ended, at its group's lifecycle hook."""
    return _LEAVES in instance


def end(instance: Instance, *, waits: bool) -> None:
    """End an instance: at once, or when somebody says that it may go."""
    if waits:
        instance[_LEAVES] = True
    else:
        _terminate([instance])


def owner(instance: Instance) -> str:
    """Who keeps it: a compute environment or a scaling group."""
    return str(instance[_OWNER])


def _cluster(data: Mapping[str, Any]) -> str:
    # A script, or MIME parts of which some are encoded once more.
    message = message_from_bytes(base64.b64decode(data.get("UserData") or ""))
    parts = [part.get_payload(decode=True) for part in message.walk() if not part.is_multipart()]
    texts = [part.decode(errors="replace") for part in parts if isinstance(part, bytes)]
    found = next(filter(None, map(_JOINS.search, texts)), None)
    return found[1] if found else ""


def _tags(data: Mapping[str, Any]) -> list[dict[str, str]]:
    specifications = data.get("TagSpecifications") or []
    of_instances = [each.get("Tags", []) for each in specifications if each.get("ResourceType") == "instance"]
    return [{"Key": str(tag["Key"]), "Value": str(tag["Value"])} for tags in of_instances for tag in tags]


def _terminate(instances: list[Instance]) -> None:
    if instances:
        ids = {f"InstanceId.{number}": [each["InstanceId"]] for number, each in enumerate(instances, start=1)}
        ec2._terminate_instances(ids)
