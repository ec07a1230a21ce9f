"""The Lambda entry point: a tick of the clock, an event of AWS or what an agent logged makes the controller look.

Importing this module reads no environment variable and calls nothing.
"""

from datetime import UTC, datetime, timedelta
from functools import cache, lru_cache
from typing import Any, Final

from aws_lambda_powertools.utilities.typing import LambdaContext

from fleet.operations_metrics import POOL_PROBLEMS
from fleet.pool.observed import PoolDeployment
from lambdas.pool import adapters, service
from lambdas.pool.wakes import wake
from lambdas.shared.observability import emit, logger

FUNCTION: Final = "pool"
# A deployment may replace a pool's resources and leave this function as it is.
PLACES_LAST: Final = timedelta(minutes=5)


def lambda_handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    """Look at the pools that ``event`` is about, and do what follows.

    What went wrong is logged and counted, and tried again at the next tick.
    """
    log = logger(FUNCTION)
    log.clear_state()
    log.append_keys(request_id=context.aws_request_id)
    now = datetime.now(UTC)
    asked = wake(event, _places(int(now.timestamp() // PLACES_LAST.total_seconds())), now)
    for fleet, faults in asked.faults.items():
        _dependencies().jobs.note(fleet, faults)
        log.warning("told of faults", fleet=fleet, faults=[f"{each.instance_id}: {each.reason}" for each in faults])
    looks = service.look(_dependencies(), asked.places, now)
    for look in looks:
        for action in look.done:
            log.info("done", fleet=look.place.fleet, action=type(action).__name__, about=str(action)[:500])
    problems = [problem for look in looks for problem in look.problems]
    for problem in problems:
        log.error("not done", problem=problem)
    # A look at one pool says nothing of the others, and one that somebody else has says nothing at all.
    if len(looks) == len(_settings().fleets) and not any(look.is_skipped for look in looks):
        emit(POOL_PROBLEMS, len(problems), _settings().environment)
    return {"looked_at": [look.place.fleet for look in looks if not look.is_skipped], "problems": problems}


@cache
def _settings() -> adapters.Settings:
    return adapters.Settings.load()


@lru_cache(maxsize=1)
def _places(_when: int) -> tuple[PoolDeployment, ...]:
    return adapters.read_places(_settings())


@cache
def _dependencies() -> service.Dependencies:
    return adapters.dependencies(_settings())
