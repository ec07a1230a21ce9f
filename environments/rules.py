"""What must hold within an environment file beyond the shape of each value."""

from collections import Counter
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Final, TypeGuard
from zoneinfo import ZoneInfo

from environments.alarms import lint_alarms
from environments.budget_rules import diagnose_budgets
from environments.fleet_entry_rules import diagnose_entry, owner_is_a_tag
from environments.fleet_specs import fleet_spec
from environments.fleets import Fleet, InferenceFleet, TrainingFleet
from environments.hosted_rules import belongs_to_sagemaker, diagnose_hosted
from environments.limit_rules import diagnose_limits
from environments.maintenance import Window
from environments.meant import as_meant
from environments.model import Environment
from environments.month_shape import over_cloudwatch_budget
from environments.network_rules import diagnose_network
from environments.paging_rules import diagnose_paging
from environments.stack_size import fits_its_stacks
from fleet.capacity import diagnose_fleet, quotas_needed
from fleet.diagnostics import Diagnostic, note, refuse, warn, with_known
from fleet.fleet_spec import FleetSpec, MarketKind

BLOCK_INSTANCES_OF_AN_ORGANIZATION: Final = 256


def diagnose_environment(environment: Environment, *, now: datetime | None = None) -> Iterator[Diagnostic]:
    """Everything that is wrong with a well-formed environment, and notes; ``now``: see ``diagnose_fleet``."""
    meant, misplaced = as_meant(environment)
    yield from misplaced
    if meant is not None:
        yield from _diagnose(meant, now)


def _diagnose(environment: Environment, now: datetime | None) -> Iterator[Diagnostic]:
    yield from owner_is_a_tag(environment.owner)
    yield from _names_differ(environment)
    yield from _hosted_names_differ(environment)
    specs = dict(_specs(environment))
    yield from diagnose_network(environment, specs)
    for index, fleet in enumerate(environment.fleets):
        place = f"fleets[{index}]"
        if _is_nowhere(fleet, environment):
            yield _unknown_zone(environment, fleet.availability_zone, place)
            continue
        if isinstance(fleet, InferenceFleet) and fleet.is_hosted:
            yield from (each.under(place) for each in diagnose_hosted(environment, fleet, now))
            continue
        if isinstance(fleet, InferenceFleet):
            yield from (each.under(place) for each in belongs_to_sagemaker(fleet))
        for diagnostic in diagnose_entry(environment, fleet):
            yield diagnostic.under(place)
        for diagnostic in diagnose_fleet(specs[index], now=now):
            yield diagnostic.under(place)
    yield from _reservations_are_not_shared(specs)
    yield from _blocks_are_within_the_limit(specs)
    yield from diagnose_paging(environment)
    yield from fits_its_stacks(environment)
    yield from diagnose_limits(environment)
    yield from _quotas(environment, specs)
    yield from over_cloudwatch_budget(environment)
    yield from diagnose_budgets(environment)
    yield from diagnose_maintenance(environment, now=now)
    yield from lint_alarms(environment)


def _specs(environment: Environment) -> Iterator[tuple[int, FleetSpec]]:
    """Of the fleets with nodes, by their place in the file, as far as it is known where their nodes lie."""
    for index, fleet in enumerate(environment.fleets):
        hosted = isinstance(fleet, InferenceFleet) and fleet.is_hosted
        if not hosted and not _is_nowhere(fleet, environment):
            yield index, fleet_spec(environment, fleet)


def _is_nowhere(fleet: Fleet, environment: Environment) -> TypeGuard[TrainingFleet]:
    zones = environment.network.availability_zones
    return isinstance(fleet, TrainingFleet) and fleet.availability_zone not in zones


def _names_differ(environment: Environment) -> Iterator[Diagnostic]:
    for name, times in Counter(fleet.name for fleet in environment.fleets).items():
        if times > 1:
            many = "two" if times == 2 else str(times)
            yield refuse(
                "fleet-name-twice", "fleets", name, f"{many} fleets are called {name}", "give each its own name"
            )


def _hosted_names_differ(environment: Environment) -> Iterator[Diagnostic]:
    # CloudFormation's own ids have letters and digits only, and those of SageMaker's endpoints are made of the name.
    seen: dict[str, str] = {}
    for fleet in environment.hosted_fleets:
        other = seen.setdefault(fleet.name.replace("-", ""), fleet.name)
        if other != fleet.name:
            yield refuse(
                "hosted-names-alike",
                "fleets",
                fleet.name,
                f"CloudFormation cannot tell {fleet.name} from {other}: without dashes they are one name",
                "give one of them a name that differs by a letter or a digit",
            )


def _unknown_zone(environment: Environment, zone: str, place: str) -> Diagnostic:
    return refuse(
        "unknown-zone",
        f"{place}.availability_zone",
        zone,
        f"{zone} is not one of network.availability_zones",
        f"{with_known(zone, environment.network.availability_zones)}; or add it there with its zone id",
    )


def _reservations_are_not_shared(specs: dict[int, FleetSpec]) -> Iterator[Diagnostic]:
    shared = Counter(spec.reserved.reservation_id for spec in specs.values())
    for index, spec in specs.items():
        reservation = spec.reserved.reservation_id
        if reservation and shared[reservation] > 1:
            yield warn(
                "reservation-shared",
                f"fleets[{index}].market.reservation_id",
                reservation,
                f"{shared[reservation]} fleets launch into {reservation}: each finds what the others left",
                "give each fleet its own, or make them one fleet",
            )


def _blocks_are_within_the_limit(specs: dict[int, FleetSpec]) -> Iterator[Diagnostic]:
    # EC2 user guide, Capacity Blocks: at most 256 instances on any one date, over all accounts of an organization.
    blocks = [spec for spec in specs.values() if spec.market is MarketKind.CAPACITY_BLOCK]
    instances = sum(spec.reserved.instances or spec.nodes for spec in blocks)
    if instances > BLOCK_INSTANCES_OF_AN_ORGANIZATION:
        yield warn(
            "many-capacity-blocks",
            "fleets",
            instances,
            f"{instances} instances in Capacity Blocks, and an organization may hold "
            f"{BLOCK_INSTANCES_OF_AN_ORGANIZATION} on one date",
            "let the blocks follow each other, or ask AWS",
        )


def _quotas(environment: Environment, specs: dict[int, FleetSpec]) -> Iterator[Diagnostic]:
    for need in quotas_needed(specs.values()):
        yield note(
            "quota-needed",
            "fleets",
            need.vcpus,
            f"all nodes need {need.vcpus} vCPUs of the quota {need.name} ({need.code}) in {environment.region}",
            f"see aws service-quotas get-service-quota --service-code ec2 --quota-code {need.code}",
        )


def diagnose_maintenance(environment: Environment, *, now: datetime | None) -> Iterator[Diagnostic]:
    """Fleets that there are not, names that are there twice, and windows that were over before ``now``."""
    fleets = [fleet.name for fleet in environment.fleets]
    names = Counter(window.name for window in environment.maintenance)
    for index, window in enumerate(environment.maintenance):
        place = f"maintenance[{index}]"
        for fleet in window.fleets:
            if fleet not in fleets:
                fix = f"use some of {', '.join(fleets)}, or leave fleets out for all of them"
                yield refuse("maintenance-unknown-fleet", f"{place}.fleets", fleet, f"there is no fleet {fleet}", fix)
        if names[window.name] > 1:
            twice = f"{names[window.name]} windows are called {window.name}"
            yield refuse("maintenance-name-twice", f"{place}.name", window.name, twice, "give each its own name")
        if now is not None and _is_over(window, now):
            over = "this window is over, and mutes nothing any more"
            yield warn("maintenance-is-over", f"{place}.at", f"{window.at:%Y-%m-%dT%H:%M}", over, "take it out")


def _is_over(window: Window, now: datetime) -> bool:
    if window.at is None:
        return False
    return window.at.replace(tzinfo=ZoneInfo(window.time_zone)) + timedelta(minutes=window.minutes) <= now
