"""The ledger's bucket in S3."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from botocore.exceptions import ClientError

from lambdas.cost_report.clients import S3Client
from lambdas.cost_report.ports import StoredObject

_NOT_THERE: Final = frozenset({"NoSuchKey", "404"})


class S3Store:
    """One bucket; what S3 does not answer is raised as botocore does."""

    def __init__(self, client: S3Client, bucket: str) -> None:
        self._client, self._bucket = client, bucket

    def below(self, prefix: str, after: str = "") -> Sequence[StoredObject]:
        """Every object below ``prefix``, those after the key ``after``."""
        found: list[StoredObject] = []
        request = {"Bucket": self._bucket, "Prefix": prefix, **({"StartAfter": after} if after else {})}
        while True:
            page = self._client.list_objects_v2(**request)
            found += [
                StoredObject(str(each["Key"]), int(each["Size"]), each["LastModified"])
                for each in page.get("Contents", ())
            ]
            if not page.get("NextContinuationToken"):
                return found
            request["ContinuationToken"] = page["NextContinuationToken"]

    def read(self, key: str) -> bytes | None:
        """An object; None when there is none."""
        try:
            body: bytes = self._client.get_object(Bucket=self._bucket, Key=key)["Body"].read()
        except ClientError as error:
            if error.response.get("Error", {}).get("Code") in _NOT_THERE:
                return None
            raise
        return body

    def fetch(self, key: str, target: Path) -> None:
        """Write an object to a file, a part at a time."""
        body = self._client.get_object(Bucket=self._bucket, Key=key)["Body"]
        with target.open("wb") as file:
            for chunk in body.iter_chunks(1 << 20):
                file.write(chunk)

    def send(self, source: Path | bytes, key: str) -> None:
        """Write an object."""
        if isinstance(source, bytes):
            self._client.put_object(Bucket=self._bucket, Key=key, Body=source)
            return
        with source.open("rb") as file:
            self._client.put_object(Bucket=self._bucket, Key=key, Body=file)
