"""boto3's clients as commands use them: each call goes through one place, with time limits and words for errors."""

from collections.abc import Callable, Iterator
from functools import partial
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mypy_boto3_batch import BatchClient
    from mypy_boto3_ce import CostExplorerClient
    from mypy_boto3_cloudformation import CloudFormationClient
    from mypy_boto3_cloudwatch import CloudWatchClient
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_ec2 import EC2Client
    from mypy_boto3_ecs import ECSClient
    from mypy_boto3_logs import CloudWatchLogsClient
    from mypy_boto3_resource_groups import ResourceGroupsClient
    from mypy_boto3_s3 import S3Client
    from mypy_boto3_secretsmanager import SecretsManagerClient
    from mypy_boto3_service_quotas import ServiceQuotasClient
    from mypy_boto3_sns import SNSClient
    from mypy_boto3_ssm import SSMClient
    from mypy_boto3_stepfunctions import SFNClient
    from mypy_boto3_sts import STSClient

Ask = Callable[..., Any]
"""``ask(service, method, **request)`` answers as boto3 does."""
Pages = Callable[..., Iterator[Any]]
"""As ``Ask``, for every page of the answer."""


class Clients:
    """The client of each service, with the types that boto3's have; no client is made before it is asked."""

    batch: "BatchClient"
    ce: "CostExplorerClient"
    cloudformation: "CloudFormationClient"
    cloudwatch: "CloudWatchClient"
    dynamodb: "DynamoDBClient"
    ec2: "EC2Client"
    ecs: "ECSClient"
    logs: "CloudWatchLogsClient"
    resource_groups: "ResourceGroupsClient"
    s3: "S3Client"
    secretsmanager: "SecretsManagerClient"
    service_quotas: "ServiceQuotasClient"
    sns: "SNSClient"
    ssm: "SSMClient"
    stepfunctions: "SFNClient"
    sts: "STSClient"
    # Asked for one thing each: their shapes are not installed.
    acm: Any
    ecr: Any

    def __init__(self, ask: Ask, pages: Pages) -> None:
        for name in Clients.__annotations__:
            setattr(self, name, _Client(ask, pages, name.replace("_", "-")))


class _Client:
    def __init__(self, ask: Ask, pages: Pages, service: str) -> None:
        self._ask, self._pages, self._service = ask, pages, service

    def __getattr__(self, method: str) -> Ask:
        return partial(self._ask, self._service, method)

    def get_paginator(self, method: str) -> SimpleNamespace:
        return SimpleNamespace(paginate=partial(self._pages, self._service, method))
