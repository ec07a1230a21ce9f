"""The deployed rollout function, as the `fleet rollout` commands see it: the only place that speaks to AWS."""

import json
from typing import Any, Final

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from cli.account import AwsError, explained
from cli.progress import waiting
from environments.model import Environment
from fleet import naming

# The function may take a minute and a half. A command that is lost may be given again: by its id it is the same one.
_COMMAND: Final = Config(connect_timeout=5, read_timeout=100, retries={"mode": "standard", "total_max_attempts": 2})


class EngineError(AwsError):
    """AWS or the function did not do it; one line for the person who asked."""


def ask(environment: Environment, action: str, fleet: str, **more: str) -> dict[str, Any]:
    """Give the function a command; its answer, a report.

    Raises:
        EngineError: it is not deployed, does not answer, or refuses.
    """
    payload = {"action": action, "fleet": fleet, **more}
    name = naming.rollout_function(environment.name)
    try:
        client = boto3.client("lambda", region_name=environment.region, config=_COMMAND)
        with waiting(f"waiting for {name}"):
            answer = client.invoke(FunctionName=name, Payload=json.dumps(payload).encode())
        content: dict[str, Any] = json.loads(answer["Payload"].read())
    except (BotoCoreError, ClientError, ValueError) as error:
        raise EngineError(_reason(environment, error)) from error
    if answer.get("FunctionError"):
        what = content.get("errorMessage") or content.get("errorType") or "no answer"
        raise EngineError(f"the rollout function failed: {what}; its log says more")
    if "refused" in content:
        raise EngineError(f"refused: {content['refused']}")
    return content


def caller(environment: Environment) -> str:
    """Who asks, for the history; empty where STS does not say."""
    try:
        sts = boto3.client("sts", region_name=environment.region, config=_COMMAND)
        return str(sts.get_caller_identity()["Arn"])[:200]
    except (BotoCoreError, ClientError):
        return ""


def _reason(environment: Environment, error: Exception) -> str:
    if isinstance(error, ClientError) and error.response.get("Error", {}).get("Code") == "ResourceNotFoundException":
        return f"environment {environment.name} has no rollout function: deploy it, with an inference fleet in its file"
    return str(explained(error, f"lambda:Invoke of {naming.rollout_function(environment.name)}", environment.region))
