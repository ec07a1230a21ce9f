"""The Lambda entry point: a tick of the clock or an event of EC2 makes the engine look, a person's command is answered.

Importing this module reads no environment variable and calls nothing.
"""

from datetime import UTC, datetime
from functools import cache
from typing import Any

from aws_lambda_powertools.utilities.typing import LambdaContext
from pydantic import ValidationError

from fleet.operations_metrics import CAPACITY_BLOCK_PROBLEMS
from lambdas.capacity_blocks import adapters, commands, service
from lambdas.capacity_blocks.commands import Command
from lambdas.shared import identity
from lambdas.shared.observability import emit, logger

FUNCTION = "capacity-blocks"


def lambda_handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    """Answer a command, or look at every block.

    What went wrong with single blocks is logged and counted, and tried again at the next tick; an error is raised only
    when nothing could be looked at, so that Lambda repeats the event.
    """
    log = logger(FUNCTION)
    log.clear_state()
    log.append_keys(request_id=context.aws_request_id)
    return _command(event) if "action" in event else _look()


def _look() -> dict[str, Any]:
    problems = service.look(_dependencies(), datetime.now(UTC))
    for problem in problems:
        logger(FUNCTION).error("not done", problem=problem)
    emit(CAPACITY_BLOCK_PROBLEMS, len(problems), _settings().environment)
    return {"problems": problems}


def _command(event: dict[str, Any]) -> dict[str, Any]:
    try:
        command = Command.model_validate(event)
    except ValidationError as error:
        return {"refused": "; ".join(f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors())}
    answer = commands.run(command, _settings().environment, _dependencies(), _caller, datetime.now(UTC))
    # Never the signed URL: it is good for a minute.
    logger(FUNCTION).info("command", action=command.action, of=command.request_id, refused=answer.get("refused"))
    return answer


def _caller(url: str, bound_to: str) -> str:
    return identity.caller(url, _settings().sts_host, bound_to, identity.get)


@cache
def _settings() -> adapters.Settings:
    return adapters.Settings.load()


@cache
def _dependencies() -> service.Dependencies:
    return adapters.dependencies(_settings())
