"""AWS: the lease table in DynamoDB, and the cold tier's objects in S3, by whole models or one at a time.

The table has one item for each graph (``fleet.compile_cache.lease_item``) and no expiry: the fencing token must outlive
the lease, and ten thousand items are two megabytes.

A role needs ``dynamodb:GetItem`` and ``dynamodb:PutItem`` on the table to share what it compiles; on the bucket,
``s3:GetObject`` to restore artifacts and ``s3:PutObject`` besides to archive them. Without ``s3:ListBucket`` S3 answers
403 for an object that is not there, so a role that archives needs that too. ``ReadyObjects`` takes either answer for
an absence, so that ``s3:GetObject`` is enough to look.
"""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

import boto3
from boto3.exceptions import Boto3Error
from boto3.s3.transfer import TransferConfig
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from fleet.compile_cache import lease_item
from fleet.compile_cache.graph import Graph
from fleet.compile_cache.lease import Row
from workload.errors import ColdTierError, LeaseTableError

if TYPE_CHECKING:
    from botocore.response import StreamingBody
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_s3 import S3Client

# Three attempts of seven seconds are over before a lease of a minute is.
LEASES: Final = Config(connect_timeout=2, read_timeout=5, retries={"mode": "standard", "total_max_attempts": 3})
OBJECTS: Final = Config(connect_timeout=5, read_timeout=60, retries={"mode": "standard", "total_max_attempts": 5})
# A job waits for these, and what it waits for it could compile.
READY: Final = Config(connect_timeout=3, read_timeout=10, retries={"mode": "standard", "total_max_attempts": 2})
_ERRORS: Final = (BotoCoreError, ClientError, Boto3Error)
_ABSENT: Final = frozenset({"404", "NoSuchKey"})
_UNSEEN: Final = _ABSENT | {"403", "AccessDenied"}
_BLOCK: Final = 1024 * 1024
# Of reading an object, which the client does not begin again when it breaks off.
_READS: Final = 2
# Threads of one transfer; a warm-up or a restore runs many at a time.
_TRANSFER: Final = TransferConfig(max_concurrency=4)


class DynamoLeases:
    """The lease table called ``table`` in ``region``."""

    def __init__(self, table: str, region: str) -> None:
        self._table = table
        self._client: DynamoDBClient = boto3.session.Session().client("dynamodb", region_name=region, config=LEASES)

    def read(self, graph: Graph) -> Row | None:
        """The row as it is now. Raises LeaseTableError."""
        try:
            answer = self._client.get_item(TableName=self._table, Key=lease_item.key(graph), ConsistentRead=True)
            # Strings and numbers only, and both are text.
            return lease_item.row(cast("lease_item.Item", answer["Item"])) if "Item" in answer else None
        except (*_ERRORS, KeyError, ValueError) as error:
            raise LeaseTableError(f"lease table {self._table}: {_words(error)}") from error

    def swap(self, graph: Graph, seen: Row | None, new: Row) -> bool:
        """Write ``new`` if nobody wrote since ``seen``. Raises LeaseTableError."""
        try:
            self._client.put_item(TableName=self._table, **lease_item.swap(graph, seen, new))
        except _ERRORS as error:
            if _code(error) == lease_item.LOST:
                return False
            raise LeaseTableError(f"lease table {self._table}: {_words(error)}") from error
        return True


class S3Objects:
    """The objects of ``bucket`` in ``region``."""

    def __init__(self, bucket: str, region: str) -> None:
        self._bucket = bucket
        self._client: S3Client = boto3.session.Session().client("s3", region_name=region, config=OBJECTS)

    def has(self, key: str) -> bool:
        """Whether there is such an object. Raises ColdTierError."""
        try:
            self._client.head_object(Bucket=self._bucket, Key=key)
        except _ERRORS as error:
            if _code(error) in _ABSENT:
                return False
            raise self._failed(key, error) from error
        return True

    def upload(self, path: Path, key: str) -> None:
        """A file, in parts where it is large. Raises ColdTierError."""
        try:
            self._client.upload_file(str(path), self._bucket, key, Config=_TRANSFER)
        except _ERRORS as error:
            raise self._failed(key, error) from error

    def download(self, key: str, path: Path) -> None:
        """An object into a file. Raises ColdTierError."""
        try:
            self._client.download_file(self._bucket, key, str(path), Config=_TRANSFER)
        except _ERRORS as error:
            raise self._failed(key, error) from error

    def _failed(self, key: str, error: Exception) -> ColdTierError:
        return ColdTierError(f"s3://{self._bucket}/{key}: {_words(error)}")


class ReadyObjects:
    """The objects of ``bucket`` in ``region``, for who may not list them: what is forbidden is not there."""

    def __init__(self, bucket: str, region: str) -> None:
        self._bucket = bucket
        self._client: S3Client = boto3.session.Session().client("s3", region_name=region, config=READY)

    def fetch(self, key: str, path: Path, end: float) -> bool:
        """An object into a file, before ``end`` on the monotonic clock; False when there is none.

        Raises:
            ColdTierError: S3 does not answer, or too late.
            OSError: the disk fails.
        """
        for left in reversed(range(_READS)):
            try:
                body = self._client.get_object(Bucket=self._bucket, Key=key)["Body"]
            except _ERRORS as error:
                if _code(error) in _UNSEEN:
                    return False
                raise ColdTierError(f"s3://{self._bucket}/{key}: {_words(error)}") from error
            try:
                self._read(body, key, path, end)
            except _ERRORS as error:
                if not left:
                    raise ColdTierError(f"s3://{self._bucket}/{key} broke off: {_words(error)}") from error
            else:
                return True
        return False

    def _read(self, body: "StreamingBody", key: str, path: Path, end: float) -> None:
        with path.open("wb") as target:
            for block in body.iter_chunks(_BLOCK):
                if time.monotonic() > end:
                    raise ColdTierError(f"s3://{self._bucket}/{key}: not here in time")
                target.write(block)


def _code(error: Exception) -> str:
    return str(error.response.get("Error", {}).get("Code", "")) if isinstance(error, ClientError) else ""


def _words(error: Exception) -> str:
    return " ".join(str(error).split())
