"""One call to AWS, with one kind of error for everything that can become of it."""

from collections.abc import Callable
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from lambdas.prices.ports import Question


class NotReadError(Exception):
    """A price could not be read; one line for the log and for the price that stays as old as it is."""


def ask(action: str, question: Question, call: Callable[..., dict[str, Any]], **request: object) -> dict[str, Any]:
    """The answer. The client repeats what may be repeated, within its own limits.

    Raises:
        NotReadError: AWS refused, did not answer, or there is no time left to ask.
    """
    if not question.has_time():
        raise NotReadError(f"{action} was not asked: the function's time was up")
    try:
        return call(**request)
    except ClientError as error:
        details = error.response.get("Error", {})
        raise NotReadError(f"{action}: {details.get('Code', 'refused')}: {details.get('Message', '')}") from error
    except (BotoCoreError, ValueError) as error:
        # ValueError: what came is not even the protocol's JSON or XML.
        raise NotReadError(f"{action}: {type(error).__name__}: {error}") from error
