"""Do the account's quotas leave room for a new version of an endpoint, which comes up beside the old one?

Without it a deployment succeeds, the endpoint serves, and the first rollout goes back.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

from fleet.capacity import quotas_needed
from fleet.diagnostics import Diagnostic, refuse, warn
from fleet.fleet_spec import FleetSpec, MarketKind, Reserved
from fleet.hosting.sizes import DURING_A_ROLLOUT, SERVICE, quota_code, quota_name
from planning.preflight.quotas import raise_quota

TOO_LOW: Final = "quota-too-low-for-rollout"


@dataclass(frozen=True, slots=True)
class HostedNeed:
    """An endpoint that SageMaker runs, by fleet name, and the most instances that it has between rollouts."""

    fleet: str
    instance_type: str
    instances: int


def diagnose_candidates(
    endpoints: Iterable[FleetSpec],
    all_nodes: Mapping[str, int],
    values: Mapping[str, float],
    others: Mapping[str, int],
    region: str,
) -> Iterator[Diagnostic]:
    """Warnings for ``endpoints`` on nodes of the account; the mappings are vCPUs by quota code.

    The candidate's nodes are as many as the endpoint's at its last step, on demand or Spot, beside any reservation.
    ``all_nodes`` is what all fleets need without one. One rollout at a time is asked for; a quota that does not hold
    all fleets is another finding.
    """
    for spec in endpoints:
        market = MarketKind.SPOT if spec.market is MarketKind.SPOT else MarketKind.ON_DEMAND
        for need in quotas_needed([replace(spec, market=market, reserved=Reserved())]):
            value, used = values.get(need.code), all_nodes.get(need.code, 0) + others.get(need.code, 0)
            if value is None or used > value or used + need.vcpus <= value:
                continue
            yield warn(
                TOO_LOW,
                "fleets",
                spec.name,
                f"the quota {need.name} ({need.code}) is {value:.0f} vCPUs: all nodes and others in the account use "
                f"{used}, and a new version of {spec.name} needs {need.vcpus} more while it takes over",
                raise_quota("ec2", need.code, used + need.vcpus, region),
            )


def diagnose_hosted_quotas(
    needs: Iterable[HostedNeed], seen: Mapping[str, tuple[str, float]], region: str
) -> Iterator[Diagnostic]:
    """Of endpoints that SageMaker runs. ``seen`` is name and value, in instances, by quota code.

    An error where the endpoints do not fit, a warning where a new version of the largest does not. SageMaker does not
    say what else in the account uses a quota.
    """
    by_type: dict[str, list[HostedNeed]] = {}
    for each in needs:
        by_type.setdefault(each.instance_type, []).append(each)
    for instance_type, endpoints in by_type.items():
        yield from _of_type(instance_type, endpoints, seen, region)


def _of_type(
    instance_type: str, endpoints: list[HostedNeed], seen: Mapping[str, tuple[str, float]], region: str
) -> Iterator[Diagnostic]:
    name, code = quota_name(instance_type), quota_code(instance_type) or ""
    largest = max(endpoints, key=lambda each: each.instances)
    always = sum(each.instances for each in endpoints)
    more = (DURING_A_ROLLOUT - 1) * largest.instances
    found, value = seen.get(code, ("", 0.0))
    if found != name:
        yield warn(
            "quota-unknown",
            "fleets",
            name,
            f"Service Quotas knows no quota {name} by the code {code} in {region}",
            f"look there, under Amazon SageMaker, whether it is {always + more} instances",
        )
        return
    text = f"the quota {name} ({code}) is {value:.0f} instances, and the endpoints have up to {always}"
    fix = raise_quota(SERVICE, code, always + more, region)
    if always > value:
        yield refuse("quota-too-low", "fleets", code, text, fix)
    elif always + more > value:
        said = (
            f"{text}: a new version of {largest.fleet} needs up to {more} more while SageMaker changes configurations"
        )
        yield warn(TOO_LOW, "fleets", largest.fleet, said, fix)
