"""The store of compiled graphs: whether an artifact is whole, which it is when its index is there."""

import json
from typing import Final

from botocore.exceptions import ClientError

from lambdas.rollout.clients import S3Client, SsmClient

# workload/compile_cache/tiers/cold.py writes it last.
_INDEX: Final = "index.json"
_ABSENT: Final = frozenset({"404", "NoSuchKey", "NotFound"})


class ArtifactStore:
    """``parameter`` is the SSM parameter that names the store's bucket: JSON with ``bucket``."""

    def __init__(self, ssm: SsmClient, s3: S3Client, parameter: str) -> None:
        self._ssm, self._s3, self._parameter = ssm, s3, parameter

    def has(self, artifact: str) -> bool | None:
        """Whether it is whole; None where there is no store."""
        bucket = self._bucket()
        if bucket is None:
            return None
        try:
            self._s3.head_object(Bucket=bucket, Key=f"{artifact.strip('/')}/{_INDEX}")
        except ClientError as error:
            if error.response.get("Error", {}).get("Code") in _ABSENT:
                return False
            raise
        return True

    def _bucket(self) -> str | None:
        try:
            answer = self._ssm.get_parameter(Name=self._parameter)
        except ClientError as error:
            if error.response.get("Error", {}).get("Code") == "ParameterNotFound":
                return None
            raise
        bucket = json.loads(answer["Parameter"]["Value"]).get("bucket")
        return str(bucket) if bucket else None
