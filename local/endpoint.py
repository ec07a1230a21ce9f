"""How programs of this machine are pointed at the embedded AWS, and nowhere else."""

import os
from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import Any, Final
from unittest.mock import patch

# Not a secret: the embedded AWS accepts any pair, and a real account accepts none of this kind.
_CREDENTIALS: Final = {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test"}


def aws_environment(endpoint_url: str, account: str, region: str) -> dict[str, str]:
    """This process's environment with every AWS setting replaced: no profile or credential of a person is used."""
    own = {name: value for name, value in os.environ.items() if not name.startswith(("AWS_", "CDK_"))}
    return {
        **own,
        **_CREDENTIALS,
        "AWS_ENDPOINT_URL": endpoint_url,
        "AWS_REGION": region,
        "AWS_DEFAULT_REGION": region,
        "AWS_CONFIG_FILE": os.devnull,
        "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
        "AWS_EC2_METADATA_DISABLED": "true",
        "CDK_DEFAULT_ACCOUNT": account,
        "CDK_DEFAULT_REGION": region,
        "CDK_DISABLE_CLI_TELEMETRY": "true",
        "CDK_DISABLE_VERSION_CHECK": "true",
        "CI": "true",
        "NO_COLOR": "1",
    }


def pointed_at(environment: Mapping[str, str]) -> AbstractContextManager[Any]:
    """This process itself under ``environment``, until the context ends."""
    return patch.dict(os.environ, environment, clear=True)
