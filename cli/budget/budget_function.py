"""The deployed function that watches budgets, as the `fleet budget` commands see it."""

from typing import Any, Final

from botocore.exceptions import BotoCoreError, ClientError

from cli.account import AwsError, explained
from cli.block_engine import signed_url
from cli.functions import FunctionFailedError, call
from environments.model import Environment
from fleet import naming
from fleet.approval import BUDGET, binding

# It has three minutes. A decision whose answer is lost is looked up with `status`, and not repeated.
_SECONDS: Final = 190.0


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
        content = call(environment, name, payload, _SECONDS)
    except (BotoCoreError, ClientError) as error:
        raise explained(error, "sts:GetCallerIdentity", environment.region) from error
    except FunctionFailedError as error:
        raise AwsError(f"{name} failed: {error}") from error
    if "refused" in content:
        raise AwsError(f"refused: {content['refused']}")
    return content
