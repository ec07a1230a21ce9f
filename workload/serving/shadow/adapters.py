"""S3, as samples and reports need it."""

from itertools import islice
from typing import TYPE_CHECKING, Final

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from workload.errors import ServingError

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

_PATIENT: Final = Config(connect_timeout=3, read_timeout=10, retries={"mode": "standard", "total_max_attempts": 3})
# A thousand names each: a day of a hundred tasks has 144,000.
_MOST_PAGES: Final = 200


class S3Bucket:
    """The objects of ``bucket`` in ``region``."""

    def __init__(self, bucket: str, region: str) -> None:
        self._bucket = bucket
        self._client: S3Client = boto3.session.Session().client("s3", region_name=region, config=_PATIENT)

    def put(self, key: str, content: bytes) -> None:
        """Write an object. Raises ServingError."""
        try:
            self._client.put_object(Bucket=self._bucket, Key=key, Body=content, ContentType="application/json")
        except (BotoCoreError, ClientError) as error:
            raise self._failed(key, error) from error

    def get(self, key: str) -> bytes:
        """An object's content. Raises ServingError."""
        try:
            content: bytes = self._client.get_object(Bucket=self._bucket, Key=key)["Body"].read()
        except (BotoCoreError, ClientError) as error:
            raise self._failed(key, error) from error
        return content

    def keys(self, prefix: str, after: str) -> list[str]:
        """The names that begin with ``prefix`` and come after ``after``, in order. Raises ServingError."""
        pages = self._client.get_paginator("list_objects_v2")
        try:
            found = pages.paginate(Bucket=self._bucket, Prefix=prefix, StartAfter=after)
            return [each["Key"] for page in islice(found, _MOST_PAGES) for each in page.get("Contents", ())]
        except (BotoCoreError, ClientError) as error:
            raise self._failed(prefix, error) from error

    def _failed(self, key: str, error: Exception) -> ServingError:
        return ServingError(f"s3://{self._bucket}/{key}: {' '.join(str(error).split())}")
