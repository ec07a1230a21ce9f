"""S3 in memory, as the cold tier uses it."""

from pathlib import Path

from workload.errors import ColdTierError


class Bucket:
    """``fails_at`` is a part of the keys that cannot be uploaded."""

    def __init__(self) -> None:
        self.objects: dict[str, bytes] = {}
        self.uploads: list[str] = []
        self.fails_at = ""

    def has(self, key: str) -> bool:
        return key in self.objects

    def upload(self, path: Path, key: str) -> None:
        if self.fails_at and self.fails_at in key:
            raise ColdTierError(f"{key}: SlowDown")
        self.objects[key] = path.read_bytes()
        self.uploads.append(key)

    def download(self, key: str, path: Path) -> None:
        if key not in self.objects:
            raise ColdTierError(f"{key}: Not Found")
        path.write_bytes(self.objects[key])
