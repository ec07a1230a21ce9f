"""The Lambda entry point: the state machine makes it look, a person's command is answered.

Importing this module reads no environment variable and calls nothing.
"""

from datetime import UTC, datetime
from functools import cache
from typing import Any, Final

from aws_lambda_powertools.utilities.typing import LambdaContext
from pydantic import BaseModel, ConfigDict, ValidationError

from fleet.operations_metrics import ROLLOUTS_IN_PROGRESS, ROLLOUTS_NOT_DONE
from fleet.rollout.facts import RolloutPlace
from lambdas.rollout import adapters, commands, service
from lambdas.rollout.commands import Command
from lambdas.rollout.ports import Dependencies
from lambdas.shared.observability import emit, logger

FUNCTION: Final = "rollout"
_DONE: Final = "done"


class Look(BaseModel):
    """The event of the state machine."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    fleet: str
    rollout_id: str
    fence: int


def lambda_handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    """Answer a command, or drive a rollout by one step.

    An error is raised when the step could not be made: the state machine asks again.
    """
    log = logger(FUNCTION)
    log.clear_state()
    log.append_keys(request_id=context.aws_request_id)
    return _command(event) if "action" in event else _look(Look.model_validate(event))


def _look(look: Look) -> dict[str, Any]:
    place = adapters.read_place(_settings(), look.fleet)
    if place is None:
        raise LookupError(f"fleet {look.fleet} has no endpoint any more")
    report = service.look(_dependencies(place), place, look.rollout_id, look.fence, datetime.now(UTC))
    logger(FUNCTION).info("look", **report)
    environment = _settings().environment
    emit(ROLLOUTS_IN_PROGRESS, 0 if report["is_over"] else 1, environment, fleet=look.fleet)
    # Of a rollout that another execution goes on with, that one will tell.
    if report["is_over"] and report["outcome"] != service.SUPERSEDED:
        emit(ROLLOUTS_NOT_DONE, 0 if report["outcome"] == _DONE else 1, environment, fleet=look.fleet)
    return report


def _command(event: dict[str, Any]) -> dict[str, Any]:
    try:
        command = Command.model_validate(event)
    except ValidationError as error:
        return {"refused": "; ".join(f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors())}
    place = adapters.read_place(_settings(), command.fleet)
    if place is None:
        return {"refused": f"fleet {command.fleet} serves no endpoint in {_settings().environment}, as deployed"}
    answer = commands.run(command, _dependencies(place), place, datetime.now(UTC))
    logger(FUNCTION).info("command", action=command.action, fleet=command.fleet, refused=answer.get("refused"))
    return answer


@cache
def _settings() -> adapters.Settings:
    return adapters.Settings.load()


def _dependencies(place: RolloutPlace) -> Dependencies:
    on_ecs = _of_ecs()
    # Never kept: it has read what it has read.
    return adapters.of_sagemaker(on_ecs, place.hosted) if place.hosted else on_ecs


@cache
def _of_ecs() -> Dependencies:
    return adapters.of_ecs(_settings())
