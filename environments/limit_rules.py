"""What must hold because services allow no more: ``fleet.limits`` has each limit, its source and its code."""

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from environments.fleets import InferenceFleet
from environments.model import Environment
from fleet import naming
from fleet.diagnostics import Diagnostic, refuse
from fleet.limits import LIMITS
from fleet.rollout.history import MOST_EVENTS, most_events
from fleet.rollout.plan import Plan

# What the Capacity Block engine is told of each fleet beside the fleet's names, mostly two ARNs, and what besides.
BYTES_OF_A_BLOCK_FLEET: Final = 440
BYTES_OF_AN_ENGINE: Final = 480
# Where an endpoint is served, in ARNs and names of both sides: what a rollout's parameter holds beside its plan.
BYTES_OF_A_PLACE: Final = 2_300
# With the tags and the image of a model besides.
BYTES_OF_A_HOSTED_PLACE: Final = 2_900
# What stands beside a fleet's own name in some stack. A test holds it against the stacks.
PARTS: Final = ("first", "instances", "place", "scaling", "served")
# What their controller's role may do fills IAM's policies: eight fleets of the longest names fit, which a test
# synthesizes, and ten of the shortest do not.
MOST_POOL_FLEETS: Final = 8
_LOOKS: Final = (30, 45, 60)


def diagnose_limits(environment: Environment) -> Iterator[Diagnostic]:
    """Everything that is beyond a limit and that no other rule counts."""
    yield from _rollouts(environment)
    yield from _fits_its_engine(environment)
    yield from _fits_its_controller(environment)
    yield from _budgets(environment)
    yield from _windows_differ(environment)
    yield from _fleets_differ_from_parts(environment)


def _rollouts(environment: Environment) -> Iterator[Diagnostic]:
    for index, fleet in enumerate(environment.fleets):
        if not isinstance(fleet, InferenceFleet):
            continue
        rollout, place = fleet.endpoint.rollout, f"fleets[{index}].endpoint.rollout"
        events = most_events(rollout.plan())
        if events > MOST_EVENTS:
            limit = LIMITS["rollout-outlives-its-execution"]
            yield refuse(
                "rollout-outlives-its-execution",
                place,
                round(events),
                f"a rollout that takes as long as it may has {events:,.0f} events, and {limit.service} ends an "
                f"execution at {limit.most:,}, of which looks may fill {MOST_EVENTS:,}",
                _shorter(rollout.plan()),
            )
        told = _written(rollout.model_dump(mode="json")) + _bytes_of_artifact(fleet.endpoint.artifact)
        if fleet.is_hosted:
            # What SageMaker's container is told stands there too.
            told += _written([fleet.endpoint.sequence_lengths, fleet.endpoint.batch_sizes])
        most = LIMITS["parameter-too-large"].most
        most -= BYTES_OF_A_HOSTED_PLACE if fleet.is_hosted else BYTES_OF_A_PLACE
        if told > most:
            wrong = f"plan, artifact and buckets take {told:,} bytes of the {most:,} that a parameter has for them"
            yield refuse(
                "parameter-too-large", place, told, wrong, "name fewer alarms in gates.alarms, or fewer buckets"
            )


def _written(plan: object) -> int:
    # As the parameter has it: a letter that is not ASCII takes six bytes.
    return len(json.dumps(plan, separators=(",", ":")))


def _bytes_of_artifact(artifact: object) -> int:
    return len(str(artifact).encode()) if artifact else 0


def _shorter(plan: Plan) -> str:
    for seconds in _LOOKS:
        if seconds > plan.look_seconds and most_events(replace(plan, look_seconds=seconds)) <= MOST_EVENTS:
            return f"use look_seconds: {seconds}, or fewer steps, or shorter times"
    return "use fewer steps or shorter times"


def _fits_its_engine(environment: Environment) -> Iterator[Diagnostic]:
    fleets = environment.block_fleets
    told = sum(BYTES_OF_A_BLOCK_FLEET for _ in fleets)
    told += BYTES_OF_AN_ENGINE + sum(len(approver.encode()) + 4 for approver in environment.approvers)
    most = LIMITS["capacity-block-engine-full"].most
    if told > most:
        yield refuse(
            "capacity-block-engine-full",
            "fleets",
            len(fleets),
            f"{len(fleets)} fleets in Capacity Blocks and {len(environment.approvers)} approvers do not fit into the "
            f"{most:,} bytes that Lambda gives the engine's environment variables",
            "divide them among environments, or let a role approve that several people may take",
        )


def _fits_its_controller(environment: Environment) -> Iterator[Diagnostic]:
    pools = len(environment.pool_fleets)
    if pools > MOST_POOL_FLEETS:
        wrong = f"the rights of one controller over {pools} pools do not fit into the policies of a role"
        fix = f"make environments of at most {MOST_POOL_FLEETS} fleets with engine: pool"
        yield refuse("role-policy-too-large", "fleets", pools, wrong, fix)


def _budgets(environment: Environment) -> Iterator[Diagnostic]:
    owners = environment.budgets.owners if environment.budgets else {}
    most = LIMITS["budget-name-too-long"].most
    seen: dict[str, str] = {}
    for owner in owners:
        place, name = f"budgets.owners.{owner}", naming.budget_name(environment.name, owner)
        if len(name) > most:
            wrong = f"the budget would be called {name[:40]}…, of {len(name)} characters; AWS Budgets takes {most}"
            yield refuse("budget-name-too-long", place, owner, wrong, f"use {most - len(name) + len(owner)} at most")
        if "/action/" in name:
            yield refuse("budget-name-refused", place, owner, "AWS Budgets takes no name with /action/", "rename it")
        other = seen.setdefault(letters(owner), owner)
        if other != owner:
            wrong = (
                f"CloudFormation cannot tell the budget of {owner} from that of {other}: only letters and digits count"
            )
            yield refuse("budget-owners-alike", place, owner, wrong, "leave one of them out")


def _windows_differ(environment: Environment) -> Iterator[Diagnostic]:
    seen: dict[str, str] = {}
    for index, window in enumerate(environment.maintenance):
        other = seen.setdefault(letters(window.name), window.name)
        if other != window.name:
            wrong = f"CloudFormation cannot tell {window.name} from {other}: without dashes they are one name"
            fix = "give one of them a name that differs by a letter or a digit"
            yield refuse("maintenance-names-alike", f"maintenance[{index}].name", window.name, wrong, fix)


def _fleets_differ_from_parts(environment: Environment) -> Iterator[Diagnostic]:
    # Parts of a fleet stand beside other fleets in the templates, under its name and what they are.
    parts = {f"{fleet.name}-{part}": fleet.name for fleet in environment.fleets for part in PARTS}
    hosted = {letters(f"{fleet.name}-{part}"): fleet.name for fleet in environment.hosted_fleets for part in PARTS}
    for index, fleet in enumerate(environment.fleets):
        other = parts.get(fleet.name)
        if other is None and fleet in environment.hosted_fleets:
            other = hosted.get(letters(fleet.name))
        if other is not None:
            wrong = f"a part of {other} has that name in the templates"
            yield refuse("fleet-named-as-a-part", f"fleets[{index}].name", fleet.name, wrong, "give it another name")


def letters(name: str) -> str:
    """What of a name is left in an id of CloudFormation."""
    return re.sub(r"[^A-Za-z0-9]", "", name)
