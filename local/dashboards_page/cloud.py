"""The endpoint behind the page: CloudWatch and Logs through boto3, and the embedded AWS's own status and inbox."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol
from urllib.error import HTTPError, URLError
from urllib.request import urlopen

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError


class DashboardsPageError(Exception):
    """The page cannot be shown or filled; the message is one line for a person."""


class CloudWatch(Protocol):
    """The calls that the page makes."""

    def list_dashboards(self, **request: object) -> dict[str, Any]:
        """ListDashboards."""

    def get_dashboard(self, **request: object) -> dict[str, Any]:
        """GetDashboard."""

    def get_metric_data(self, **request: object) -> dict[str, Any]:
        """GetMetricData."""

    def describe_alarms(self, **request: object) -> dict[str, Any]:
        """DescribeAlarms."""


class Logs(Protocol):
    """Logs Insights."""

    def start_query(self, **request: object) -> dict[str, Any]:
        """StartQuery."""

    def get_query_results(self, **request: object) -> dict[str, Any]:
        """GetQueryResults."""


@dataclass(frozen=True, slots=True)
class Cloud:
    """``control`` asks the embedded AWS (``status``, ``inbox``) and answers None where there is none."""

    endpoint: str
    cloudwatch: CloudWatch
    logs: Logs
    control: Callable[[str], dict[str, Any] | None]


def connect(endpoint_url: str, region: str) -> Cloud:
    """Clients of an endpoint. Without credentials in the environment, placeholders: a local endpoint wants none."""
    session = boto3.Session(region_name=region)
    if session.get_credentials() is None:
        session = boto3.Session(region_name=region, aws_access_key_id="test", aws_secret_access_key="test")  # noqa: S106 a placeholder, no secret
    config = Config(connect_timeout=2, read_timeout=20, retries={"total_max_attempts": 2}, max_pool_connections=20)
    cloudwatch: CloudWatch = session.client("cloudwatch", endpoint_url=endpoint_url, config=config)
    logs: Logs = session.client("logs", endpoint_url=endpoint_url, config=config)
    return Cloud(endpoint_url, cloudwatch, logs, lambda path: _control(f"{endpoint_url.rstrip('/')}/_local/{path}"))


def explain(error: Exception, endpoint: str) -> str:
    """One line that says what to do about ``error``."""
    if isinstance(error, ClientError):
        problem = error.response.get("Error", {})
        return f"AWS at {endpoint} answered {problem.get('Code', 'an error')}: {problem.get('Message', '')}".strip(": ")
    if isinstance(error, BotoCoreError):
        return f"No AWS answers at {endpoint}: start it (fleet local up) or give another endpoint"
    return str(error)


def _control(url: str) -> dict[str, Any] | None:
    try:
        with urlopen(url, timeout=2) as answer:  # noqa: S310 the endpoint that the person gave
            found = json.load(answer)
    except (HTTPError, URLError, TimeoutError, ValueError):
        return None
    return found if isinstance(found, dict) else None
