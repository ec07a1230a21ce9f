"""The bucket, opened by whoever really needs it: most graphs are found before, and boto3 takes its time."""

from pathlib import Path

from workload.compile_cache.tiers.store import Ready
from workload.errors import ColdTierError


class LateObjects:
    """The objects of ``bucket`` in ``region``. Raises ColdTierError, also where boto3 is missing."""

    def __init__(self, bucket: str, region: str) -> None:
        self._bucket, self._region = bucket, region
        self._opened: Ready | None = None

    def fetch(self, key: str, path: Path, end: float) -> bool:
        """An object into a file; False when there is none."""
        return self._open().fetch(key, path, end)

    def _open(self) -> Ready:
        if self._opened is None:
            try:
                from workload.compile_cache.adapters import ReadyObjects  # noqa: PLC0415 - see above
            except ImportError as error:
                raise ColdTierError(f"s3://{self._bucket}: {error}") from error
            self._opened = ReadyObjects(self._bucket, self._region)
        return self._opened
