"""A job as it lies in its table: as JSON, and compressed where there is much of it.

DynamoDB takes 400 KB for an item (its developer guide, "Quotas"), and an item that is too large cannot be written any
more: its job would stay as it is, and the nodes with it. A start of one container is half a kilobyte of JSON, and 66
bytes of it compressed.
"""

import zlib
from collections.abc import Mapping
from typing import Any, Final

# Below it an item can be read in the console.
_READABLE_BYTES: Final = 32 * 1024
MOST_STARTS: Final = 4000
"""Containers that a pool's job may start in all of its attempts: 345 KB, with something to spare."""


def packed(json: bytes) -> dict[str, Any]:
    """The attribute that holds ``json``, UTF-8."""
    return {"S": json.decode()} if len(json) <= _READABLE_BYTES else {"B": zlib.compress(json, 9)}


def unpacked(attribute: Mapping[str, Any]) -> bytes:
    """The JSON out of what ``packed`` made; raises ValueError."""
    if "S" in attribute:
        return str(attribute["S"]).encode()
    try:
        return zlib.decompress(attribute["B"])
    except (KeyError, TypeError, zlib.error) as error:
        raise ValueError(f"a job's body cannot be unpacked: {error}") from error
