"""A job, as the agent knows it."""

from dataclasses import dataclass
from typing import Final

UNATTRIBUTED: Final = "unattributed"


@dataclass(frozen=True, slots=True)
class Job:
    """A job; ``owner`` is empty where the source does not say. ``registered`` jobs exist before they hold a core."""

    job_id: str
    name: str
    owner: str
    registered: bool


def dimension_value(text: str) -> str:
    """``text`` as CloudWatch takes it for a dimension: printable ASCII, not empty, no colon in front, 255 long."""
    kept = "".join(letter for letter in text if " " <= letter <= "~").strip().lstrip(":")
    return kept[:255] or UNATTRIBUTED
