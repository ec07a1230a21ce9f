"""From what a job file says (``s3://bucket/prefix``, or a directory) to the store there."""

import re
from pathlib import Path
from typing import Final

from workload.checkpoint.stores.file_store import FileStore
from workload.checkpoint.stores.store import Store
from workload.errors import PlaceError

_S3: Final = re.compile(r"s3://([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:/(.*))?")


def open_store(location: str) -> Store:
    """The store at ``location``; nothing is asked of it yet.

    Raises:
        PlaceError: it is neither ``s3://bucket/prefix`` nor an absolute directory.
    """
    found = _S3.fullmatch(location)
    if found:
        # Only a job that saves to S3 needs boto3 in its image.
        from workload.checkpoint.stores.adapters import S3Store, client  # noqa: PLC0415 - see above

        prefix = (found[2] or "").strip("/")
        return S3Store(client(), found[1], f"{prefix}/" if prefix else "")
    if location.startswith("/"):
        return FileStore(Path(location))
    raise PlaceError(f"checkpoint location {location!r:.200}: use s3://bucket/prefix or an absolute directory")
