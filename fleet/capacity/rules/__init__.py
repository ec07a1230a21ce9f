"""Why a fleet cannot be built as asked, or should not be: one rule each, in the order in which a person would fix them.

A rule is a function of a ``Case`` that yields diagnostics; a new rule is a function more in its module's ``RULES``.
Paths are relative to the fleet's entry in the environment file.
"""

from datetime import datetime
from typing import Final

from fleet.capacity.rules import (
    capacity_block,
    efa,
    machine_image,
    market,
    offering,
    placement,
    pool,
    reservation,
    scale,
    software,
)
from fleet.capacity.rules.case import Case, Rule
from fleet.diagnostics import Diagnostic, refuse
from fleet.fleet_spec import FleetSpec
from fleet.instances import UnknownInstanceTypeError, instance_type

RULES: Final[tuple[Rule, ...]] = (
    *offering.RULES,
    *efa.RULES,
    *market.RULES,
    *capacity_block.RULES,
    *reservation.RULES,
    *placement.RULES,
    *software.RULES,
    *machine_image.RULES,
    *scale.RULES,
    *offering.ALTERNATIVES,
    *pool.RULES,
)


def diagnose_fleet(spec: FleetSpec, *, now: datetime | None = None) -> tuple[Diagnostic, ...]:
    """Everything that is wrong with ``spec``, and notes; without an error it can be built.

    ``now`` is the moment for which dates are judged. What has ended by then is a warning, never an error: the same
    file must not be right today and refused tomorrow, in the middle of somebody else's deployment.
    """
    try:
        known = instance_type(spec.instance_type)
    except UnknownInstanceTypeError as error:
        return (refuse(error.code, "instance_type", spec.instance_type, error.what, error.fix),)
    case = Case(spec, known, now)
    return tuple(diagnostic for rule in RULES for diagnostic in rule(case))
