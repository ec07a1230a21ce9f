"""Having the deployed function read AWS's price lists now: the one call that may take minutes."""

import json
from typing import Any, Final

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from cli.jobs.account import AwsError
from environments.model import Environment
from fleet import naming

# The function has five minutes. It is asked once: a second run beside the first reads nothing else.
_PATIENT: Final = Config(connect_timeout=5, read_timeout=310, retries={"mode": "standard", "total_max_attempts": 1})


def refresh(environment: Environment) -> dict[str, Any]:
    """What the function answers: ``refreshed``, ``problems``, ``absent``.

    Raises:
        AwsError: it is not deployed, does not answer, or could refresh nothing.
    """
    name = naming.prices_function(environment.name)
    try:
        client: Any = boto3.client("lambda", region_name=environment.region, config=_PATIENT)
        answer = client.invoke(FunctionName=name, Payload=b"{}")
        content: dict[str, Any] = json.loads(answer["Payload"].read())
    except (BotoCoreError, ClientError, ValueError) as error:
        raise AwsError(f"{name} did not answer: {error}") from error
    if answer.get("FunctionError"):
        raise AwsError(f"nothing was refreshed: {content.get('errorMessage', 'the function failed; its log says why')}")
    return content
