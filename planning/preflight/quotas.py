"""Do the account's EC2 quotas allow every node, with what else runs in the account?"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from fleet.capacity import QuotaNeed
from fleet.diagnostics import Diagnostic, refuse, warn
from fleet.fleet_spec import MarketKind
from fleet.instances import catalogue
from planning.preflight.reservations import ReservationSeen

_LIVE: Final = frozenset({"pending", "active"})


@dataclass(frozen=True, slots=True)
class InstanceSeen:
    """One running instance. ``environment`` and ``fleet`` are tags; ``lifecycle`` is spot, capacity-block, or empty."""

    instance_type: str
    subnet_id: str
    lifecycle: str
    reservation_id: str | None
    environment: str | None
    fleet: str | None


def vcpus_of_others(
    instances: Iterable[InstanceSeen],
    reservations: Iterable[ReservationSeen],
    environment: str,
    own: Collection[str],
) -> dict[str, int]:
    """vCPUs by quota code that count for somebody else; ``own`` are ids of reservations that the file names.

    A reservation counts whether it is used or not (Service Quotas, "Running On-Demand instances"), so what runs inside
    one is not counted again. Capacity Blocks count against no quota.
    """
    counted: dict[str, int] = {}
    for held in reservations:
        if held.is_block or held.state not in _LIVE or held.environment == environment or held.reservation_id in own:
            continue
        _count(counted, held.instance_type, "on-demand", held.total)
    for instance in instances:
        ours = instance.environment == environment or instance.reservation_id in own
        if ours or instance.reservation_id or instance.lifecycle == MarketKind.CAPACITY_BLOCK:
            continue
        _count(counted, instance.instance_type, "spot" if instance.lifecycle == "spot" else "on-demand", 1)
    return counted


def _count(counted: dict[str, int], instance_type: str, kind: str, instances: int) -> None:
    known = catalogue().get(instance_type)
    code = known.quotas.get(kind) if known else None
    if known and code:
        counted[code] = counted.get(code, 0) + instances * known.vcpus


def diagnose_quotas(
    needs: Iterable[QuotaNeed], values: Mapping[str, float], others: Mapping[str, int], region: str
) -> Iterator[Diagnostic]:
    """Errors for quotas that are too low for the fleets alone, warnings for those that others use up."""
    for need in needs:
        value, used = values.get(need.code), others.get(need.code, 0)
        if value is None:
            yield warn(
                "quota-unknown",
                "fleets",
                need.code,
                f"Service Quotas knows no quota {need.code} ({need.name}) in {region}",
                f"look whether the account can run {need.vcpus} vCPUs of it",
            )
        elif need.vcpus > value:
            yield refuse(
                "quota-too-low",
                "fleets",
                need.code,
                f"the quota {need.name} ({need.code}) is {value:.0f} vCPUs, and all nodes need {need.vcpus}",
                _raise(need, need.vcpus + used, region),
            )
        elif need.vcpus + used > value:
            yield warn(
                "quota-used-by-others",
                "fleets",
                need.code,
                f"the quota {need.name} ({need.code}) is {value:.0f} vCPUs: all nodes need {need.vcpus}, and others "
                f"in the account use {used}",
                _raise(need, need.vcpus + used, region),
            )


def _raise(need: QuotaNeed, vcpus: int, region: str) -> str:
    return raise_quota("ec2", need.code, vcpus, region)


def raise_quota(service: str, code: str, value: int, region: str) -> str:
    """The command that asks AWS for more."""
    return (
        f"aws service-quotas request-service-quota-increase --region {region} --service-code {service} "
        f"--quota-code {code} --desired-value {value}"
    )
