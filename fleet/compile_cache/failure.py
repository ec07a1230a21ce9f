"""What a job that compiled an artifact leaves about why it failed, beside where the artifact would be."""

import json
from typing import Final

from fleet.compile_cache.artifact import Artifact

NAME: Final = "failure.json"


def key(artifact: Artifact) -> str:
    """Where it lies in the bucket."""
    return f"{artifact.prefix}/{NAME}"


def encode(job_id: str, reason: str) -> bytes:
    """One JSON object."""
    return json.dumps({"job": job_id, "reason": reason}).encode()


def reason(content: bytes, job_id: str) -> str:
    """The reason that the job ``job_id`` left; nothing when ``content`` is another job's, or damaged."""
    try:
        fields = json.loads(content)
        return str(fields["reason"]) if fields["job"] == job_id else ""
    except (ValueError, KeyError, TypeError, RecursionError):
        return ""
