"""Every check by the name that people are told: those of the environment, and those of each of its fleets."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final

from cli.doctor.by_hand import certificate, cost_tags, secrets
from cli.doctor.images import image
from cli.doctor.launches import launch, security_groups
from cli.doctor.limits import addresses, endpoint_quotas, quotas
from cli.doctor.places import offering, zones
from cli.doctor.reserved import reservation
from cli.doctor.visit import Entry, Visit
from cli.prices.table import newest
from fleet.diagnostics import Diagnostic
from fleet.prices import price_of
from planning.preflight.prices import diagnose_price
from planning.preflight.stacks import diagnose_stacks


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
