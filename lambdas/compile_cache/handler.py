"""The Lambda entry point: a step of the state machine asks what to do next.

Importing this module reads no environment variable and calls nothing.
"""

from datetime import UTC, datetime
from functools import cache
from typing import Any, Final

from aws_lambda_powertools.utilities.typing import LambdaContext

from fleet.operations_metrics import PRECOMPILATIONS_DONE, PRECOMPILATIONS_FAILED
from lambdas.compile_cache import adapters, service
from lambdas.shared.observability import emit, logger

FUNCTION: Final = "compile-cache"


def lambda_handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    """Answer ``event["action"]``, which is begin or conclude; an error makes Step Functions ask again, or give up."""
    log = logger(FUNCTION)
    log.clear_state()
    log.append_keys(request_id=context.aws_request_id, execution=event.get("execution"))
    now, execution = datetime.now(UTC).timestamp(), str(event["execution"])
    if event["action"] == "begin":
        answer = service.begin(_dependencies(), execution, event.get("request"), event.get("before"), now)
    else:
        answer = service.conclude(_dependencies(), execution, event["begun"], now)
        metric = PRECOMPILATIONS_DONE if answer["step"] == "ready" else PRECOMPILATIONS_FAILED
        emit(metric, 1, _settings().environment, prefix=answer["prefix"])
    log.info(answer["step"], prefix=answer.get("prefix"), reason=answer.get("reason"))
    return answer


@cache
def _settings() -> adapters.Settings:
    return adapters.Settings.load()


@cache
def _dependencies() -> adapters.Dependencies:
    return adapters.dependencies(_settings())
