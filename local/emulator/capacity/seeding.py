"""What a person or a test seeds in the account's capacity, as JSON, checked before any of it is taken."""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, Final

from local.emulator.api.answers import Entry
from local.emulator.batch.job import STATUSES
from local.emulator.capacity.account import Capacity
from local.emulator.capacity.reservations import TYPE, moment

_STATES: Final = (
    "active", "assessing", "cancelled", "delayed", "expired", "failed", "payment-failed", "payment-pending", "pending",
    "scheduled", "unsupported",
)  # fmt: skip
_TEXTS: Final = {"instance_type": "InstanceType", "availability_zone": "AvailabilityZone"}
_NEEDED: Final = {"instance_type", "availability_zone", "total"}
_KNOWN: Final = frozenset({
    "region", "id", "state", "available", "type", "start", "end", "tags", "placement_group_arn", *_NEEDED,
})  # fmt: skip


def reservation(capacity: Capacity, given: object) -> Entry:
    """Seed or change one reservation; the answer is the reservation as EC2 now shows it.

    ``region`` and ``id`` are needed, and for a new one ``instance_type``, ``availability_zone`` and ``total``. ``type``
    is default or capacity-block, ``start`` and ``end`` are ISO 8601; a ``state`` stays until it is seeded anew, and
    without one the clock decides. What a known reservation is not given stays as it is.

    Raises:
        ValueError: anything else.
    """
    if not isinstance(given, Mapping) or not {"region", "id"} <= set(given):
        raise ValueError("reservations: region and id are needed")
    if strange := set(given) - _KNOWN:
        raise ValueError(f"reservations: {min(strange)}: unknown; known are {', '.join(sorted(_KNOWN))}")
    region, reservation_id = str(given["region"]), str(given["id"])
    reservations = capacity.reservations
    known = reservations.resources.get(region, TYPE, reservation_id)
    if known is None and (absent := _NEEDED - set(given)):
        raise ValueError(f"reservations: {reservation_id} is new: {min(absent)} is needed")
    total = _count(given, "total", known.properties["InstanceCount"] if known else None)
    attributes = _attributes(given, total, known.attributes.get("Running", 0) if known else 0)
    made = reservations.put(region, reservation_id, _properties(given, total), attributes)
    if given.get("state", "") is None:
        made.attributes.pop("SeededState", None)
    return flat(reservations.entry(made))


def _properties(given: Mapping[str, Any], total: int) -> Entry:
    found: Entry = {"InstanceCount": total} | {
        name: str(given[field]) for field, name in _TEXTS.items() if field in given
    }
    if "end" in given:
        found["EndDate"] = moment(str(given["end"])).isoformat()
    if "placement_group_arn" in given:
        found["PlacementGroupArn"] = str(given["placement_group_arn"])
    if "tags" in given:
        if not isinstance(given["tags"], Mapping):
            raise ValueError(f"reservations: tags {given['tags']!r} are not an object")
        tags = [{"Key": str(key), "Value": str(value)} for key, value in given["tags"].items()]
        found["TagSpecifications"] = [{"ResourceType": "capacity-reservation", "Tags": tags}]
    if given.get("type") == "capacity-block":
        found["InstanceMatchCriteria"] = "targeted"
    return found


def _attributes(given: Mapping[str, Any], total: int, running: int) -> Entry:
    found: Entry = {}
    if given.get("state") is not None:
        if given["state"] not in _STATES:
            raise ValueError(f"reservations: state {given['state']!r} is not one of {', '.join(_STATES)}")
        found["SeededState"] = given["state"]
    if "available" in given:
        found["Used"] = max(total - _count(given, "available", None) - running, 0)
    if "type" in given:
        if given["type"] not in ("default", "capacity-block"):
            raise ValueError(f"reservations: type {given['type']!r} is neither default nor capacity-block")
        found["ReservationType"] = given["type"]
    if "start" in given:
        found["StartDate"] = moment(str(given["start"])).isoformat()
    return found


def _count(given: Mapping[str, Any], field: str, default: int | None) -> int:
    value = given.get(field, default)
    if type(value) is not int or value < 0:
        raise ValueError(f"reservations: {field} {value!r} is not a number of instances")
    return value


def flat(entry: Entry) -> Entry:
    """The entry as JSON can hold it."""
    return {name: value.isoformat() if isinstance(value, datetime) else value for name, value in entry.items()}


def offering(capacity: Capacity, given: object) -> Entry:
    """``{"region", "instance_type", "zone_ids": […]}``: the type is offered in these zones only."""
    region, type_name, zone_ids = _fields(given, "offerings", region=str, instance_type=str, zone_ids=list)
    capacity.offerings.seed(region, type_name, zone_ids)
    return {"instance_type": type_name, "zone_ids": zone_ids}


def subnet(capacity: Capacity, given: object) -> Entry:
    """``{"region", "subnet", "available": n}``: the subnet has n free addresses."""
    region, name, available = _fields(given, "subnets", region=str, subnet=str, available=int)
    capacity.seed_addresses(region, name, available)
    return {"subnet": name, "available": available}


def quota(capacity: Capacity, given: object) -> Entry:
    """``{"region", "code", "value": vCPUs}``."""
    region, code, value = _fields(given, "quotas", region=str, code=str, value=float)
    return capacity.quotas.seed(region, code, value)


def price(capacity: Capacity, given: object) -> Entry:
    """``{"region", "instance_type", "kind", "usd_per_hour"}``: what AWS's price lists say."""
    fields = _fields(given, "prices", region=str, instance_type=str, kind=str, usd_per_hour=float)
    capacity.prices.seed(*fields)
    return {"instance_type": fields[1], "usd_per_hour": fields[3]}


def environment(capacity: Capacity, given: object) -> Entry:
    """``{"region", "name", "status", "reason"}``: what Batch thinks of a compute environment."""
    fields = _fields(given, "compute-environments", region=str, name=str, status=str, reason=str)
    return capacity.batch.seed_status(*fields)


def jobs(capacity: Capacity, given: object) -> Entry:
    """``{"region", "queue", "jobs": [{"jobId", "jobName", "status", …}]}``: the jobs of a queue, and no others."""
    region, queue, found = _fields(given, "jobs", region=str, queue=str, jobs=list)
    for job in found:
        if not isinstance(job, dict) or not {"jobId", "jobName"} <= set(job) or job.get("status") not in STATUSES:
            raise ValueError(f"jobs: {job!r} needs jobId, jobName, and a status out of {', '.join(STATUSES)}")
    capacity.jobs.seed(region, queue, found)
    return {"jobs": found}


def activity(capacity: Capacity, given: object) -> Entry:
    """``{"region", "group", "status", "message"}``: the newest scaling activity of an Auto Scaling group."""
    fields = _fields(given, "group-activities", region=str, group=str, status=str, message=str)
    return flat(capacity.scaling.record(*fields))


def container_instance(capacity: Capacity, given: object) -> Entry:
    """``{"region", "instance", "drains"}``: the ECS agent of an instance of Batch's has joined, or drains."""
    region, instance, drains = _fields(given, "container-instances", region=str, instance=str, drains=bool)
    return {"cluster": capacity.scheduler.join(region, instance, drains=drains)}


def tasks(capacity: Capacity, given: object) -> Entry:
    """``{"region", "instance", "states": [{"task", "status", …}]}``: an ECS agent's report; what it has to do.

    ``status`` is RUNNING or STOPPED, the latter with ``exit_code`` (or ``reason``, where nothing ran).
    """
    region, instance, states = _fields(given, "tasks", region=str, instance=str, states=list)
    return {"tasks": capacity.scheduler.report(region, instance, states)}


def _fields(given: object, what: str, **fields: type) -> list[Any]:
    """The values of exactly these fields, in their order."""
    described = ", ".join(f"{name}: {kind.__name__}" for name, kind in fields.items())
    if not isinstance(given, Mapping) or set(given) != set(fields):
        raise ValueError(f"{what}: the body has exactly {described}")
    for name, kind in fields.items():
        if type(given[name]) is not kind and not (kind is float and type(given[name]) is int):
            raise ValueError(f"{what}: {name} {given[name]!r} is wrong: the body has {described}")
    return [given[name] for name in fields]


SEEDERS: Final[Mapping[str, Callable[[Capacity, Any], Entry]]] = {
    "reservations": reservation,
    "compute-environments": environment,
    "container-instances": container_instance,
    "group-activities": activity,
    "jobs": jobs,
    "offerings": offering,
    "prices": price,
    "quotas": quota,
    "subnets": subnet,
    "tasks": tasks,
}
