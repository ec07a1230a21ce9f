"""AWS clients of the embedded AWS that a test is pointed at."""

from typing import Any

import boto3


def client(service: str) -> Any:
    """An AWS client for whatever the process's environment points at."""
    return boto3.client(service)  # type: ignore[call-overload]  # the service is a variable
