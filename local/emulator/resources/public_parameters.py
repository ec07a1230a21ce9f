"""The public SSM parameters under ``/aws/service`` that templates resolve: image ids and the Powertools layer."""

import hashlib
import re
from collections.abc import Callable
from typing import Final

_POWERTOOLS = re.compile(r"^/aws/service/powertools/python/(arm64|x86_64)/python3\.(\d+)/(\w+)$")
_POWERTOOLS_ACCOUNT: Final = "017000801446"


class PublicParameters(dict[str, str]):
    """Known parameters first; then an image id, the same for the same name, for each ``/aws/service/…/image_id``."""

    def __init__(self, known: dict[str, str], region_of_request: Callable[[], str]) -> None:
        super().__init__(known)
        self._region_of_request = region_of_request

    def get(self, name: str, default: str | None = None) -> str | None:  # type: ignore[override]  # values are never None
        """The value, or ``default`` for a name that AWS does not publish either."""
        if name in self:
            return self[name]
        if name.startswith("/aws/service/") and name.rsplit("/", 1)[-1] in ("image_id", "ami-id", "current"):
            return f"ami-{hashlib.sha256(name.encode()).hexdigest()[:17]}"
        match = _POWERTOOLS.match(name)
        if match is None:
            return default
        layer = f"AWSLambdaPowertoolsPythonV3-python3{match[2]}-{match[1]}:1"
        return f"arn:aws:lambda:{self._region_of_request()}:{_POWERTOOLS_ACCOUNT}:layer:{layer}"
