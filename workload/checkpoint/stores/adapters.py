"""Checkpoints in S3. The only place of this package that knows boto3.

An object appears whole or not at all, also one of many parts; ``If-None-Match: *`` decides between two writers (S3
User Guide, "How to prevent object overwrites with conditional writes"). Parts of an upload that was cut off cost money
until they are aborted: ``sweep`` does, and a lifecycle rule of the bucket should too.
"""

import contextlib
from collections.abc import Iterable, Iterator
from datetime import timedelta
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

import boto3
from boto3.exceptions import Boto3Error
from boto3.s3.transfer import TransferConfig
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from workload.checkpoint.stores.store import Entry
from workload.errors import MissingError, StoreError

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client
    from mypy_boto3_s3.type_defs import ObjectIdentifierTypeDef

# A save is worth waiting for: five attempts, each of which may take a minute without a byte.
CLIENT_CONFIG: Final = Config(
    connect_timeout=5, read_timeout=60, retries={"mode": "standard", "total_max_attempts": 5}, max_pool_connections=16
)
# Parts of 64 MB: with 10,000 of them, S3's limit, a file may have 625 GB.
TRANSFER: Final = TransferConfig(
    multipart_threshold=64 * 1024**2, multipart_chunksize=64 * 1024**2, max_concurrency=8, num_download_attempts=5
)
# S3 computes it again from what it received, part by part, and refuses what differs.
_SHA256: Final = "SHA256"
_CHECKED: Final = {"ChecksumAlgorithm": _SHA256}
_ERRORS: Final = (BotoCoreError, ClientError, Boto3Error)
_TAKEN: Final = frozenset({"PreconditionFailed", "412"})
_CONFLICT: Final = frozenset({"ConditionalRequestConflict", "409"})
_ABSENT: Final = frozenset({"NoSuchKey", "404", "NotFound"})
_ATTEMPTS: Final = 5
# DeleteObjects takes that many keys.
_AT_ONCE: Final = 1000


def client(region: str | None = None) -> "S3Client":
    """An S3 client with a bounded patience; the endpoint is boto3's own business (AWS_ENDPOINT_URL)."""
    return boto3.session.Session().client("s3", region_name=region, config=CLIENT_CONFIG)


class S3Store:
    """``prefix`` is empty or ends with a slash."""

    def __init__(self, s3: "S3Client", bucket: str, prefix: str, transfer: TransferConfig = TRANSFER) -> None:
        self._s3, self._bucket, self._prefix, self._transfer = s3, bucket, prefix, transfer

    def __str__(self) -> str:
        """The address."""
        return f"s3://{self._bucket}/{self._prefix}".rstrip("/")

    def put_file(self, key: str, path: Path) -> None:
        """In parts where it is large."""
        with self._explained(key):
            self._s3.upload_file(str(path), self._bucket, self._at(key), ExtraArgs=_CHECKED, Config=self._transfer)

    def create(self, key: str, content: bytes) -> bytes:
        """Where the answer to a success was lost, boto3 repeats it and is refused: so look who is there."""
        with self._explained(key):
            for _ in range(_ATTEMPTS):
                try:
                    self._s3.put_object(
                        Bucket=self._bucket, Key=self._at(key), Body=content, IfNoneMatch="*", ChecksumAlgorithm=_SHA256
                    )
                except ClientError as error:
                    if _code(error) not in _TAKEN | _CONFLICT:
                        raise
                else:
                    return content
                there = self.read(key)
                if there is not None:
                    return there
        raise StoreError(f"{self}/{key} comes and goes")

    def read(self, key: str) -> bytes | None:
        """With its checksum compared by boto3."""
        with self._explained(key):
            try:
                answer = self._s3.get_object(Bucket=self._bucket, Key=self._at(key))
            except ClientError as error:
                if _code(error) in _ABSENT:
                    return None
                raise
            with answer["Body"] as body:
                content: bytes = body.read()
                return content

    def fetch(self, key: str, path: Path) -> None:
        """In parts where it is large."""
        with self._explained(key):
            try:
                self._s3.download_file(self._bucket, self._at(key), str(path), Config=self._transfer)
            except ClientError as error:
                if _code(error) in _ABSENT:
                    raise MissingError(f"{self}/{key} is not there") from error
                raise

    def list(self, prefix: str) -> list[Entry]:
        """S3 answers in the order of keys, 1,000 at a time."""
        with self._explained(prefix):
            pages = self._s3.get_paginator("list_objects_v2").paginate(Bucket=self._bucket, Prefix=self._at(prefix))
            return [
                Entry(found["Key"][len(self._prefix) :], found["Size"], found["LastModified"].timestamp())
                for page in pages
                for found in page.get("Contents", ())
            ]

    def delete(self, keys: Iterable[str]) -> None:
        """Those that are gone already are no error to S3."""
        rest: list[ObjectIdentifierTypeDef] = [{"Key": self._at(key)} for key in keys]
        for start in range(0, len(rest), _AT_ONCE):
            with self._explained("delete"):
                answer = self._s3.delete_objects(
                    Bucket=self._bucket, Delete={"Objects": rest[start : start + _AT_ONCE], "Quiet": True}
                )
                for refused in answer.get("Errors", ()):
                    raise StoreError(f"{self}: {refused['Key']} was not deleted: {refused.get('Message', refused)}")

    def sweep(self, older_than_seconds: float) -> int:
        """Abort uploads of many parts, by S3's clock: that of its answer."""
        aborted = 0
        with self._explained("uploads"):
            pages = self._s3.get_paginator("list_multipart_uploads")
            for page in pages.paginate(Bucket=self._bucket, Prefix=self._prefix):
                now = parsedate_to_datetime(page["ResponseMetadata"]["HTTPHeaders"]["date"])
                limit = now - timedelta(seconds=older_than_seconds)
                for upload in page.get("Uploads", ()):
                    if upload["Initiated"] <= limit:
                        self._s3.abort_multipart_upload(
                            Bucket=self._bucket, Key=upload["Key"], UploadId=upload["UploadId"]
                        )
                        aborted += 1
        return aborted

    def _at(self, key: str) -> str:
        return f"{self._prefix}{key}"

    @contextlib.contextmanager
    def _explained(self, key: str) -> Iterator[None]:
        try:
            yield
        except _ERRORS as error:
            raise StoreError(f"{self}/{key}: {' '.join(str(error).split())}") from error


def _code(error: ClientError) -> str:
    return str(error.response.get("Error", {}).get("Code", ""))
