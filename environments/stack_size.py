"""How large the template of alarms and dashboards becomes: the one that outgrows CloudFormation first.

Measured per fleet at the shortest and the longest names, and rounded up; what else has an alarm or a widget goes by the
fleet too. A test synthesizes an environment at the bound, and holds all of its stacks against the limits.
"""

from collections.abc import Iterator
from typing import Final

from environments.fleets import Fleet, InferenceFleet
from environments.model import Environment
from fleet.diagnostics import Diagnostic, refuse
from fleet.fleet_spec import MarketKind
from fleet.limits import LIMITS

_BASE: Final = 67_000
# Bytes of a fleet whose names are empty, and for each character of its and its environment's.
_ON_DEMAND: Final = (73_500, 230)
_OTHER_TRAINING: Final = (76_000, 230)
_ENDPOINT: Final = (100_500, 300)
_HOSTED: Final = (19_500, 100)
# A window names every alarm that it mutes, each on a line.
_ALARMS_OF_A_FLEET: Final = 27
_BESIDE_AN_ALARMS_NAMES: Final = 50


def fits_its_stacks(environment: Environment) -> Iterator[Diagnostic]:
    """An error where the template of alarms and dashboards would be larger than CloudFormation takes."""
    limit = LIMITS["stack-too-large"]
    size = _BASE + sum(_bytes(environment, fleet) for fleet in environment.fleets)
    if size > limit.most:
        yield refuse(
            "stack-too-large",
            "fleets",
            len(environment.fleets),
            f"the alarms and dashboards of {len(environment.fleets)} fleets come to {size / 1000:,.0f} kB, and "
            f"{limit.service} takes templates of {limit.most / 1000:,.0f} kB",
            "make environments of fewer fleets, or give them shorter names",
        )


def _bytes(environment: Environment, fleet: Fleet) -> int:
    names = len(environment.name) + len(fleet.name)
    base, each = _measured(fleet)
    windows = sum(fleet.name in window.fleets or not window.fleets for window in environment.maintenance)
    return base + each * names + windows * _ALARMS_OF_A_FLEET * (names + _BESIDE_AN_ALARMS_NAMES)


def _measured(fleet: Fleet) -> tuple[int, int]:
    if isinstance(fleet, InferenceFleet):
        return _HOSTED if fleet.is_hosted else _ENDPOINT
    is_plain = not fleet.is_pool and fleet.market_kind is MarketKind.ON_DEMAND
    return _ON_DEMAND if is_plain else _OTHER_TRAINING
