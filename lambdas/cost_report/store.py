"""The ledger's bucket in S3."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

from botocore.exceptions import ClientError

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client
    from mypy_boto3_s3.type_defs import ListObjectsV2RequestPaginateTypeDef

_NOT_THERE: Final = frozenset({"NoSuchKey", "404"})


@dataclass(frozen=True, slots=True)
class StoredObject:
    """One object of the bucket."""

    key: str
    size: int
    changed_at: datetime


class S3Store:
    """One bucket; what S3 does not answer is raised as botocore does."""

    def __init__(self, client: "S3Client", bucket: str) -> None:
        self._client, self._bucket = client, bucket

    def below(self, prefix: str, after: str = "") -> Sequence[StoredObject]:
        """Every object below ``prefix``, in the order of keys, those after the key ``after``."""
        request: ListObjectsV2RequestPaginateTypeDef = {"Bucket": self._bucket, "Prefix": prefix}
        if after:
            request["StartAfter"] = after
        pages = self._client.get_paginator("list_objects_v2").paginate(**request)
        return [
            StoredObject(each["Key"], each["Size"], each["LastModified"])
            for page in pages
            for each in page.get("Contents", ())
        ]

    def read(self, key: str) -> bytes | None:
        """An object; None when there is none."""
        try:
            return self._client.get_object(Bucket=self._bucket, Key=key)["Body"].read()
        except ClientError as error:
            if error.response.get("Error", {}).get("Code") in _NOT_THERE:
                return None
            raise

    def fetch(self, key: str, target: Path) -> None:
        """Write an object to a file, a part at a time."""
        body = self._client.get_object(Bucket=self._bucket, Key=key)["Body"]
        with target.open("wb") as file:
            for chunk in body.iter_chunks(1 << 20):
                file.write(chunk)

    def send(self, source: Path | bytes, key: str) -> None:
        """Write an object, in place of whatever was there."""
        if isinstance(source, bytes):
            self._client.put_object(Bucket=self._bucket, Key=key, Body=source)
            return
        with source.open("rb") as file:
            self._client.put_object(Bucket=self._bucket, Key=key, Body=file)
