"""The public SSM parameters under ``/aws/service`` that templates resolve: image ids and the Powertools layer."""

import hashlib
import re
from collections.abc import Callable
from typing import Final

_POWERTOOLS = re.compile(r"^/aws/service/powertools/python/(arm64|x86_64)/python3\.(\d+)/(\w+)$")
_POWERTOOLS_ACCOUNT: Final = "017000801446"


class PublicParameters(dict[str, str]):
    """Known parameters first; then an image id, the same for the same name, for each ``/aws/service/…/image_id``."""

    def __init__(
        self, known: dict[str, str], region_of_request: Callable[[], str], publish_image: Callable[[str, str], None]
    ) -> None:
        """``publish_image`` is told of each image id and its parameter before anybody can ask EC2 for the image."""
        super().__init__(known)
        self._region_of_request = region_of_request
        self._publish_image = publish_image

    def get(self, name: str, default: str | None = None) -> str | None:  # type: ignore[override]  # values are never None
        """The value, or ``default`` for a name that AWS does not publish either."""
        if name in self:
            return self[name]
        if name.startswith("/aws/service/") and name.rsplit("/", 1)[-1] in ("image_id", "ami-id", "current"):
            image_id = f"ami-{hashlib.sha256(name.encode()).hexdigest()[:17]}"
            self._publish_image(image_id, name)
            return image_id
        match = _POWERTOOLS.match(name)
        if match is None:
            return default
        layer = f"AWSLambdaPowertoolsPythonV3-python3{match[2]}-{match[1]}:1"
        return f"arn:aws:lambda:{self._region_of_request()}:{_POWERTOOLS_ACCOUNT}:layer:{layer}"
