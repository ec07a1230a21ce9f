"""What an environment may cost in a month, as its owner wrote it down."""

from collections.abc import Mapping
from dataclasses import dataclass

from fleet.fleet_spec import MarketKind, Purpose
from fleet.string_enum import StringEnum

FORECAST_PERCENT = 100.0


class StopMode(StringEnum):
    """What happens when the month's budget is used up: nothing, a question to the approvers, or the stop itself."""

    NEVER = "never"
    ASK = "ask"
    AUTO = "auto"


@dataclass(frozen=True, slots=True)
class Budgets:
    """``usd`` of a calendar month (UTC), and of each owner in it. ``forecast_percent`` of it forecast is a ticket."""

    usd: float
    owners: Mapping[str, float]
    forecast_percent: float = FORECAST_PERCENT
    stop: StopMode = StopMode.NEVER


def may_be_stopped(purpose: Purpose, market: MarketKind) -> bool:
    """Whether a stop saves anything and harms nobody outside.

    What was paid in advance costs the same unused, and somebody waits behind an endpoint.
    """
    return purpose is Purpose.TRAINING and market in (MarketKind.ON_DEMAND, MarketKind.SPOT)
