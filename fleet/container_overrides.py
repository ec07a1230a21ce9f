"""How much a job may tell its container: a command and variables beyond those of the image.

ECS takes 8,192 characters of overrides, JSON and all (ECS API reference, RunTask and StartTask), and so AWS Batch fails
a job that has more, with "Container Overrides length must be at most 8192", after it has taken it with SubmitJob. What
AWS Batch and the platform tell every container goes off that.
"""

import json
from collections.abc import Iterable, Sequence
from typing import Final

LONGEST: Final = 6000
"""Characters that are left to whoever submits."""


def length(command: Sequence[str], variables: Iterable[tuple[str, str]] = ()) -> int:
    """Characters of JSON, as they count."""
    return len(json.dumps([list(command), [{"name": name, "value": value} for name, value in variables]]))
