"""What rollouts read in S3: whether compiled graphs are whole, and the candidate's reports on recorded requests."""

import json
from typing import TYPE_CHECKING, Final

from botocore.exceptions import ClientError
from pydantic import TypeAdapter, ValidationError

from fleet.rollout.facts import RolloutPlace
from fleet.rollout.record import short
from fleet.shadow import places
from fleet.shadow.comparison import Comparison

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client
    from mypy_boto3_ssm import SSMClient

# workload/compile_cache/tiers/cold.py writes it last.
_INDEX: Final = "index.json"
_ABSENT: Final = frozenset({"404", "NoSuchKey", "NotFound"})
_REPORT = TypeAdapter(Comparison)
# One has a dozen numbers and five ids.
_MOST_BYTES = 64 * 1024


class ArtifactStore:
    """The store of compiled graphs: an artifact is whole when its index is there.

    ``parameter`` is the SSM parameter that names the store's bucket: JSON with ``bucket``.
    """

    def __init__(self, ssm: "SSMClient", s3: "S3Client", parameter: str) -> None:
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


class ShadowReports:
    """Reads of S3 only. Names are listed first: without a right to list all, S3 answers 403 for what is not there."""

    def __init__(self, s3: "S3Client") -> None:
        self._s3 = s3

    def of(self, place: RolloutPlace, version: str, tasks: tuple[str, ...]) -> tuple[Comparison | None, ...]:
        """One for each of ``tasks``; None where there is none, or none that can be read."""
        prefix = f"{places.reports(place.fleet)}{short(version)}/"
        answer = self._s3.list_objects_v2(Bucket=place.shadow_bucket, Prefix=prefix)
        written = {each["Key"] for each in answer.get("Contents", ())}
        keys = [places.report(place.fleet, short(version), task) for task in tasks]
        return tuple(self._read(place.shadow_bucket, key) if key in written else None for key in keys)

    def _read(self, bucket: str, key: str) -> Comparison | None:
        content = self._s3.get_object(Bucket=bucket, Key=key)["Body"].read(_MOST_BYTES)
        try:
            return _REPORT.validate_json(content)
        except ValidationError:
            # The task wrote it, and the task is what is not trusted yet: it has reported nothing, and is waited for.
            return None
