"""The Lambda entry point: a tick of the clock or an event of AWS makes the watch look.

Importing this module reads no environment variable and calls nothing.
"""

import json
import sys
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache, lru_cache
from typing import Any, Final

from aws_lambda_powertools.utilities.typing import LambdaContext

from fleet.instances import Price
from fleet.operations_metrics import CAPACITY_WATCH_PROBLEMS, DEPLOYMENTS_IN_PROGRESS
from fleet.reserved.observed import FleetDeployment
from lambdas.capacity_watch import adapters, events, service
from lambdas.capacity_watch.wakes import SPOT_WARNING, wake
from lambdas.shared.observability import emit, logger

FUNCTION: Final = "capacity-watch"
# A deployment may replace a fleet's resources and leave this function as it is.
PLACES_LAST: Final = timedelta(minutes=10)
# They are refreshed once a day.
PRICES_LAST: Final = timedelta(hours=1)
_PRICES: Final[dict[str, Sequence[Price]]] = {}
# How long the events of a fleet name the instances that EC2 takes back: until the alarm's ticket has been written.
NAMED_FOR: Final = timedelta(minutes=15)


@dataclass(frozen=True, slots=True)
class Warned:
    """An interruption that was counted."""

    event_id: str
    fleet: str
    instance_id: str
    at: datetime


# EventBridge may deliver an event twice, mostly within moments and to the same instance of a function. Another
# instance counts it again, and does not name it later: the alarm looks at the greatest value, and is the same.
_WARNED: Final = deque[Warned](maxlen=256)


class NotSeenError(Exception):
    """A warning of EC2 could not be counted."""


def lambda_handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    """Look at the fleets that ``event`` is about, and write an event of each.

    What went wrong with single fleets is logged and counted, and tried again at the next tick; an error is raised only
    when nothing could be looked at, so that Lambda repeats the event.
    """
    log = logger(FUNCTION)
    log.clear_state()
    log.append_keys(request_id=context.aws_request_id)
    is_warning = event.get("detail-type") == SPOT_WARNING
    if is_warning and any(warned.event_id == event.get("id") for warned in _WARNED):
        return {"looked_at": []}
    now = datetime.now(UTC)
    places = _places(int(now.timestamp() // PLACES_LAST.total_seconds()))
    asked = wake(event, places, _dependencies().nodes)
    prices, price_problems = _known_prices(now, places)
    looks = service.look(_dependencies(), asked.places, now, prices)
    if is_warning:
        _remember(event, looks, now)
    for look in looks:
        named = [w.instance_id for w in _WARNED if w.fleet == look.place.fleet and now - w.at < NAMED_FOR]
        _write(events.event(look, now, interruptions=len(asked.interrupted), interrupted=named))
    problems = [problem for look in looks for problem in look.problems]
    # A look at one fleet, or at none, says nothing of the others: it must not count as a minute without problems.
    is_whole = len(looks) == len(_settings().fleets)
    if is_whole:
        problems += [*price_problems, *service.left_behind(_dependencies(), _settings().environment, places)]
        problems += _count_deployments(now)
    for problem in problems:
        log.error("not done", problem=problem)
    if is_whole:
        emit(CAPACITY_WATCH_PROBLEMS, len(problems), _settings().environment)
    return {"looked_at": [look.place.fleet for look in looks], "problems": problems}


def _count_deployments(now: datetime) -> tuple[str, ...]:
    """Publish how many stacks are being changed; the problem where nobody knows, which then suppresses nothing."""
    try:
        changing = _dependencies().deployments.of(_settings().environment, now)
    except Exception as error:
        return (f"deployments: {type(error).__name__}: {error}",)
    emit(DEPLOYMENTS_IN_PROGRESS, len(changing), _settings().environment, stacks=", ".join(changing)[:1000])
    return ()


def _remember(event: dict[str, Any], looks: list[service.Look], now: datetime) -> None:
    instance_id = str(event["detail"]["instance-id"])
    # The clock does not come back to a warning as it does to everything else: Lambda has to.
    if any(look.assessment is None for look in looks):
        raise NotSeenError(
            f"the fleet of interrupted instance {instance_id} could not be looked at: {looks[0].problems}"
        )
    _WARNED.extend(Warned(str(event.get("id")), look.place.fleet, instance_id, now) for look in looks)


def _write(event: dict[str, Any] | None) -> None:
    if event is not None:
        sys.stdout.write(json.dumps(event, ensure_ascii=False, separators=(",", ":")) + "\n")
        sys.stdout.flush()


@cache
def _settings() -> adapters.Settings:
    return adapters.Settings.load()


@lru_cache(maxsize=1)
def _places(_when: int) -> tuple[FleetDeployment, ...]:
    return adapters.read_places(_settings())


@lru_cache(maxsize=1)
def _read_prices(_when: int, places: tuple[FleetDeployment, ...]) -> Mapping[str, Sequence[Price]]:
    return adapters.read_prices(_settings(), places)


def _known_prices(
    now: datetime, places: tuple[FleetDeployment, ...]
) -> tuple[Mapping[str, Sequence[Price]], tuple[str, ...]]:
    """Refreshed prices, and what was wrong with reading them: then those of the last time count."""
    try:
        _PRICES.update(_read_prices(int(now.timestamp() // PRICES_LAST.total_seconds()), places))
    except Exception as error:
        # Whatever it is, capacity is looked at; dollars are then counted at the prices that are known.
        return _PRICES, (f"prices: {type(error).__name__}: {error}",)
    return _PRICES, ()


@cache
def _dependencies() -> adapters.Dependencies:
    return adapters.dependencies()
