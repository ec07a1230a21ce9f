"""The artifact bucket: requests, artifacts, and what failed jobs have left."""

from typing import TYPE_CHECKING, Final

from botocore.exceptions import ClientError

from fleet.compile_cache import failure, index
from fleet.compile_cache.artifact import Artifact
from fleet.compile_cache.index import Index
from fleet.compile_cache.readiness import Sight, why_not_ready
from fleet.compile_cache.request import PrecompileRequest, RequestError, read_object

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

# More than any index of ten thousand graphs.
_MOST_BYTES: Final = 4 * 1024 * 1024


class Bucket:
    """``bucket`` over ``s3``."""

    def __init__(self, s3: "S3Client", bucket: str) -> None:
        self._s3, self._bucket = s3, bucket

    def request(self, key: str) -> PrecompileRequest:
        """The request in an object. Raises RequestError when there is none, or it is not one."""
        content = self._read(key)
        if content is None:
            raise RequestError(f"{key}: there is no such object in {self._bucket}")
        return read_object(key, content)

    def missing(self, artifact: Artifact) -> str:
        """Why an artifact is not there, whole, in one line; nothing when it is."""
        content = self._read(index.key(artifact))
        keys = frozenset() if content is None else self._keys(artifact)
        return why_not_ready(artifact, Sight(content, keys))

    def graphs(self, artifact: Artifact) -> int:
        """How many graphs an artifact has that is there."""
        return len(self._index(artifact).graphs)

    def last_words(self, artifact: Artifact, job_id: str) -> str:
        """What the job left about why it failed; nothing when it left nothing."""
        content = self._read(failure.key(artifact))
        return failure.reason(content, job_id) if content is not None else ""

    def _index(self, artifact: Artifact) -> Index:
        return index.decode(self._read(index.key(artifact)) or b"", artifact)

    def _keys(self, artifact: Artifact) -> frozenset[str]:
        pages = self._s3.get_paginator("list_objects_v2").paginate(Bucket=self._bucket, Prefix=f"{artifact.prefix}/")
        return frozenset(entry["Key"] for page in pages for entry in page.get("Contents", ()))

    def _read(self, key: str) -> bytes | None:
        try:
            answer = self._s3.get_object(Bucket=self._bucket, Key=key)
        except ClientError as error:
            if error.response.get("Error", {}).get("Code") in {"NoSuchKey", "404"}:
                return None
            raise
        return answer["Body"].read(_MOST_BYTES)
