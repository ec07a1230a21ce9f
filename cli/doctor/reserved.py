"""Zones, what EC2 offers there, and the capacity that a fleet was promised: a reservation, a block, a group of them."""

from collections.abc import Iterator
from typing import Final

from cli.doctor.account import NO_ANSWER, DoctorAccount, UnansweredError
from cli.doctor.visit import Entry, Visit
from fleet import naming
from fleet.diagnostics import Diagnostic
from planning.preflight.account import no_answer
from planning.preflight.reservation_groups import ReservationGroupSeen, diagnose_group
from planning.preflight.reservations import ReservationSeen, diagnose_reservation, not_created, not_found
from planning.preflight.zones import ZoneSeen, diagnose_offering, diagnose_zones

# What EC2 answers in a region that is not enabled for the account.
_NOT_ENABLED: Final = frozenset({"AuthFailure", "OptInRequired"})


def zones(visit: Visit) -> Iterator[Diagnostic]:
    """The first regional question, too: does the region answer?"""
    try:
        seen = visit.account.ec2.describe_availability_zones()["AvailabilityZones"]
    except UnansweredError as error:
        if error.code == NO_ANSWER or error.code in _NOT_ENABLED:
            yield no_answer("region", visit.environment.region, error.message)
            return
        raise
    known = [ZoneSeen(each["ZoneName"], each.get("ZoneId", ""), each.get("State", "available")) for each in seen]
    yield from diagnose_zones(visit.environment.network.availability_zones, known)


def offering(visit: Visit, entry: Entry) -> Iterator[Diagnostic]:
    """Where EC2 offers the fleet's type today."""
    found = [
        each
        for page in visit.account.ec2.get_paginator("describe_instance_type_offerings").paginate(
            LocationType="availability-zone-id",
            Filters=[{"Name": "instance-type", "Values": [entry.spec.instance_type]}],
        )
        for each in page.get("InstanceTypeOfferings", [])
    ]
    yield from diagnose_offering(entry.plan, {each["Location"] for each in found})


_NO_GROUP: Final = frozenset({"NotFoundException"})
_RESERVATION: Final = "AWS::EC2::CapacityReservation"


def reservation(visit: Visit, entry: Entry) -> Iterator[Diagnostic]:
    """Whichever of them the fleet's market names; nothing for markets without."""
    reserved = entry.spec.reserved
    if reserved.resource_group:
        yield from _group(visit, entry, reserved.resource_group)
    elif reserved.reservation_id:
        seen = visit.reservations.result().get(reserved.reservation_id)
        path = "market.reservation_id"
        yield from _of(visit, entry, seen, path) if seen else [not_found(entry.spec, reserved.reservation_id)]
    elif entry.plan.creates_reservation:
        yield from _created(visit, entry)


def _of(visit: Visit, entry: Entry, seen: ReservationSeen, path: str) -> Iterator[Diagnostic]:
    inside = [node for node in visit.running(entry) if node.reservation_id == seen.reservation_id]
    return diagnose_reservation(entry.spec, seen, path, running=len(inside))


def _created(visit: Visit, entry: Entry) -> Iterator[Diagnostic]:
    named = (visit.environment.name, entry.fleet.name)
    own = [each for each in visit.reservations.result().values() if (each.environment, each.fleet) == named]
    alive = [each for each in own if not each.is_over]
    if alive:
        for seen in alive:
            yield from _of(visit, entry, seen, "market.kind")
        return
    stack = visit.stacks.result().get(naming.stack_name(named[0], naming.reservation_stack(named[1])))
    # A stack that failed, or is not there yet, is a finding about stacks.
    if stack is not None and stack.exists and stack.is_settled and not stack.has_failed:
        yield not_created(entry.spec)


def _group(visit: Visit, entry: Entry, arn: str) -> Iterator[Diagnostic]:
    seen = _group_seen(visit.account, arn)
    known = visit.reservations.result()
    members = [known[each] for each in seen.members if each in known] if seen else []
    yield from diagnose_group(entry.spec, seen, members)


def _group_seen(account: DoctorAccount, arn: str) -> ReservationGroupSeen | None:
    found = account.find(_NO_GROUP, account.resource_groups.get_group_configuration, Group=arn)
    if found is None:
        return None
    configuration = found.get("GroupConfiguration", {}).get("Configuration", [])
    listed = [
        each
        for page in account.resource_groups.get_paginator("list_group_resources").paginate(Group=arn)
        for each in page.get("Resources", [])
    ]
    held = [each["Identifier"] for each in listed]
    return ReservationGroupSeen(
        tuple(item["Type"] for item in configuration),
        tuple(_id(each["ResourceArn"]) for each in held if each.get("ResourceType") == _RESERVATION),
    )


def _id(arn: str) -> str:
    return arn.rpartition("/")[2]
