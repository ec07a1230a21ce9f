"""The deployed function that watches budgets, as the `fleet budget` commands see it."""

import json
from typing import Any, Final

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from cli.block_engine import signed_url
from cli.jobs.account import AwsError
from environments.model import Environment
from fleet import naming
from fleet.approval import BUDGET, binding

# It has three minutes. A decision whose answer is lost is looked up with `status`, and not repeated.
_PATIENT: Final = Config(connect_timeout=5, read_timeout=190, retries={"mode": "standard", "total_max_attempts": 1})
_ABSENT: Final = "ResourceNotFoundException"


def ask(environment: Environment, action: str, *, signed: bool = False) -> dict[str, Any]:
    """What the function answers: ``budgets``, ``stop``, ``closed``, ``may_stop``.

    Raises:
        AwsError: it is not deployed, does not answer, or refuses.
    """
    name = naming.budgets_function(environment.name)
    payload = {"action": action}
    try:
        if signed:
            payload["signed_url"] = signed_url(environment.region, binding(environment.name, action, BUDGET))
        client: Any = boto3.client("lambda", region_name=environment.region, config=_PATIENT)
        answer = client.invoke(FunctionName=name, Payload=json.dumps(payload).encode())
        content: dict[str, Any] = json.loads(answer["Payload"].read())
    except (BotoCoreError, ClientError, ValueError) as error:
        if isinstance(error, ClientError) and error.response.get("Error", {}).get("Code") == _ABSENT:
            raise AwsError(f"{name} is not deployed: cdk deploy -c env={environment.name} '**'", _ABSENT) from error
        raise AwsError(f"{name} did not answer: {error}") from error
    if answer.get("FunctionError"):
        raise AwsError(f"{name} failed: {content.get('errorMessage', 'its log says why')}")
    if "refused" in content:
        raise AwsError(f"refused: {content['refused']}")
    return content
