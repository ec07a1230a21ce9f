"""The reports of the candidate's tasks on recorded requests, in the bucket that has both."""

from pydantic import TypeAdapter, ValidationError

from fleet.rollout.facts import RolloutPlace
from fleet.rollout.record import short
from fleet.shadow import places
from fleet.shadow.comparison import Comparison
from lambdas.rollout.clients import S3ReadClient

_REPORT = TypeAdapter(Comparison)
# One has a dozen numbers and five ids.
_MOST_BYTES = 64 * 1024


class ShadowReports:
    """Reads of S3 only. Names are listed first: without a right to list all, S3 answers 403 for what is not there."""

    def __init__(self, s3: S3ReadClient) -> None:
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
