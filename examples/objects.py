"""S3 in, S3 out: whole folders, with time limits, from plain addresses."""

import re
from pathlib import Path
from typing import Any, Final

import boto3
from botocore.config import Config

_ADDRESS: Final = re.compile(r"s3://([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])/?(.*)")
_CONFIG: Final = Config(connect_timeout=5, read_timeout=60, retries={"mode": "standard", "total_max_attempts": 5})


def split(address: str) -> tuple[str, str]:
    """Bucket and prefix, which is empty or ends in a slash.

    Raises:
        ValueError: it is no address of S3.
    """
    found = _ADDRESS.fullmatch(address)
    if found is None:
        raise ValueError(f"{address!r:.200} is no address of S3: use s3://bucket/prefix")
    prefix = found[2].strip("/")
    return found[1], f"{prefix}/" if prefix else ""


def client() -> Any:  # noqa: ANN401 - boto3 makes its clients at run time
    """S3, as the job's role may use it."""
    return boto3.client("s3", config=_CONFIG)


def listed(s3: Any, address: str) -> list[str]:  # noqa: ANN401 - see client
    """Every key below an address, in order: the same on every rank."""
    bucket, prefix = split(address)
    pages = s3.get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix=prefix)
    return sorted(each["Key"] for page in pages for each in page.get("Contents", []) if not each["Key"].endswith("/"))


def fetch(s3: Any, address: str, into: Path, share: tuple[int, int] = (0, 1)) -> list[Path]:  # noqa: ANN401 - see client
    """Download this member's ``share`` (index, members) of the objects below an address, file by file."""
    bucket, prefix = split(address)
    index, members = share
    files = []
    for key in listed(s3, address)[index::members]:
        file = into / key.removeprefix(prefix)
        file.parent.mkdir(parents=True, exist_ok=True)
        s3.download_file(bucket, key, str(file))
        files.append(file)
    return files


def send(s3: Any, folder: Path, address: str) -> None:  # noqa: ANN401 - see client
    """Upload every file of a folder below an address."""
    bucket, prefix = split(address)
    for file in sorted(each for each in folder.rglob("*") if each.is_file()):
        s3.upload_file(str(file), bucket, f"{prefix}{file.relative_to(folder).as_posix()}")
