"""The Lambda entry point: once a day, and whenever a person asks, prices are refreshed.

Importing this module reads no environment variable and calls nothing.
"""

from datetime import UTC, datetime
from functools import cache
from typing import Any, Final

from aws_lambda_powertools.utilities.typing import LambdaContext

from fleet.instances import InstanceType, catalogue, instance_type
from fleet.operations_metrics import PRICE_PROBLEMS
from lambdas.prices import adapters, service
from lambdas.prices.source import Question
from lambdas.shared.observability import emit, logger

FUNCTION: Final = "prices"
# What is left for keeping what was read, when nothing more is asked for.
_SPARE_MILLISECONDS: Final = 60_000


def lambda_handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    """Refresh every price of the environment's types and region, and of the catalogue's types that are sold there.

    What could not be refreshed is logged, counted and tried again a day later; an error is raised only when nothing
    could be, so that Lambda repeats the event.
    """
    log = logger(FUNCTION)
    log.clear_state()
    log.append_keys(request_id=context.aws_request_id)
    question = Question(
        types=wanted_types(_settings()),
        region=_settings().region,
        now=datetime.now(UTC),
        has_time=lambda: context.get_remaining_time_in_millis() > _SPARE_MILLISECONDS,
    )
    try:
        done = service.refresh(_dependencies(), question)
    except service.NothingRefreshedError:
        emit(PRICE_PROBLEMS, 1, _settings().environment)
        raise
    for problem in done.problems:
        log.error("not refreshed", problem=problem)
    log.info("refreshed", prices=len(done.adopted), absent=list(done.absent))
    emit(PRICE_PROBLEMS, len(done.problems), _settings().environment)
    return {"refreshed": list(done.adopted), "problems": list(done.problems), "absent": list(done.absent)}


def wanted_types(of: adapters.Settings) -> tuple[InstanceType, ...]:
    """The environment's own types, whatever is known of their regions; then those that the region is known to sell."""
    own = [instance_type(name) for name in of.types]
    sold = [known for known in catalogue().values() if of.region in known.regions | known.capacity_block_regions]
    return tuple({known.name: known for known in (*own, *sold)}.values())


@cache
def _settings() -> adapters.Settings:
    return adapters.Settings.load()


@cache
def _dependencies() -> service.Dependencies:
    return adapters.dependencies(_settings())
