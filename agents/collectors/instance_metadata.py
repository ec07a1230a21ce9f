"""The node's own name, from instance metadata (IMDSv2). Asked once, at start."""

import logging
import urllib.request
from typing import Final

logger = logging.getLogger(__name__)
_ENDPOINT: Final = "http://169.254.169.254/latest"
_TIMEOUT: Final = 1.0


def instance_id(endpoint: str = _ENDPOINT) -> str:
    """This instance's id; empty where there is no instance metadata."""
    token = urllib.request.Request(  # noqa: S310 - a fixed http address of the host itself
        f"{endpoint}/api/token", method="PUT", headers={"X-aws-ec2-metadata-token-ttl-seconds": "60"}
    )
    try:
        secret = _read(token)
        name = urllib.request.Request(  # noqa: S310 - as above
            f"{endpoint}/meta-data/instance-id", headers={"X-aws-ec2-metadata-token": secret}
        )
        return _read(name)
    except OSError as error:
        logger.warning("no instance metadata: %s", error)
        return ""


def _read(request: urllib.request.Request) -> str:
    # Without a proxy: the address is link-local.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(request, timeout=_TIMEOUT) as response:
        text: str = response.read().decode("ascii")
    return text.strip()
