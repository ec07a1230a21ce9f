"""What runs out: quotas of the account, and addresses of the subnets."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from cli.doctor.account import DoctorAccount
from cli.doctor.visit import Entry, Visit
from environments.fleets import InferenceFleet, TrainingFleet
from fleet.capacity import quotas_needed
from fleet.diagnostics import Diagnostic
from fleet.hosting.sizes import SERVICE as SAGEMAKER
from fleet.hosting.sizes import quota_code
from planning.preflight.quotas import diagnose_quotas, vcpus_of_others
from planning.preflight.rollouts import HostedNeed, diagnose_candidates, diagnose_hosted_quotas
from planning.preflight.zones import NodesToCome, addresses_needed, diagnose_addresses

if TYPE_CHECKING:
    from mypy_boto3_service_quotas.type_defs import ServiceQuotaTypeDef

_UNKNOWN: Final = frozenset({"NoSuchResourceException"})


def quotas(visit: Visit) -> Iterator[Diagnostic]:
    """The quotas that the fleets need, with what runs beside them, and those of a new version of an endpoint."""
    needs = quotas_needed(entry.spec for entry in visit.entries)
    values = {need.code: value for need in needs if (value := _value(visit.account, need.code)) is not None}
    named = [entry.spec.reserved.reservation_id for entry in visit.entries if entry.spec.reserved.reservation_id]
    held = visit.reservations.result().values()
    others = vcpus_of_others(visit.instances.result(), held, visit.environment.name, named)
    region = visit.environment.region
    yield from diagnose_quotas(needs, values, others, region)
    endpoints = [entry.spec for entry in visit.entries if isinstance(entry.fleet, InferenceFleet)]
    yield from diagnose_candidates(endpoints, {need.code: need.vcpus for need in needs}, values, others, region)


def endpoint_quotas(visit: Visit) -> Iterator[Diagnostic]:
    """The quotas of the endpoints that SageMaker runs, and of their rollouts."""
    needs = [
        HostedNeed(
            fleet.name, fleet.instance_type, scaling.max if (scaling := fleet.endpoint.sagemaker) else fleet.nodes
        )
        for fleet in visit.environment.hosted_fleets
    ]
    seen: dict[str, tuple[str, float]] = {}
    for code in sorted({code for each in needs if (code := quota_code(each.instance_type)) is not None}):
        if (found := _quota(visit.account, SAGEMAKER, code)) is not None:
            seen[code] = (str(found.get("QuotaName", "")), float(found["Value"]))
    yield from diagnose_hosted_quotas(needs, seen, visit.environment.region)


def _value(account: DoctorAccount, code: str) -> float | None:
    found = _quota(account, "ec2", code)
    return None if found is None else float(found["Value"])


def _quota(account: DoctorAccount, service: str, code: str) -> "ServiceQuotaTypeDef | None":
    # A quota that was never raised has AWS's default, which another call tells.
    quotas = account.service_quotas
    own = account.find(_UNKNOWN, quotas.get_service_quota, ServiceCode=service, QuotaCode=code)
    found = own or account.find(_UNKNOWN, quotas.get_aws_default_service_quota, ServiceCode=service, QuotaCode=code)
    return None if found is None else found["Quota"]


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
