"""What runs out: quotas of the account, and addresses of the subnets."""

from collections.abc import Iterator
from typing import Final

from cli.doctor.account import Account
from cli.doctor.visit import Entry, Visit
from environments.fleets import TrainingFleet
from fleet.capacity import quotas_needed
from fleet.diagnostics import Diagnostic
from fleet.preflight.addresses import NodesToCome, addresses_needed, diagnose_addresses
from fleet.preflight.quotas import diagnose_quotas, vcpus_of_others

_UNKNOWN: Final = frozenset({"NoSuchResourceException"})


def quotas(visit: Visit) -> Iterator[Diagnostic]:
    """The quotas that the fleets need, with what runs beside them."""
    needs = quotas_needed(entry.spec for entry in visit.entries)
    values = {need.code: value for need in needs if (value := _value(visit.account, need.code)) is not None}
    named = [entry.spec.reserved.reservation_id for entry in visit.entries if entry.spec.reserved.reservation_id]
    held = visit.reservations.result().values()
    others = vcpus_of_others(visit.instances.result(), held, visit.environment.name, named)
    yield from diagnose_quotas(needs, values, others, visit.environment.region)


def _value(account: Account, code: str) -> float | None:
    # A quota that was never raised has AWS's default, which another call tells.
    for method in ("get_service_quota", "get_aws_default_service_quota"):
        found = account.find("service-quotas", method, _UNKNOWN, ServiceCode="ec2", QuotaCode=code)
        if found is not None:
            return float(found["Quota"]["Value"])
    return None


def addresses(visit: Visit) -> Iterator[Diagnostic]:
    """Free addresses of the deployed node subnets; before the first deployment there is nothing to look at."""
    free = {subnet.zone: subnet.free for subnet in visit.subnets.result()}
    if not free:
        return
    to_come = [NodesToCome(entry.plan, _missing(visit, entry), zones_of(visit, entry)) for entry in visit.entries]
    yield from diagnose_addresses(addresses_needed(to_come), free)


def _missing(visit: Visit, entry: Entry) -> int:
    return max(entry.spec.nodes - len(visit.running(entry)), 0)


def zones_of(visit: Visit, entry: Entry) -> tuple[str, ...]:
    """The names of the zones that the fleet's nodes may lie in."""
    if isinstance(entry.fleet, TrainingFleet):
        return (entry.fleet.availability_zone,)
    named = visit.environment.network.availability_zones
    return tuple(zone for zone, zone_id in named.items() if zone_id in entry.plan.zone_ids)
