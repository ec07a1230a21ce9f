"""A deployed function, called once: what it does may take minutes, and a second run beside the first helps nobody."""

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from cli.account import AwsError, explained
from cli.progress import waiting
from environments.model import Environment

ABSENT: Final = "ResourceNotFoundException"


class FunctionFailedError(AwsError):
    """The function ran, and raised; the message is its own, ``code`` its error's type."""


def call(
    environment: Environment, name: str, payload: Mapping[str, object], seconds: float, *, attempts: int = 1
) -> dict[str, Any]:
    """What the function called ``name`` answers within ``seconds``; ``attempts`` where a second run harms nothing.

    Raises:
        FunctionFailedError: it failed.
        AwsError: it is not deployed, does not answer, or may not be called.
    """
    patient = Config(
        connect_timeout=5, read_timeout=seconds, retries={"mode": "standard", "total_max_attempts": attempts}
    )
    try:
        client = boto3.client("lambda", region_name=environment.region, config=patient)
        with waiting(f"waiting for {name}"):
            answer = client.invoke(FunctionName=name, Payload=json.dumps(payload, default=datetime.isoformat).encode())
        content: dict[str, Any] = json.loads(answer["Payload"].read())
    except (BotoCoreError, ClientError, ValueError) as error:
        if isinstance(error, ClientError) and error.response.get("Error", {}).get("Code") == ABSENT:
            raise AwsError(f"{name} is not deployed: cdk deploy -c env={environment.name} '**'", ABSENT) from error
        raise explained(error, f"lambda:Invoke of {name}", environment.region) from error
    if answer.get("FunctionError"):
        what = content.get("errorMessage") or content.get("errorType") or "its log says why"
        raise FunctionFailedError(str(what), str(content.get("errorType", "no answer")))
    return content
