"""Every check by the name that people are told: those of the environment, and those of each of its fleets.

What people do in the account by hand is looked at here: secrets of paging, certificates of endpoints, tags that costs
go by.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final

from cli.doctor.launches import image, launch, security_groups
from cli.doctor.limits import addresses, endpoint_quotas, quotas
from cli.doctor.reserved import offering, reservation, zones
from cli.doctor.visit import Entry, Visit
from cli.prices.table import newest
from environments.fleets import InferenceFleet
from fleet.diagnostics import Diagnostic
from fleet.prices import price_of
from planning.preflight.costs import NEEDED, diagnose_cost_tags, diagnose_price
from planning.preflight.endpoints import CertificateSeen, SecretSeen, diagnose_certificate, diagnose_secret
from planning.preflight.stacks import diagnose_stacks

_ABSENT: Final = frozenset({"ResourceNotFoundException"})


def secrets(visit: Visit) -> Iterator[Diagnostic]:
    """Whether they are there; their values are never read."""
    for key, name in visit.environment.paging.secrets.items():
        found = visit.account.find(_ABSENT, visit.account.secretsmanager.describe_secret, SecretId=name)
        seen = SecretSeen("DeletedDate" in found, bool(found.get("VersionIdsToStages"))) if found else None
        yield from diagnose_secret(f"paging.{key}", name, seen)


def cost_tags(visit: Visit) -> Iterator[Diagnostic]:
    """Whether AWS counts costs by the tags of this project; only where the file has budgets."""
    if visit.environment.budgets is None:
        return
    found = visit.account.ce.list_cost_allocation_tags(TagKeys=list(NEEDED), Type="UserDefined")
    yield from diagnose_cost_tags({each["TagKey"]: each["Status"] for each in found["CostAllocationTags"]})


def certificate(visit: Visit, entry: Entry) -> Iterator[Diagnostic]:
    """Whether the certificate of a fleet's endpoint is issued."""
    arn = entry.fleet.endpoint.certificate_arn if isinstance(entry.fleet, InferenceFleet) else None
    if arn is None:
        return
    found = visit.account.find(_ABSENT, visit.account.acm.describe_certificate, CertificateArn=arn)
    details = found["Certificate"] if found else None
    seen = CertificateSeen(details.get("Status", ""), details.get("NotAfter")) if details else None
    yield from diagnose_certificate(arn, seen, visit.now)


def deployed(visit: Visit) -> Iterator[Diagnostic]:
    """The state of the environment's stacks."""
    reserving = [entry.fleet.name for entry in visit.entries if entry.plan.creates_reservation]
    seen, has_pools = visit.stacks.result().values(), bool(visit.environment.pool_fleets)
    is_hosted = bool(visit.environment.hosted_fleets)
    return diagnose_stacks(visit.environment.name, reserving, seen, has_pools=has_pools, is_hosted=is_hosted)


def price(visit: Visit, entry: Entry) -> Iterator[Diagnostic]:
    """The newest price that is known: the fleet's own, one that AWS was asked for, or the embedded one."""
    spec = newest(visit.account, visit.environment.name, entry.spec)
    return diagnose_price(spec, price_of(spec), visit.now.date())


OF_ENVIRONMENT: Final[Mapping[str, Callable[[Visit], Iterable[Diagnostic]]]] = {
    "stacks": deployed,
    "zones": zones,
    "quotas": quotas,
    "quotas of SageMaker": endpoint_quotas,
    "subnet addresses": addresses,
    "secrets": secrets,
    "cost allocation tags": cost_tags,
}
OF_FLEET: Final[Mapping[str, Callable[[Visit, Entry], Iterable[Diagnostic]]]] = {
    "offerings": offering,
    "reservations": reservation,
    "machine images": image,
    "security groups": security_groups,
    "launches": launch,
    "certificates": certificate,
    "prices": price,
}
