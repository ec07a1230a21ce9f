"""The endpoint behind the page: CloudWatch and Logs through boto3, and the embedded AWS's own status and inbox."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final
from urllib.request import urlopen

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from planning.preflight.account import no_credentials

if TYPE_CHECKING:
    from mypy_boto3_cloudwatch import CloudWatchClient
    from mypy_boto3_logs import CloudWatchLogsClient

# Longer than the embedded AWS holds the question.
CHANGE_SECONDS: Final = 6.0


class DashboardsPageError(Exception):
    """The page cannot be shown or filled; the message is one line for a person."""


@dataclass(frozen=True, slots=True)
class Cloud:
    """``control`` asks the embedded AWS (``status``, ``inbox``); ``changed`` waits until it has changed after a count.

    Both answer None where nobody tells: in a real account.
    """

    endpoint: str
    cloudwatch: "CloudWatchClient"
    logs: "CloudWatchLogsClient"
    control: Callable[[str], dict[str, Any] | None]
    changed: Callable[[int], int | None] = lambda _: None


def connect(endpoint_url: str, region: str) -> Cloud:
    """Clients of an endpoint. Without credentials in the environment, placeholders: a local endpoint wants none."""
    session = boto3.Session(region_name=region)
    if session.get_credentials() is None:
        session = boto3.Session(region_name=region, aws_access_key_id="test", aws_secret_access_key="test")  # noqa: S106 a placeholder, no secret
    cloudwatch, logs = _clients(session, endpoint_url)
    local = f"{endpoint_url.rstrip('/')}/_local"
    return Cloud(
        endpoint_url, cloudwatch, logs, lambda path: _control(f"{local}/{path}"), lambda count: _changed(local, count)
    )


def connect_account(region: str, profile: str | None) -> Cloud:
    """Clients of a real account, with the credentials of ``profile`` or those that boto3 finds by itself.

    Raises:
        DashboardsPageError: there is no such profile, or there are no credentials.
    """
    try:
        session = boto3.Session(region_name=region, profile_name=profile)
        found = session.get_credentials()
    except BotoCoreError as error:
        raise DashboardsPageError(_without_credentials(str(error))) from error
    if found is None:
        raise DashboardsPageError(_without_credentials("Unable to locate credentials"))
    cloudwatch, logs = _clients(session, None)
    return Cloud(f"AWS {region}", cloudwatch, logs, lambda _: None)


def _without_credentials(why: str) -> str:
    finding = no_credentials(why)
    return f"{finding.message}; {finding.fix}"


def _clients(session: boto3.Session, endpoint_url: str | None) -> "tuple[CloudWatchClient, CloudWatchLogsClient]":
    config = Config(connect_timeout=2, read_timeout=20, retries={"total_max_attempts": 2}, max_pool_connections=20)
    return (
        session.client("cloudwatch", endpoint_url=endpoint_url, config=config),
        session.client("logs", endpoint_url=endpoint_url, config=config),
    )


def explain(error: Exception, endpoint: str) -> str:
    """One line that says what to do about ``error``."""
    if isinstance(error, ClientError):
        problem = error.response.get("Error", {})
        return f"{_at(endpoint)} answered {problem.get('Code', 'an error')}: {problem.get('Message', '')}".strip(": ")
    if isinstance(error, BotoCoreError):
        if not endpoint.startswith("http"):
            return f"{endpoint} does not answer: {error}"
        return f"No AWS answers at {endpoint}: start it (fleet local up) or give another endpoint"
    return str(error)


def _at(endpoint: str) -> str:
    return f"AWS at {endpoint}" if endpoint.startswith("http") else endpoint


def _control(url: str, body: bytes | None = None, seconds: float = 2) -> dict[str, Any] | None:
    try:
        with urlopen(url, data=body, timeout=seconds) as answer:  # noqa: S310 the endpoint that the person gave
            found = json.load(answer)
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) else None


def _changed(local: str, count: int) -> int | None:
    answer = _control(f"{local}/changes", json.dumps({"after": count}).encode(), CHANGE_SECONDS)
    return None if answer is None else answer.get("changes")
