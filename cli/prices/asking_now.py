"""Having the deployed function read AWS's price lists now."""

from typing import Any, Final

from cli.account import AwsError
from cli.functions import FunctionFailedError, call
from environments.model import Environment
from fleet import naming

# The function has five minutes.
_SECONDS: Final = 310.0


def refresh(environment: Environment) -> dict[str, Any]:
    """What the function answers: ``refreshed``, ``problems``, ``absent``.

    Raises:
        AwsError: it is not deployed, does not answer, or could refresh nothing.
    """
    try:
        return call(environment, naming.prices_function(environment.name), {}, _SECONDS)
    except FunctionFailedError as error:
        raise AwsError(f"nothing was refreshed: {error}") from error
