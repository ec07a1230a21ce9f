"""The ledger's days, as they lie in S3."""

import tempfile
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Final

import duckdb
from botocore.exceptions import ClientError

from fleet.ledger import Line
from fleet.ledger.columns import LEDGER, line_of, place

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

_NOT_THERE: Final = frozenset({"NoSuchKey", "404"})


class LedgerStore:
    """One environment's ledger in its bucket; what S3 does not answer is raised as botocore does."""

    def __init__(self, client: "S3Client", bucket: str, environment: str) -> None:
        self._client, self._bucket, self._environment = client, bucket, environment

    def of(self, day: date) -> Sequence[Line] | None:
        """The lines of a day; None when it has no ledger."""
        key = place(LEDGER, self._environment, day)
        try:
            content = self._client.get_object(Bucket=self._bucket, Key=key)["Body"].read()
        except ClientError as error:
            if error.response.get("Error", {}).get("Code") in _NOT_THERE:
                return None
            raise
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "day.parquet"
            file.write_bytes(content)
            with duckdb.connect() as database:
                found = database.execute("SELECT * FROM read_parquet($file)", {"file": str(file)})
                names = [column[0] for column in found.description or ()]
                rows = [dict(zip(names, row, strict=True)) for row in found.fetchall()]
        return [line_of(self._environment, day, row) for row in rows]
