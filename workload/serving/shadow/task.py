"""Which task this process is: of which version, and on which side of the endpoint.

Both sides run the same task definition one after the other, so no variable in it can say; the cluster does. Source:
"Amazon ECS task metadata version 4 JSON response" of the ECS developer guide: ``Cluster`` is an ARN or a short name.
"""

import http.client
import json
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from workload.errors import ServingError

_TIMEOUT: Final = 2.0
_TRIES: Final = 5
_PAUSE: Final = 1.0


@dataclass(frozen=True, slots=True)
class Task:
    """``version`` is the task definition as people call it, ``chat:8``."""

    version: str
    task_id: str
    is_candidate: bool


def identify(address: str, candidates: str, pause: Callable[[float], None] = time.sleep) -> Task:
    """Ask the ECS agent at ``address``; ``candidates`` is the cluster of candidates.

    Raises:
        ServingError: it does not answer, or with something else.
    """
    reason = ""
    for _ in range(_TRIES):
        try:
            # The address is the ECS agent's, from the container's own environment.
            with urllib.request.urlopen(f"{address}/task", timeout=_TIMEOUT) as answer:  # noqa: S310 - see above
                told = json.loads(answer.read())
            return Task(
                version=f"{told['Family']}:{told['Revision']}",
                task_id=_last(told["TaskARN"]),
                is_candidate=_last(told["Cluster"]) == candidates,
            )
        except (OSError, http.client.HTTPException, ValueError, KeyError, TypeError) as error:
            reason = f"{type(error).__name__}: {error}"
            if isinstance(error, urllib.error.HTTPError):
                # An answer that says no is an open connection.
                error.close()
            pause(_PAUSE)
    raise ServingError(f"the ECS agent does not say which task this is: {reason}")


def _last(arn: str) -> str:
    return str(arn).rpartition("/")[2]
