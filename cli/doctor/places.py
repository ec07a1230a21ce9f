"""Zones and instance types: what the account calls them, and what EC2 offers there."""

from collections.abc import Iterator
from typing import Final

from cli.doctor.account import NO_ANSWER, UnansweredError
from cli.doctor.visit import Entry, Visit
from fleet.diagnostics import Diagnostic
from planning.preflight.account import no_answer
from planning.preflight.offerings import diagnose_offering
from planning.preflight.zones import ZoneSeen, diagnose_zones

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
